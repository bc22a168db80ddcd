// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include "families/family_decision.cuh"
#include "families/family_slices.hpp"
#include "kernels/grid.cuh"
#include "sweep_shape.hpp"

// A block has a word of 32 replicas, lane by replica. Its warps share the quads of a class, and a
// barrier follows each class; a model without classes has one warp.
namespace kiln::cuda {
namespace {

// The states of a word, by variable: in shared memory, or in the batch itself.
template <bool kShared>
struct Column {
  std::uint32_t* words;
  std::int64_t stride;

  __device__ std::uint32_t& at(std::int64_t variable) const {
    return words[kShared ? variable : variable * stride];
  }
};

// What a lane carries through a sweep for its replica.
struct FamilyLane {
  std::int64_t slot;
  MemberEstimate member;
  DrawName name;
  bool rests;
  std::uint32_t accepted;
};

// The exact rule in double, for the few attempts that single precision cannot decide.
__device__ __noinline__ bool flips_exactly(const PairwiseFamilySweep& kernel, std::int64_t slot,
                                           FamilyPair local, bool down, std::uint32_t word) {
  return kernel.flips(local.base, local.term, down, kernel.beta_of(slot), kernel.parameter_of(slot),
                      word);
}

template <SweepRule kRule, bool kShared>
__device__ inline void attempt(const PairwiseFamilySweep& kernel, const Column<kShared>& column,
                               std::uint32_t site, std::uint32_t word, FamilyLane& lane) {
  const PairwiseFamilyView& model = kernel.model;
  const std::int32_t variable = __ldg(model.variable.data + site);
  if (variable < 0) return;  // the same for the whole warp
  const std::uint32_t lane_bit = 1u << threadIdx.x % 32;
  FamilyPair local{__ldg(&model.field[site].base), __ldg(&model.field[site].term)};
  const std::int64_t end = __ldg(model.row_begin.data + site + 1);
#pragma unroll 4
  for (std::int64_t e = __ldg(model.row_begin.data + site); e < end; ++e) {
    const FamilyEntry& entry = model.entries[e];
    const auto other = __ldg(reinterpret_cast<const long long*>(&entry.variable));
    const double base = __ldg(&entry.base), term = __ldg(&entry.term);
    const bool down = (column.at(other) & lane_bit) != 0;
    local.base = exact::add(local.base, down ? -base : base);
    local.term = exact::add(local.term, down ? -term : term);
  }
  const std::uint32_t own = column.at(variable);
  const bool down = (own & lane_bit) != 0;
  const double sign = down ? 2.0 : -2.0;
  const Sure sure = lane.member.template accepts<kRule>(family_estimate(sign * local.base),
                                                        family_estimate(sign * local.term), word);
  bool flips = sure == Sure::yes && !lane.rests;
  if (sure == Sure::unsure && !lane.rests) {
    flips = flips_exactly(kernel, lane.slot, local, down, word);
  }
  // The ballot comes after the reads of all lanes.
  const unsigned flipped = __ballot_sync(full_warp, flips);
  if (threadIdx.x % 32 == 0 && flipped != 0) column.at(variable) = own ^ flipped;
  lane.accepted += flips ? 1u : 0u;
}

template <SweepRule kRule, bool kShared>
__global__ void __launch_bounds__(1024, 1)
    sweep(const __grid_constant__ PairwiseFamilySweep kernel) {
  extern __shared__ std::uint32_t words_of_block[];
  __shared__ std::uint32_t accepted[warp_size];
  if (!kernel.control->active(kernel.step_offset)) return;
  const PairwiseFamilyView& model = kernel.model;
  const std::int64_t word = blockIdx.x, slot = word * warp_size + threadIdx.x % warp_size;
  const View2<std::uint32_t>& state = kernel.state;
  const Column<kShared> column{kShared ? words_of_block : state.data + word, state.stride};
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const auto threads = static_cast<std::int32_t>(blockDim.x);
  if constexpr (kShared) {
    for (std::int32_t v = thread; v < model.n_variables; v += threads) {
      words_of_block[v] = state(v, word);
    }
  }
  if (thread < warp_size) accepted[thread] = 0;
  FamilyLane lane{slot, MemberEstimate::of(kernel, slot), kernel.draws(slot), kernel.rests(slot),
                  0u};
  __syncthreads();
  for (std::int32_t c = 0; c < model.n_classes; ++c) {
    const std::int32_t end = model.class_begin[c + 1];
    for (std::int32_t quad = model.class_begin[c] + thread / warp_size; quad < end;
         quad += threads / warp_size) {
      const Words4 drawn = draw_quad(lane.name, static_cast<std::uint32_t>(quad));
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) {
        const auto site = 4 * static_cast<std::uint32_t>(quad) + i;
        attempt<kRule, kShared>(kernel, column, site, drawn.word[i], lane);
        __syncwarp();  // in a sequential model the next site may read this one
      }
    }
    __syncthreads();
  }
  if (kernel.accepted) {
    atomicAdd(&accepted[thread % warp_size], lane.accepted);
    __syncthreads();
    if (thread < warp_size) kernel.accepted[slot] += accepted[thread];
  }
  if constexpr (kShared) {
    for (std::int32_t v = thread; v < model.n_variables; v += threads) {
      state(v, word) = words_of_block[v];
    }
  }
}

SweepShape shape_for(const PairwiseFamilySweep& kernel, Queue& queue) {
  const PairwiseFamilyView& model = kernel.model;
  const SweepLimits limits = sweep_limits_of(queue);
  const std::int64_t quads = model.n_sites / 4 / std::max(1, model.n_classes);
  // An odd number of words: one for each block.
  SweepShape shape =
      choose_sweep_shape(kernel.state.columns | 1, model.n_sites, quads, model.sequential, limits);
  const std::optional<SweepShape> wanted = parse_sweep_shape(wanted_sweep_shape(queue));
  if (!wanted || wanted->in_slices) return shape;
  shape.in_shared = shape.in_shared && wanted->in_shared;
  if (!model.sequential) shape.warps = wanted->warps;
  return shape;
}

template <SweepRule kRule, bool kShared>
void enqueue(const PairwiseFamilySweep& kernel, const SweepShape& shape, Queue& queue) {
  const std::size_t bytes = kShared ? static_cast<std::size_t>(kernel.model.n_variables) * 4 : 0;
  const auto function = sweep<kRule, kShared>;
  if (bytes > 32 * 1024) {  // beside the totals, more than the default needs an opt-in
    reserve_shared(queue, function, bytes, PairwiseFamilySweep::name);
  }
  function<<<static_cast<unsigned>(kernel.state.columns), static_cast<unsigned>(32 * shape.warps),
             bytes, stream_of(queue)>>>(kernel);
  check_launch(PairwiseFamilySweep::name);
}

template <SweepRule kRule>
void enqueue_placed(const PairwiseFamilySweep& kernel, Queue& queue) {
  const SweepShape shape = shape_for(kernel, queue);
  if (shape.in_shared) {
    enqueue<kRule, true>(kernel, shape, queue);
  } else {
    enqueue<kRule, false>(kernel, shape, queue);
  }
}

}  // namespace

template <>
void launch(const PairwiseFamilySweep& kernel, Queue& queue) {
  if (kernel.state.columns == 0) return;
  if (launch_family_patterns(kernel, queue) || launch_family_counts(kernel, queue)) return;
  if (kernel.rule == SweepRule::heat_bath) {
    enqueue_placed<SweepRule::heat_bath>(kernel, queue);
  } else {
    enqueue_placed<SweepRule::metropolis>(kernel, queue);
  }
}

}  // namespace kiln::cuda
