// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_sets.hpp"

#include "kiln/kernels/catalog.hpp"

#include "cuda_queue.hpp"
#include "launch.hpp"

namespace kiln::cuda {
namespace {

// The one place through which every launch goes, so that no kernel has to think of the device.
template <class Kernel>
void launch_on_device(const Kernel& kernel, Queue& queue) {
  const CurrentDevice current(static_cast<CudaQueue&>(queue).device());
  launch(kernel, queue);
}

template <class Component, class... Kernels>
void add(KernelSets& sets, KernelList<Kernels...>) {
  sets.add(KernelSet<Component>(&launch_on_device<Kernels>...));
}

template <class... Parts>
KernelSets sets_of(ComponentList<Parts...>) {
  KernelSets sets;
  (add<Parts>(sets, typename Parts::Kernels{}), ...);
  return sets;
}

}  // namespace

KernelSets cuda_kernel_sets() { return sets_of(Components{}); }

}  // namespace kiln::cuda
