// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/queue.hpp"

#include "kernels/sweeps/dense_shape.hpp"

namespace kiln::cuda {

/// Sweeps a dense model of couplings 1 and -1 by the warps of the shape, with fields in planes.
/// @pre shape.by_signs, and can_sweep()
void launch_sign_sweep(const MetropolisSweep& kernel, const DenseShape& shape, Queue& queue);

}  // namespace kiln::cuda
