// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/cluster_move.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Moves clusters of 32 pairs of replicas at a time; `open` and `moved` are prepared. False if two
/// words for each site do not fit in shared memory; then nothing was enqueued.
bool launch_cluster_words(const ClusterMove& kernel, Queue& queue);

}  // namespace kiln::cuda
