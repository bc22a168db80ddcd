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

/// Adds the changes and flips of a launch to the slots of the block.
template <int W, int P, PlaneRows kRows>
__device__ void add_plane_totals(const MetropolisSweep& kernel, std::int64_t first_word,
                                 const PlaneBlock<W>& block) {
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::int64_t slot = first_word * 32 + i;
    if (slot >= kernel.state.columns * 32 || kernel.rests(slot)) continue;
    const std::uint32_t flips = flips_of(block, i);
    if constexpr (kRows != PlaneRows::off_chip) {
      if (kernel.energies_hold) {
        kernel.energy[slot] = energy_of<W, kRows>(kernel.model, block, i);
      } else {
        kernel.energy[slot] += change_of<W, P, kRows>(kernel.model, block, i);
      }
      if (kernel.accepted) kernel.accepted[slot] += flips;
    } else {  // other blocks sweep other sites of the slot
      const std::int32_t change = change_of<W, P, kRows>(kernel.model, block, i);
      atomicAdd(&kernel.energy[slot], static_cast<double>(change));
      static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
      if (kernel.accepted) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.accepted[slot]), flips);
      }
    }
  }
}

/// Stores the states of a block, and adds its totals.
template <int W, int V, int P, PlaneRows kRows>
__device__ inline void end_launch(const MetropolisSweep& kernel, std::uint32_t capacity) {
  const PlaneMemory<W, V, P, kRows> memory(capacity, kernel.model);
  const std::int64_t first_word = std::int64_t{blockIdx.x} * W;
  __syncthreads();
  if constexpr (memory.shared) {
    if (kernel.energies_hold) add_constant<W, V, P, kRows>(kernel, memory);
    store_states<W, kRows>(kernel, first_word, memory.states);
  }
  __syncthreads();
  add_plane_totals<W, P, kRows>(kernel, first_word, memory.block);
}

}  // namespace
}  // namespace kiln::cuda
