// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/density_kernels.cuh"
#include "kiln/problems/densities/expression.hpp"

template kiln::FunctorKernels<kiln::DensityFamily> kiln::cuda::density_kernels<kiln::Expression>();
