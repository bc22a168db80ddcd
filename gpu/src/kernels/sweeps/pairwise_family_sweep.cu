// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include "kernels/grid.cuh"

// A warp has a word of 32 replicas, lane by replica, and walks the sites in order. Nobody else
// touches its column of the state, so the warp needs no barrier but its own: each flip is written
// by one lane before any lane reads the row of the next site.
namespace kiln::cuda {
namespace {

struct LocalField {
  double base, term;
};

__device__ inline LocalField local_field(const PairwiseFamilySweep& kernel, std::int64_t word,
                                         std::int32_t site, unsigned lane_bit) {
  const PairwiseFamilyView& model = kernel.model;
  LocalField local{model.field[site].base, model.field[site].term};
  for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
    const FamilyEntry entry = model.entries[e];
    const bool down = (kernel.state(entry.variable, word) & lane_bit) != 0;
    local.base += down ? -entry.base : entry.base;
    local.term += down ? -entry.term : entry.term;
  }
  return local;
}

__device__ void sweep_word(const PairwiseFamilySweep& kernel, std::int64_t word, unsigned lane) {
  const std::int64_t slot = word * warp_size + lane;
  const unsigned lane_bit = 1u << lane;
  const double beta = kernel.beta_of(slot), lambda = kernel.parameter_of(slot);
  const bool rests = kernel.rests(slot);
  const DrawName name = kernel.draws(slot);
  Words4 words{};
  std::uint64_t accepted = 0;
  for (std::int32_t site = 0; site < kernel.model.n_sites; ++site) {
    if (site % 4 == 0) words = draw_quad(name, static_cast<std::uint32_t>(site / 4));
    const std::int32_t variable = kernel.model.variable[site];
    if (variable < 0) continue;  // the same for the whole warp
    const LocalField local = local_field(kernel, word, site, lane_bit);
    const std::uint32_t own = kernel.state(variable, word);
    const bool flips = !rests && kernel.flips(local.base, local.term, (own & lane_bit) != 0, beta,
                                              lambda, words[site % 4]);
    // The ballot comes after the reads of all lanes, and the write before those of the next site.
    const unsigned flipped = __ballot_sync(full_warp, flips);
    if (lane == 0 && flipped != 0) kernel.state(variable, word) = own ^ flipped;
    __syncwarp();
    accepted += flips ? 1u : 0u;
  }
  if (kernel.accepted) kernel.accepted[slot] += accepted;
}

__global__ void __launch_bounds__(block_size)
    sweep(const __grid_constant__ PairwiseFamilySweep kernel) {
  if (!kernel.control->active(kernel.step_offset)) return;
  const unsigned lane = threadIdx.x % warp_size;
  // The bound is the same for all lanes of a warp, so none of them leaves the loop early.
  for (std::int64_t word = thread_index() / warp_size; word < kernel.state.columns;
       word += thread_count() / warp_size) {
    sweep_word(kernel, word, lane);
  }
}

}  // namespace

template <>
void launch(const PairwiseFamilySweep& kernel, Queue& queue) {
  if (kernel.state.columns == 0) return;
  sweep<<<blocks_for(kernel.state.columns * warp_size), block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(PairwiseFamilySweep::name);
}

}  // namespace kiln::cuda
