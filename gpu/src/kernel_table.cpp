// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_table.hpp"

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

template <class... Kernels>
constexpr KernelTable table_of(KernelList<Kernels...>) {
  return KernelTable(KernelTable::Launchers(&launch_on_device<Kernels>...));
}

}  // namespace

const KernelTable& cuda_kernel_table() {
  static constexpr KernelTable table = table_of(KernelCatalog{});
  return table;
}

}  // namespace kiln::cuda
