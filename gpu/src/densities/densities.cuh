// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/cuda/density_kernels.cuh"
#include "kiln/densities/all.hpp"

// Each density is compiled in a file of its own in this folder.
#define KILN_EXTERN(type) extern template struct kiln::cuda::DensityKernels<kiln::type>;
KILN_DENSITIES(KILN_EXTERN)
#undef KILN_EXTERN
