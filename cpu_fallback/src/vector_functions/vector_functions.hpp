// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/vector_function_kernels.hpp"
#include "kiln/vector_functions/all.hpp"

// Each vector function is compiled in a file of its own in this folder.
#define KILN_EXTERN(type) extern template struct kiln::CpuVectorFunctionKernels<kiln::type>;
KILN_VECTOR_FUNCTIONS(KILN_EXTERN)
#undef KILN_EXTERN
