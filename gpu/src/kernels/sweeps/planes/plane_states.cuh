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

/// Words behind the batch are 0. Many rows are in flight at a time.
template <int W, PlaneRows kRows>
__device__ inline void load_states(const MetropolisSweep& kernel, std::int64_t first_word,
                                   std::uint32_t* to) {
  const int w = static_cast<int>(threadIdx.x) % W;
  const bool has_word = first_word + w < kernel.state.columns;
  const std::uint32_t* const from = kernel.state.data + first_word + w;
  const auto stride = static_cast<std::int32_t>(blockDim.x / W);
  const std::int32_t n = rows_in_memory<kRows>(kernel.model);
#pragma unroll 8
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x) / W; i < n; i += stride) {
    const std::int64_t v = variable_of<kRows>(kernel.model, i);
    to[i * W + w] = v >= 0 && has_word ? __ldg(from + v * kernel.state.stride) : 0u;
  }
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
