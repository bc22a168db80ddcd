// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/registry.hpp"

namespace kiln::problems {

/// Adds the families of problems with several objectives.
void register_multi_objective(Registry& registry);

}  // namespace kiln::problems
