// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/registry.hpp"

namespace kiln::problems {

/// Registers the families of functions of real variables.
void register_continuous(Registry& registry);

}  // namespace kiln::problems
