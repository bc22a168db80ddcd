// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Sweeps an integral model by counting neighbours in slices (GroupView): the same bits as the
/// general sweep. False if the model has no such rows, or if its sums or tables do not fit; then
/// nothing was enqueued.
bool launch_sliced_sweep(const MetropolisSweep& kernel, Queue& queue);

}  // namespace kiln::cuda
