// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// Sweeps a model of few neighbours, whose weights can be any numbers, by the patterns of their
/// bits: the same bits as the general sweep. False if a site has too many neighbours or the tables
/// do not fit; then nothing was enqueued.
bool launch_pattern_sweep(const MetropolisSweep& kernel, Queue& queue);

}  // namespace kiln::cuda
