// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/registry.hpp"

namespace kiln {

/// Registers the schedules that come with Kiln.
void register_schedules(Registry& registry);

}  // namespace kiln
