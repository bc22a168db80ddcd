// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/population/population_step.hpp"

#include "kernels/grid.cuh"

/// Sums of PopulationStep in the order of its header, by thread blocks of `lanes` threads.
namespace kiln::cuda {
namespace {

using Part = PopulationStep::Part;
using Pass = PopulationStep::Pass;

constexpr int lanes = PopulationStep::lanes;
constexpr int warps_of_sums = lanes / warp_size;
static_assert(lanes == block_size);
static_assert(2 * PopulationStep::candidates == warp_size);

__host__ __device__ constexpr int width_of_pass(int pass) { return PopulationStep::width_of(pass); }

// The sums of a warp for each value, lane k that of value k: a lane gives half of its values to its
// partner and takes the other half, so that each level has half the work of the one before. The
// tree is that of the header, because a + b is b + a.
__device__ inline double add_values(double (&values)[warp_size]) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll
  for (int half = warp_size / 2; half > 0; half /= 2) {
    const bool upper = (lane & half) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const double sent = upper ? values[i] : values[i + half];
      const double kept = upper ? values[i + half] : values[i];
      values[i] = exact::add(kept, __shfl_xor_sync(full_warp, sent, half));
    }
  }
  return values[0];
}

__device__ inline std::uint64_t add_counts(std::uint64_t count) {
#pragma unroll
  for (int half = warp_size / 2; half > 0; half /= 2) {
    count += __shfl_xor_sync(full_warp, count, half);
  }
  return count;
}

// ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)): the tree over the warps. get(w) is the sum of a warp.
template <class Get, class Combine>
__device__ inline double add_warps(const Get& get, const Combine& combine) {
  static_assert(warps_of_sums == 8);
  const auto fours = [&](int w) { return combine(get(w), get(w + 4)); };
  return combine(combine(fours(0), fours(2)), combine(fours(1), fours(3)));
}

struct SumsOfWarps {
  double value[warps_of_sums][warp_size];
  std::uint64_t count[warps_of_sums];
};

/// Adds up the parts of all threads of a block. The sums are then in `total`, for all threads after
/// the next barrier; another one must come before the next call.
template <int pass>
__device__ inline void add_lanes(const Part& mine, Part& total) {
  __shared__ SumsOfWarps sums;
  constexpr int width = width_of_pass(pass), n = PopulationStep::candidates;
  const int me = static_cast<int>(threadIdx.x);
  const int warp = me / warp_size, lane = me % warp_size;
  if constexpr (width == n) {
    double values[warp_size];
#pragma unroll
    for (int k = 0; k < n; ++k) values[k] = mine.first[k], values[n + k] = mine.second[k];
    sums.value[warp][lane] = add_values(values);
  } else if constexpr (width == 1) {
    double first = mine.first[0], second = mine.second[0];
#pragma unroll
    for (int half = warp_size / 2; half > 0; half /= 2) {
      first = exact::add(first, __shfl_xor_sync(full_warp, first, half));
      second = PopulationStep::second_of(pass, second, __shfl_xor_sync(full_warp, second, half));
    }
    if (lane == 0) sums.value[warp][0] = first, sums.value[warp][1] = second;
  }
  const std::uint64_t count = add_counts(mine.count);
  if (lane == 0) sums.count[warp] = count;
  __syncthreads();
  if (me < 2 * width) {
    const bool is_first = me < width;
    const double sum =
        add_warps([&](int w) { return sums.value[w][me]; },
                  [&](double a, double b) {
                    return is_first ? exact::add(a, b) : PopulationStep::second_of(pass, a, b);
                  });
    (is_first ? total.first[me] : total.second[me - width]) = sum;
  }
  if (me == 0) {
    std::uint64_t all = 0;
    for (const std::uint64_t of_warp : sums.count) all += of_warp;
    total.count = all;
  }
}

/// By the threads of a block: what a thread adds of n parts, those with its number, 256 more, ...
/// Read past the cache of the multiprocessor, because other blocks have written them.
template <int pass>
__device__ inline void take_parts(const Part* parts, std::int64_t n, Part& mine) {
  constexpr int width = width_of_pass(pass);
  PopulationStep::clear(pass, mine);
  for (std::int64_t i = threadIdx.x; i < n; i += lanes) {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      mine.first[k] = exact::add(mine.first[k], __ldcg(&parts[i].first[k]));
      mine.second[k] = PopulationStep::second_of(pass, mine.second[k], __ldcg(&parts[i].second[k]));
    }
    mine.count += __ldcg(reinterpret_cast<const unsigned long long*>(&parts[i].count));
  }
}

/// The replicas of part `part` of a population.
template <int pass>
__device__ inline void take_replicas(const PopulationStep& kernel, std::int64_t group,
                                     std::int64_t part, Part& mine) {
  const std::int64_t begin = part * PopulationStep::part_size;
  const std::int64_t past = begin + PopulationStep::part_size;
  const std::int64_t end = past < kernel.group_size ? past : kernel.group_size;
  const Population population = kernel.populations[group];
  const PopulationChoice choice = kernel.choice[0];
  PopulationStep::clear(pass, mine);
  for (std::int64_t r = begin + threadIdx.x; r < end; r += lanes) {
    kernel.take(pass, population, choice, group * kernel.group_size + r, mine);
  }
}

}  // namespace
}  // namespace kiln::cuda
