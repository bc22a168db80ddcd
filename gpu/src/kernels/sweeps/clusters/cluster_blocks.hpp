// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/cluster_move.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Moves clusters in blocks of 32 ladders, eight words at a time; `open` and `moved` are prepared.
/// False for other layouts, and if the sites do not fit in shared memory; then nothing was
/// enqueued.
bool launch_cluster_blocks(const ClusterMove& kernel, Queue& queue);

}  // namespace kiln::cuda
