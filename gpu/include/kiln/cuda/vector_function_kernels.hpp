// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/fronts/objective_values.hpp"

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// How a vector function is evaluated on a GPU; see CpuVectorFunctionKernels.
/// kiln/cuda/vector_function_kernels.cuh defines the member.
template <class Function>
struct VectorFunctionKernels {
  static void values(const ObjectiveValues& kernel, const Function& function, Queue& queue);
};

}  // namespace kiln::cuda
