// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_energy.cuh"
#include "plane_memory.cuh"
#include "plane_states.cuh"

/// What sweeps by planes begin and end with.
namespace kiln::cuda {
namespace {

/// The flips of slot i of the block.
template <int W>
__device__ inline std::uint32_t flips_of(const PlaneBlock<W>& block, int i) {
  return block.flips[i] + block.indexed[i];
}

/// The change of its energy. An index is 2 u + even, so half a change is the sum of indices less
/// 2^P - 1 for each. Sums are taken modulo 2^32.
template <int W, int P, PlaneRows kRows>
__device__ inline std::int32_t change_of(const PairwiseView& model, const PlaneBlock<W>& block,
                                         int i) {
  const auto of_number = static_cast<std::uint32_t>(CountedSites<kRows>(model).change);
  const std::uint32_t half = block.indices[i] - ((1u << P) - 1) * block.indexed[i];
  return static_cast<std::int32_t>(2 * half - of_number * block.numbers[i]);
}

/// Its new energy on chip, where energies held: the constant less the numbers.
template <int W, PlaneRows kRows>
__device__ inline std::int32_t energy_of(const PairwiseView& model, const PlaneBlock<W>& block,
                                         int i) {
  const auto of_number = static_cast<std::uint32_t>(CountedSites<kRows>(model).change);
  return static_cast<std::int32_t>(constant_of<W, kRows>(block) - of_number * block.numbers[i]);
}

/// The tables of a sweep.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline void prepare_tables(const MetropolisSweep& kernel, std::uint32_t capacity,
                                      std::uint32_t sweep) {
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  share_plane_tables(kernel, sweep, capacity, memory.block);
  __syncthreads();
  const PlaneStep step(kernel.control->step + kernel.number_of(sweep));
  fill_plane_tables<W, P>(kernel, step, capacity, memory.tables, memory.block);
  __syncthreads();
}

/// What stays the same for all sweeps of a launch: words, states and short rows.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline void begin_launch(const MetropolisSweep& kernel, const BlockWords& words,
                                    std::uint32_t capacity) {
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  if constexpr (memory.shared) begin_loading<W, kRows>(kernel, words, memory.states);
  PlaneBlock<W>& block = memory.block;
  describe_words(kernel, words, block);
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    block.flips[i] = block.indices[i] = block.indexed[i] = block.numbers[i] = 0;
  }
  if (threadIdx.x == 0) block.constant = 0;
  if constexpr (memory.short_rows) {
    const auto states = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory.states));
    write_short_rows<W>(kernel.model, states, memory.rows);
  }
  __syncthreads();
}

}  // namespace
}  // namespace kiln::cuda
