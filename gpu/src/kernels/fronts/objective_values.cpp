// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/objective_values.hpp"

#include <type_traits>

#include "kiln/cuda/vector_function_kernels.hpp"
#include "kiln/vector_functions/all.hpp"

#include "launch.hpp"

namespace kiln::cuda {

template <>
void launch(const ObjectiveValues& kernel, Queue& queue) {
  visit_vector_function(kernel.function, [&](const auto& function) {
    VectorFunctionKernels<std::decay_t<decltype(function)>>::values(kernel, function, queue);
  });
}

}  // namespace kiln::cuda
