// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {
class Queue;
struct LadderTick;
}  // namespace kiln

namespace kiln::cuda {

/// Enqueues a tick of blocks of ladders as one launch; false if it cannot be one.
bool launch_plane_tick(const LadderTick& kernel, Queue& queue);

}  // namespace kiln::cuda
