// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_count.cuh"
#include "plane_memory.cuh"
#include "plane_sums.cuh"
#include "plane_warp.cuh"

/// Energies of states in shared memory, as numbers of sites whose sum falls as they rise. A launch
/// of several sweeps adds the numbers of its end and subtracts those of its beginning, which costs
/// less than to add up the changes of all sweeps.
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
__device__ __noinline__ void add_numbers(const MetropolisSweep& kernel, std::uint32_t capacity,
                                         bool subtract) {
  using Places = PlanePlaces<W, V, P, kRows>;
  constexpr int spare = 5;
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  const Places places(kernel, 0, memory);
  std::uint32_t sum[V][P + spare] = {};
  const auto flush = [&] {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      add_to_totals<Places::lanes_of_site>(
          sum[v], memory.block.numbers + 32 * (places.words.word + v), subtract);
#pragma unroll
      for (std::uint32_t& plane : sum[v]) plane = 0;
    }
  };
  const std::uint32_t end = CountedSites<kRows>(kernel.model).end;
  const std::uint32_t stride = blockDim.x / 32 * Places::n_sites;
  int n_added = 0;
#pragma unroll 1
  for (std::uint32_t first = threadIdx.x / 32 * Places::n_sites; first < end; first += stride) {
    std::uint32_t number[V][P];
    places.count_half(first + places.place, end, number);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      std::uint32_t carry = 0;
#pragma unroll
      for (int k = 0; k < P; ++k) carry = full_add(sum[v][k], number[v][k], carry);
      ripple<P>(sum[v], carry);
    }
    if (++n_added == 1 << spare) flush(), n_added = 0;
  }
  flush();
  __syncthreads();
}

}  // namespace
}  // namespace kiln::cuda
