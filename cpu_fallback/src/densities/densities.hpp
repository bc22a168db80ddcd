// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/densities/all.hpp"
#include "kiln/density_kernels.hpp"

// Each density is compiled in a file of its own in this folder.
#define KILN_EXTERN(type) extern template struct kiln::CpuDensityKernels<kiln::type>;
KILN_DENSITIES(KILN_EXTERN)
#undef KILN_EXTERN
