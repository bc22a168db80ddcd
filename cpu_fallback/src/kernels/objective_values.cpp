// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/objective_values.hpp"

#include "../launch.hpp"
#include "../vector_functions/vector_functions.hpp"

namespace kiln::cpu {

template <>
void launch(const ObjectiveValues& kernel, Queue& queue) {
  visit_vector_function(kernel.function, [&](const auto& function) {
    CpuVectorFunctionKernels<std::decay_t<decltype(function)>>::values(kernel, function, queue);
  });
}

}  // namespace kiln::cpu
