// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_readout.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A lane for each slot; slots are a multiple of 32, so a warp has a word of one site.
__global__ void __launch_bounds__(block_size)
    write_signs(const __grid_constant__ BifurcationReadout kernel) {
  if (!kernel.active()) return;
  const bool reads = kernel.reads();
  for (std::int64_t g = thread_index(); g < kernel.is_read.size; g += thread_count()) {
    kernel.is_read[g] = reads ? 1 : 0;
  }
  if (!reads) return;
  const std::int64_t slots = kernel.position.columns, sites = kernel.variable.size;
  for (std::int64_t i = thread_index(); i < sites * slots; i += thread_count()) {
    const std::int64_t site = i / slots, slot = i % slots;
    const unsigned bits = __ballot_sync(full_warp, kernel.position(site, slot) < 0);
    const std::int32_t variable = kernel.variable[site];
    if (threadIdx.x % warp_size == 0 && variable >= 0) {
      kernel.state(variable, slot / warp_size) = bits;
    }
  }
}

}  // namespace

template <>
void launch(const BifurcationReadout& kernel, Queue& queue) {
  const std::int64_t threads = kernel.variable.size * kernel.position.columns;
  if (threads <= 0) return;
  write_signs<<<blocks_for(threads), block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(BifurcationReadout::name);
}

}  // namespace kiln::cuda
