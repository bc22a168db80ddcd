// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernel_set.hpp"
#include "kiln/kernels/fronts/objective_values.hpp"
#include "kiln/kernels/fronts/proposal_sweep.hpp"
#include "kiln/objectives/bound_functor.hpp"

namespace kiln {

/// The kernels that every backend has for a vector function. Such a kernel has `replicas` states,
/// `active()`, false if the launch does nothing, and `evaluate(function, slot)` for one state.
using VectorFunctionKernelList = KernelList<ObjectiveValues, ProposalSweep>;

VectorFunctionKernelList kernels_of(VectorFunctionFamily);

/// A vector function made for one device.
using BoundVectorFunction = BoundFunctor<VectorFunctionFamily>;

/// The CPU's kernels for one vector function type: slots in parallel on the threads of the queue.
/// kiln/objectives/vector_function_kernels_impl.hpp defines the member.
template <class Function>
struct CpuVectorFunctionKernels {
  static constexpr std::int64_t slots_per_task = 64;

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
FunctorKernels<VectorFunctionFamily> cpu_vector_function_kernels();

}  // namespace kiln
