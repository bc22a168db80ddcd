// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/objectives/vector_function_kernels.hpp"

namespace kiln::cuda {

/// The GPU's kernels for one vector function type; see CpuVectorFunctionKernels.
/// kiln/cuda/vector_function_kernels.cuh defines the member.
template <class Function>
struct VectorFunctionKernels {
  template <class Kernel>
  static void run(const Kernel& kernel, const Function& function, Queue& queue);

  template <class Kernel>
  static void launch(const Kernel& kernel, const void* function, Queue& queue) {
    run(kernel, *static_cast<const Function*>(function), queue);
  }
};

/// All kernels of a vector function. Functions that come with Kiln are compiled once, in
/// problems/src/vector_functions, where this is instantiated.
template <class Function>
FunctorKernels<VectorFunctionFamily> vector_function_kernels();

}  // namespace kiln::cuda
