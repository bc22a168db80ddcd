// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/exchange/ladder_flush.hpp"

#include "kernels/grid.cuh"

/// Adding recorded energies by warps, each all calls of a rung: for blocks that stay and have other
/// work beside. The tree of LadderStatistics has 256 lanes; a lane of the warp has eight of them.
namespace kiln::cuda {
namespace {

using RungPart = LadderStatistics::Part;

__device__ inline RungPart shuffle_down(const RungPart& part, int distance) {
  constexpr int words = sizeof(RungPart) / sizeof(unsigned long long);
  static_assert(sizeof(RungPart) == words * sizeof(unsigned long long));
  union Words {
    unsigned long long word[words];
    RungPart part;
    __device__ explicit Words(const RungPart& p) : part(p) {}
  } copy(part);
#pragma unroll
  for (unsigned long long& word : copy.word) word = __shfl_down_sync(full_warp, word, distance);
  return copy.part;
}

/// What a lane of the tree adds up of a call.
__device__ inline RungPart part_of_lane(const LadderStatistics& statistics, std::int64_t rung,
                                        const double* energy, std::int64_t lane,
                                        const LadderStatistics::Reference& reference) {
  RungPart mine = LadderStatistics::nothing();
#pragma unroll 1
  for (std::int64_t ladder = lane; ladder < statistics.ladders; ladder += LadderStatistics::lanes) {
    mine = LadderStatistics::combine(
        mine, statistics.of_energies(rung, statistics.number_at(ladder, rung), energy[ladder],
                                     energy[ladder], reference));
  }
  return mine;
}

/// The first three levels of the tree: lanes t and t + 128, then t + 64, then t + 32.
__device__ inline RungPart part_of_lanes(const LadderStatistics& statistics, std::int64_t rung,
                                         const double* energy, int lane,
                                         const LadderStatistics::Reference& reference) {
  static_assert(LadderStatistics::lanes == 8 * warp_size);
  RungPart part{}, of_one{}, of_two{}, of_four{};
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    const int place = (i & 1) * 4 + (i & 2) + (i & 4) / 4;  // of the lane, in units of a warp
    part = part_of_lane(statistics, rung, energy, lane + place * warp_size, reference);
    if ((i & 1) == 0) {
      of_one = part;
      continue;
    }
    part = LadderStatistics::combine(of_one, part);
    if ((i & 2) == 0) {
      of_two = part;
      continue;
    }
    part = LadderStatistics::combine(of_two, part);
    if ((i & 4) == 0) {
      of_four = part;
      continue;
    }
    part = LadderStatistics::combine(of_four, part);
  }
  return part;
}

/// Adds all calls of a rung that wait, in their order.
__device__ inline void add_rung(const LadderFlush& kernel, std::int64_t calls, std::int64_t rung) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  RungSums all = statistics.sums[rung];
  LadderStatistics::Reference reference = {all.reference, all.weighed_reference};
  std::uint64_t count = all.count;
#pragma unroll 1
  for (std::int64_t call = 0; call < calls; ++call) {
    const double* const energy =
        record.energy.data + record.at(record.place_of(call), rung, statistics);
    if (count == 0) {
      const double first = LadderStatistics::finite(energy[0]) ? energy[0] : 0.0;
      reference = {first, first};
    }
    RungPart part = part_of_lanes(statistics, rung, energy, lane, reference);
#pragma unroll 1
    for (int half = warp_size / 2; half > 0; half /= 2) {
      if (2 * half == LadderStatistics::cells_of_rung && statistics.cells_of_ladders()) {
        const RungPart pair = LadderStatistics::combine(part, shuffle_down(part, 1));
        if (lane % 2 == 0) statistics.add_to_cell(rung, lane / 2, pair);
      }
      part = LadderStatistics::combine(part, shuffle_down(part, half));
    }
    if (lane == 0) statistics.add_to_sums(all, rung, reference, part);
    count = __shfl_sync(full_warp, all.count, 0);
  }
  if (lane == 0) statistics.sums[rung] = all;
}

/// Adds the calls that wait, by all warps of the launch.
__device__ inline void add_rungs(const LadderFlush& kernel, std::int64_t calls) {
  const std::int64_t warps = std::int64_t{gridDim.x} * (blockDim.x / warp_size);
  for (std::int64_t rung = std::int64_t{threadIdx.x} / warp_size * gridDim.x + blockIdx.x;
       rung < kernel.statistics.sums.size; rung += warps) {
    add_rung(kernel, calls, rung);
  }
}

}  // namespace
}  // namespace kiln::cuda
