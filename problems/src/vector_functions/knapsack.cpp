// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/vector_functions/knapsack.hpp"

#include "kiln/objectives/vector_function_kernels_impl.hpp"

template kiln::FunctorKernels<kiln::VectorFunctionFamily>
kiln::cpu_vector_function_kernels<kiln::Knapsack>();
