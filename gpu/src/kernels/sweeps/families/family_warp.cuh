// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include "family_decision.cuh"
#include "kernels/sweeps/slice_places.cuh"

namespace kiln::cuda {
namespace {

// What the sweeps of a warp over a family have in common: its places, the states, and the flips.
template <int W, bool kShared>
struct FamilyWarp : Places<W, PairwiseFamilySweep> {
  using Base = Places<W, PairwiseFamilySweep>;
  using Base::kernel, Base::lane, Base::word, Base::quad, Base::site, Base::has_word,
      Base::first_word, Base::exchange, Base::moves, Base::sites_of_word;

  std::uint32_t* const states;          // by variable, if they are in shared memory
  const MemberEstimate* const members;  // [32 W]
  std::uint32_t flips[W] = {};

  __device__ FamilyWarp(const Base& places, std::uint32_t* of_block, const MemberEstimate* of_slots)
      : Base(places), states(of_block), members(of_slots) {}

  __device__ std::uint32_t* at(std::int64_t variable) const {
    if constexpr (kShared) return states + static_cast<std::uint32_t>(variable) * W + word;
    return kernel.state.data + variable * kernel.state.stride + first_word + word;
  }
  __device__ std::uint32_t load(std::int64_t variable) const {
    return kShared || has_word ? *at(variable) : 0u;
  }

  // Makes the accepted flips of a task; `variable` is that of the lane's place, or negative.
  __device__ void flip(std::uint32_t accepted, std::int32_t variable, std::uint32_t own) {
    const bool real = variable >= 0;
    const std::uint32_t real_places = __ballot_sync(whole_warp, real);
#pragma unroll
    for (int w = 0; w < W; ++w) {
      flips[w] += static_cast<std::uint32_t>(__popc(accepted & (sites_of_word << w) & real_places));
    }
    const std::uint32_t flipped = exchange.transposed(accepted & moves);
    if (real && has_word) *at(variable) = own ^ flipped;
  }

  // Adds the flips of the warp to the totals of the block, [32 W].
  __device__ void add_to(std::uint32_t* all_flips) const {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      atomicAdd(all_flips + 32 * w + static_cast<int>(lane), flips[w]);
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
