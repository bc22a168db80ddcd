// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/registry.hpp"

namespace kiln {

// Defined in schedules/ and problems/: the engine itself knows none of them by name.
void register_schedules(Registry& registry);
void register_problems(Registry& registry);

Registry builtin_registry() {
  Registry registry;
  register_schedules(registry);
  register_problems(registry);
  return registry;
}

}  // namespace kiln
