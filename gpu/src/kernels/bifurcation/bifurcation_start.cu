// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_start.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A thread for two sites of a slot, which share a draw; neighbouring threads have neighbouring
// slots.
__global__ void __launch_bounds__(block_size)
    draw_oscillators(const __grid_constant__ BifurcationStart kernel, std::int64_t pairs) {
  if (!kernel.active()) return;
  const std::int64_t slots = kernel.position.columns, sites = kernel.variable.size;
  for (std::int64_t i = thread_index(); i < pairs * slots; i += thread_count()) {
    const std::int64_t first = i / slots * 2, slot = i % slots;
    const Words4 words = kernel.words_of(slot, first);
    for (std::int64_t site = first; site < sites && site < first + 2; ++site) {
      Oscillator drawn;
      if (kernel.variable[site] >= 0) drawn = bifurcation::start(words, site);
      kernel.position(site, slot) = drawn.position;
      kernel.momentum(site, slot) = drawn.momentum;
    }
  }
}

}  // namespace

template <>
void launch(const BifurcationStart& kernel, Queue& queue) {
  const std::int64_t pairs = (kernel.variable.size + 1) / 2;
  const std::int64_t threads = pairs * kernel.position.columns;
  if (threads <= 0) return;
  draw_oscillators<<<blocks_for(threads), block_size, 0, stream_of(queue)>>>(kernel, pairs);
  check_launch(BifurcationStart::name);
}

}  // namespace kiln::cuda
