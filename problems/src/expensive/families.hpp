// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/registry.hpp"

namespace kiln::problems {

/// Registers the families `command`, `constrained` and `table`.
void register_expensive(Registry& registry);

}  // namespace kiln::problems
