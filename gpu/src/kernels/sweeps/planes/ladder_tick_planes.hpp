// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {
class Queue;
struct LadderTick;
}  // namespace kiln

namespace kiln::cuda {

/// Whether a tick could be one launch, were there enough shared memory: it has one block of states,
/// swept by planes whose energies hold, ladders in blocks of an even number of rungs, pairs that
/// are even_odd and a cadence that is fixed.
bool takes_one_launch(const LadderTick& kernel);

/// Enqueues a tick of blocks of ladders as one launch; false if it cannot be one.
bool launch_plane_tick(const LadderTick& kernel, Queue& queue);

}  // namespace kiln::cuda
