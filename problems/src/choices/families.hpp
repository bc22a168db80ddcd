// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/registry.hpp"

namespace kiln::problems {

/// Registers problems of choosing and assigning, from tables.
void register_choices(Registry& registry);

}  // namespace kiln::problems
