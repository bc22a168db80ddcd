// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/registry.hpp"

namespace kiln {

/// Registers the problem families that come with Kiln.
void register_problems(Registry& registry);

}  // namespace kiln
