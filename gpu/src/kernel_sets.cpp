// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_sets.hpp"

#include "kiln/kernels/catalog.hpp"
#include "kiln/objectives/functor_launch.hpp"

#include "backends/builtin_functors.hpp"
#include "compiled_density.hpp"
#include "cuda_queue.hpp"
#include "launch.hpp"

namespace kiln::cuda {
namespace {

// The one place through which every launch goes, so that no kernel has to think of the device.
template <class Kernel>
void launch_on_device(const Kernel& kernel, Queue& queue) {
  auto& own = static_cast<CudaQueue&>(queue);
  const CurrentDevice current(own.device());
  own.make_room();
  if constexpr (carries_functor<Kernel>) {
    launch_functor(kernel, queue);
  } else {
    launch(kernel, queue);
  }
}

struct Launchers {
  template <class Kernel>
  static constexpr Launcher<Kernel> launcher = &launch_on_device<Kernel>;
};

}  // namespace

KernelSets cuda_kernel_sets() {
  KernelSets sets = kernel_sets_of<Launchers>(Components{});
  add_cuda_functors(sets);
  add_compiled_density(sets);
  return sets;
}

}  // namespace kiln::cuda
