// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_count.cuh"
#include "plane_memory.cuh"
#include "plane_sums.cuh"
#include "plane_warp.cuh"

/// Energies of states in shared memory: a constant less the numbers of sites. A launch adds the
/// numbers of its end. If energies did not hold before, it subtracts those of its beginning. Both
/// cost less than to add up the changes of its sweeps.
namespace kiln::cuda {
namespace {

/// Which numbers are added up. Rows in which each coupling stands at one of its two sites: the
/// numbers u, of which one is half a unit of energy. Short rows and rows of four: the numbers of
/// inputs that are 1. If there are two classes each coupling has a site in the first one. Else all
/// sites are counted, and each coupling twice.
template <PlaneRows kRows>
struct CountedSites {
  std::uint32_t end = 0;
  std::int32_t change = 2;  // of the energy for each

  __device__ explicit CountedSites(const PairwiseView& model)
      : end(static_cast<std::uint32_t>(model.n_sites)) {
    if constexpr (kRows != PlaneRows::on_chip && kRows != PlaneRows::off_chip) {
      const bool two = model.n_classes == 2;
      if (two) end = 4u * static_cast<std::uint32_t>(model.class_begin[1]);
      change = two ? 2 : 1;
    }
  }
};

/// Adds the numbers of all sites to the block's, or subtracts them.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline void add_numbers(const MetropolisSweep& kernel, std::uint32_t capacity,
                                   bool subtract) {
  using Places = PlanePlaces<W, V, P, kRows>;
  constexpr int spare = 5;
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  const Places places(kernel, 0, memory);
  std::uint32_t sum[V][P + spare] = {};
  const std::uint32_t end = CountedSites<kRows>(kernel.model).end;
  const std::uint32_t stride = blockDim.x / 32 * Places::n_sites;
  const std::uint32_t at_once = stride << spare;  // sites, 2^spare of each lane
  for (std::uint32_t begin = 0; begin < end; begin += at_once) {
    const std::uint32_t stop = min(end, begin + at_once);
#pragma unroll 1
    for (std::uint32_t first = begin + threadIdx.x / 32 * Places::n_sites; first < stop;
         first += stride) {
      std::uint32_t number[V][P];
      places.count_half(first + places.place, end, number);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        std::uint32_t carry = 0;
#pragma unroll
        for (int k = 0; k < P; ++k) carry = full_add(sum[v][k], number[v][k], carry);
        ripple<P>(sum[v], carry);
      }
    }
    using Sums = BlockSums<W, V, P + spare>;
    static_assert(Sums::bytes_of_warp <= memory.queue_bytes);
    Sums::add(sum, memory.first_queue(), memory.block.numbers, subtract);
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (std::uint32_t& plane : sum[v]) plane = 0;
    }
  }
}

/// Adds the constant of energies to the block's. A site of a row of groups has e = 2^P - 1 - m - 2
/// u (GroupSite: a flip changes the energy by -2 e). A short row of k couplings has an energy of k
/// less twice its inputs that are 1. With its fillers and the 1 that its number has more, this is 6
/// or, for odd k, 7 less twice its number.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline void add_constant(const MetropolisSweep& kernel,
                                    const PlaneMemory<W, V, P, kRows>& memory) {
  using Memory = PlaneMemory<W, V, P, kRows>;
  const PairwiseView& model = kernel.model;
  if constexpr (kRows == PlaneRows::on_chip) {
    const auto n = static_cast<std::uint32_t>(model.n_variables);
    const auto n_even = static_cast<std::uint32_t>(model.half_groups.n_even);
    if (threadIdx.x == 0) memory.block.constant = n * ((1u << P) - 1) - n_even;
  } else if constexpr (Memory::by_site) {
    const CountedSites<kRows> counted(model);
    std::uint32_t sum = 0;
    for (std::uint32_t site = threadIdx.x; site < counted.end; site += blockDim.x) {
      if constexpr (Memory::short_rows) {
        const uint4 inputs = memory.rows[site];
        const bool real = (inputs.y & ShortRows::flag) == 0;
        sum += real ? 6 + ((inputs.x & ShortRows::flag) != 0 ? 1u : 0u) : 0u;
      } else {
        sum += 6;
      }
    }
    sum = __reduce_add_sync(whole_warp, counted.change == 2 ? 2 * sum : sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&memory.block.constant, sum);
  }
}

/// The constant, once all warps have added theirs.
template <int W, PlaneRows kRows>
__device__ inline std::uint32_t constant_of(const PlaneBlock<W>& block) {
  return kRows == PlaneRows::on_chip ? block.constant : block.constant / 2;
}

}  // namespace
}  // namespace kiln::cuda
