// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

namespace kiln::problems {

/// The valid parameters of `constrained:`.
KILN_API std::vector<NamedSentence> constrained_names();

/// Makes a function with constraints, minimised: "gramacy", "ackley-10". It is called on the host.
/// @throws InvalidArgument with the nearest name, or the expected form.
KILN_API Problem constrained_by_name(const std::string& text);

}  // namespace kiln::problems
