// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/compiled_density.hpp"
#include "kiln/objectives/density_kernels.hpp"
#include "kiln/objectives/vector_function_kernels.hpp"
#include "kiln/problems/densities/all.hpp"
#include "kiln/problems/vector_functions/all.hpp"

#include "backends/builtin_functors.hpp"

namespace kiln {

void add_cpu_functors(KernelSets& sets) {
#define KILN_ADD(type) sets.add_functor<type>(cpu_density_kernels<type>());
  KILN_DENSITIES(KILN_ADD)
#undef KILN_ADD
  sets.add_functor<CompiledDensity>(cpu_density_kernels<CompiledDensity>());
#define KILN_ADD(type) sets.add_functor<type>(cpu_vector_function_kernels<type>());
  KILN_VECTOR_FUNCTIONS(KILN_ADD)
#undef KILN_ADD
}

}  // namespace kiln
