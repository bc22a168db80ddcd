// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/sweeps/slice_planes.cuh"

/// Sums of what a lane accepts for the replicas of a word, in vertical counters.
namespace kiln::cuda {
namespace {

constexpr int sum_bits = 6;                         // more than a number has
constexpr int sites_of_sums = (1 << sum_bits) - 1;  // that they hold

// Adds one counter to another of the same size.
template <int N>
__device__ inline void add_counter(std::uint32_t (&sum)[N], const std::uint32_t (&other)[N]) {
  std::uint32_t carry = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) carry = full_add(sum[k], other[k], carry);
}

// The number that planes hold for a replica.
template <int N>
__device__ inline std::uint32_t number_of(const std::uint32_t (&planes)[N], int replica) {
  std::uint32_t number = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) number |= (planes[k] >> replica & 1u) << k;
  return number;
}

/// Indices 2 u + even of accepted attempts, u of P bits, and their number. Lanes that differ in the
/// bits from kPlaces on work on the same word at other sites; they are added up at the end.
template <int P, int kPlaces>
struct PlaneSums {
  static constexpr int bits = P + 1 + sum_bits;
  std::uint32_t index[bits] = {};
  std::uint32_t flips[sum_bits] = {};

  __device__ void add(const std::uint32_t (&number)[P], std::uint32_t even,
                      std::uint32_t accepted) {
    std::uint32_t carry = index[0] & even & accepted;
    index[0] ^= even & accepted;
#pragma unroll
    for (int k = 0; k < P; ++k) carry = full_add(index[k + 1], number[k] & accepted, carry);
    ripple<P + 1>(index, carry);
    ripple<0>(flips, accepted);
  }

  /// Adds the sums of all lanes of a warp to [32] totals of the word, and begins again.
  __device__ void flush(std::uint32_t* indices, std::uint32_t* all_flips) {
    constexpr int lanes = 32 / kPlaces;  // of a word
    constexpr int more = lanes == 32 ? 5 : lanes == 16 ? 4 : lanes == 8 ? 3 : lanes == 4 ? 2 : 1;
    std::uint32_t sum[bits + more] = {}, number[sum_bits + more] = {};
#pragma unroll
    for (int k = 0; k < bits; ++k) sum[k] = index[k], index[k] = 0;
#pragma unroll
    for (int k = 0; k < sum_bits; ++k) number[k] = flips[k], flips[k] = 0;
#pragma unroll
    for (int distance = kPlaces; distance < 32; distance *= 2) {
      std::uint32_t other_sum[bits + more], other_number[sum_bits + more];
#pragma unroll
      for (int k = 0; k < bits + more; ++k) {
        other_sum[k] = __shfl_xor_sync(whole_warp, sum[k], distance);
      }
#pragma unroll
      for (int k = 0; k < sum_bits + more; ++k) {
        other_number[k] = __shfl_xor_sync(whole_warp, number[k], distance);
      }
      add_counter(sum, other_sum);
      add_counter(number, other_number);
    }
    for (int r = static_cast<int>(threadIdx.x % 32) / kPlaces; r < 32; r += lanes) {
      atomicAdd(indices + r, number_of(sum, r));
      atomicAdd(all_flips + r, number_of(number, r));
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
