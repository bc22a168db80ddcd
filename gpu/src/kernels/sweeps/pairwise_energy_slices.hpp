// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/pairwise_energy.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Computes energies by counting neighbours in slices (GroupView). False if the model has no such
/// rows or its sums do not fit; then nothing was enqueued.
bool launch_sliced_energy(const PairwiseEnergy& kernel, Queue& queue);

}  // namespace kiln::cuda
