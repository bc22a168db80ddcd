// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Sites of the largest model: 512 threads that hold eight quads each in registers.
inline constexpr std::int64_t max_dense_sites = std::int64_t{512} * 8 * 4;

/// Sweeps a dense integral model with stored local fields (DenseView): the same bits as the general
/// sweep, at a cost of one row per accepted flip instead of one row per attempt. False if the model
/// has no matrix or too many sites, and for several sweeps in a row where its kernel makes one;
/// then nothing was enqueued.
bool launch_dense_sweep(const MetropolisSweep& kernel, Queue& queue);

}  // namespace kiln::cuda
