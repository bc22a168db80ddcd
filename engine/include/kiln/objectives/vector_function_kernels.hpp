// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/fronts/objective_values.hpp"

namespace kiln {

class Queue;

/// How a vector function is evaluated: one set per function type and backend. The function comes
/// beside the kernel, whose reference is not read; so a functor of a user goes the way of the
/// built-in ones. The CPU's: slots in parallel on the threads of the queue.
///
/// Defined in kiln/objectives/vector_function_kernels_impl.hpp, see CpuDensityKernels.
template <class Function>
struct CpuVectorFunctionKernels {
  static constexpr std::int64_t slots_per_task = 64;

  static void values(const ObjectiveValues& kernel, const Function& function, Queue& queue);
};

}  // namespace kiln
