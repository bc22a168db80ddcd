// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/densities/expression.hpp"

#include "kiln/objectives/density_kernels_impl.hpp"

template kiln::FunctorKernels<kiln::DensityFamily> kiln::cpu_density_kernels<kiln::Expression>();
