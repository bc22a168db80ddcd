// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/densities/gaussian_process.hpp"

#include "kiln/density_kernels_impl.hpp"

template struct kiln::CpuDensityKernels<kiln::GaussianProcess>;
