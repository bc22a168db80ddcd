// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/categorical_sweep.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Sweeps an integral Potts model with small couplings, four replicas in a register: the same bits
/// as the general sweep. False for other models, for the heat bath of more than 8 values, and if
/// the states do not fit into shared memory; then nothing was enqueued.
bool launch_categorical_bytes(const CategoricalSweep& kernel, Queue& queue);

}  // namespace kiln::cuda
