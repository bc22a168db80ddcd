// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_memory.cuh"

/// The states of a block between the batch and shared memory.
namespace kiln::cuda {
namespace {

/// The row of the batch for row i of shared memory, which has the rows of variables, or of sites;
/// -1: zeros.
template <PlaneRows kRows>
__device__ inline std::int32_t variable_of(const PairwiseView& model, std::int32_t i) {
  if constexpr (kRows != PlaneRows::on_chip) return __ldg(model.variable.data + i);
  return i < model.n_variables ? i : -1;
}

template <PlaneRows kRows>
__device__ inline std::int32_t rows_in_memory(const PairwiseView& model) {
  return kRows != PlaneRows::on_chip ? model.n_sites : model.n_variables + 1;
}

/// Copies words behind the scenes, all that one copy can take.
template <int kBytes>
__device__ inline void begin_copy(std::uint32_t* to, const std::uint32_t* from) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(kBytes)
               : "memory");
}

/// Begins to copy rows in pieces of kWords words. Words behind the batch are 0.
template <int W, int kWords, PlaneRows kRows>
__device__ inline void begin_copies(const MetropolisSweep& kernel, const BlockWords& words,
                                    std::uint32_t* to) {
  constexpr int pieces = W / kWords;  // of a row
  const int w = static_cast<int>(threadIdx.x) % pieces * kWords;
  const bool has_words = words.at(w) < kernel.state.columns;
  const std::uint32_t* const from = kernel.state.data + words.at(w);
  const std::int64_t row = kernel.state.stride;
  const auto stride = static_cast<std::int32_t>(blockDim.x / pieces);
  const std::int32_t n = rows_in_memory<kRows>(kernel.model);
#pragma unroll 8
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x) / pieces; i < n; i += stride) {
    const std::int64_t v = variable_of<kRows>(kernel.model, i);
    if (v >= 0 && has_words) {
      begin_copy<4 * kWords>(to + i * W + w, from + v * row);
    } else {
#pragma unroll
      for (int k = 0; k < kWords; ++k) to[i * W + w + k] = 0;
    }
  }
}

/// Begins to copy the states of a block, in pieces that lie as pieces must.
template <int W, PlaneRows kRows>
__device__ inline void begin_loading(const MetropolisSweep& kernel, const BlockWords& words,
                                     std::uint32_t* to) {
  constexpr int most = W < 4 ? W : 4;
  const View2<std::uint32_t>& state = kernel.state;
  const bool in_pieces = state.stride % most == 0 && state.columns % most == 0 &&
                         words.begin % most == 0 && words.period % most == 0 &&
                         reinterpret_cast<std::uintptr_t>(state.data) % (4 * most) == 0;
  if (in_pieces) {
    begin_copies<W, most, kRows>(kernel, words, to);
  } else {
    begin_copies<W, 1, kRows>(kernel, words, to);
  }
}
__device__ inline void end_loading() {
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}

template <int W, PlaneRows kRows>
__device__ inline void store_states(const MetropolisSweep& kernel, std::int64_t first_word,
                                    const std::uint32_t* from) {
  const int w = static_cast<int>(threadIdx.x) % W;
  if (first_word + w >= kernel.state.columns) return;
  std::uint32_t* const to = kernel.state.data + first_word + w;
  const auto stride = static_cast<std::int32_t>(blockDim.x / W);
  const std::int32_t n = rows_in_memory<kRows>(kernel.model);
#pragma unroll 8
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x) / W; i < n; i += stride) {
    const std::int64_t v = variable_of<kRows>(kernel.model, i);
    if (v >= 0) to[v * kernel.state.stride] = from[i * W + w];
  }
}

}  // namespace
}  // namespace kiln::cuda
