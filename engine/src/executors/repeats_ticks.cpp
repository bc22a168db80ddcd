// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/executors/repeats_ticks.hpp"

#include "kiln/queue.hpp"

namespace kiln {

RepeatsTicks::~RepeatsTicks() = default;

bool can_repeat(Queue& queue, const LadderTick& tick, std::string& refusal) {
  auto* const device = dynamic_cast<RepeatsTicks*>(&queue);
  if (device != nullptr) return device->can_repeat(tick, refusal);
  refusal = std::string("backend ") + queue.backend_name() + " makes ticks one by one";
  return false;
}

}  // namespace kiln
