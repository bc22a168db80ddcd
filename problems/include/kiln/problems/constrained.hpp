// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

namespace kiln::problems {

/// What may stand behind `constrained:`.
KILN_API std::vector<NamedSentence> constrained_names();

/// A function with constraints, minimised: "gramacy", "ackley-10". It is called on the host.
/// @throws InvalidArgument with the nearest name, or the form that the text should have.
KILN_API Problem constrained_by_name(const std::string& text);

}  // namespace kiln::problems
