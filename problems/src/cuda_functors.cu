// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/density_kernels.hpp"
#include "kiln/cuda/vector_function_kernels.hpp"
#include "kiln/problems/densities/all.hpp"
#include "kiln/problems/vector_functions/all.hpp"

#include "backends/builtin_functors.hpp"

namespace kiln {

void add_cuda_functors(KernelSets& sets) {
#define KILN_ADD(type) sets.add_functor<type>(cuda::density_kernels<type>());
  KILN_DENSITIES(KILN_ADD)
#undef KILN_ADD
#define KILN_ADD(type) sets.add_functor<type>(cuda::vector_function_kernels<type>());
  KILN_VECTOR_FUNCTIONS(KILN_ADD)
#undef KILN_ADD
}

}  // namespace kiln
