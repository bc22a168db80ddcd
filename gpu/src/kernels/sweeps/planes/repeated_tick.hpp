// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {
class Queue;
struct LadderTick;
}  // namespace kiln

namespace kiln::cuda {

/// Enqueues the ticks of a launch as one kernel that keeps ladders on multiprocessors; false if it
/// cannot.
bool launch_repeated_tick(const LadderTick& kernel, Queue& queue);

/// Whether launch_repeated_tick() can; if not, why not.
bool can_repeat_tick(const LadderTick& kernel, Queue& queue, std::string& refusal);

}  // namespace kiln::cuda
