// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/objective_values.hpp"

#include <type_traits>

#include "kiln/objectives/vector_function_kernels.hpp"
#include "kiln/vector_functions/all.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const ObjectiveValues& kernel, Queue& queue) {
  visit_vector_function(kernel.function, [&](const auto& function) {
    CpuVectorFunctionKernels<std::decay_t<decltype(function)>>::values(kernel, function, queue);
  });
}

}  // namespace kiln::cpu
