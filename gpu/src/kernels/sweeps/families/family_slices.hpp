// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Sweep a family whose sites have few neighbours by the patterns of their bits, or a family of
/// small integers by counting neighbours in slices: the same bits as the general sweep. False for
/// other families, and if the batch is too small to gain; then nothing was enqueued.
bool launch_family_patterns(const PairwiseFamilySweep& kernel, Queue& queue);
bool launch_family_counts(const PairwiseFamilySweep& kernel, Queue& queue);

}  // namespace kiln::cuda
