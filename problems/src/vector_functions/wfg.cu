// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/vector_function_kernels.cuh"
#include "kiln/problems/vector_functions/wfg.hpp"

template kiln::FunctorKernels<kiln::VectorFunctionFamily>
kiln::cuda::vector_function_kernels<kiln::Wfg>();
