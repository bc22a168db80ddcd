// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/sweeps/slice_planes.cuh"

/// Sums of what a lane accepts for the replicas of a word, in vertical counters.
namespace kiln::cuda {
namespace {

constexpr int sum_bits = 6;                         // more than a number has
constexpr int sites_of_sums = (1 << sum_bits) - 2;  // that they hold; an even number

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

// Adds up the counters of all lanes of a warp that work on the same word at other sites: those that
// differ in the bits from kPlaces on.
template <int kPlaces, int N, int M>
__device__ inline void add_lanes(const std::uint32_t (&counter)[N], std::uint32_t (&sum)[M]) {
#pragma unroll
  for (int k = 0; k < M; ++k) sum[k] = k < N ? counter[k < N ? k : 0] : 0u;
#pragma unroll
  for (int distance = kPlaces; distance < 32; distance *= 2) {
    std::uint32_t other[M];
#pragma unroll
    for (int k = 0; k < M; ++k) other[k] = __shfl_xor_sync(whole_warp, sum[k], distance);
    add_counter(sum, other);
  }
}
template <int kLanes>
constexpr int bits_of_lanes = kLanes == 32   ? 5
                              : kLanes == 16 ? 4
                              : kLanes == 8  ? 3
                              : kLanes == 4  ? 2
                              : kLanes == 2  ? 1
                                             : 0;

// Adds the counters of a warp to [32] totals of the word. Any warp may do so at any time.
template <int kPlaces, int N>
__device__ inline void add_to_totals(const std::uint32_t (&counter)[N], std::uint32_t* totals) {
  constexpr int lanes = 32 / kPlaces;  // of a word
  std::uint32_t sum[N + bits_of_lanes<lanes>];
  add_lanes<kPlaces>(counter, sum);
  for (int r = static_cast<int>(threadIdx.x % 32) / kPlaces; r < 32; r += lanes) {
    atomicAdd(totals + r, number_of(sum, r));
  }
}

/// Adds the counters of all warps of a block to its [32 W] totals, or subtracts them. `room` is
/// memory of the block that nobody uses: plane k of a word and warp w is at [word][k][w].
template <int W, int V, int N>
struct BlockSums {
  static constexpr int places = W / V;
  static constexpr int planes = N + bits_of_lanes<32 / places>;
  static constexpr std::uint32_t bytes_of_warp = W * planes * 4;

  __device__ static void add(const std::uint32_t (&counter)[V][N], std::uint32_t* room,
                             std::uint32_t* totals, bool subtract = false) {
    const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const auto n_warps = static_cast<int>(blockDim.x / 32);
    __syncthreads();  // the memory was used for something else
#pragma unroll
    for (int v = 0; v < V; ++v) {
      std::uint32_t sum[planes];
      add_lanes<places>(counter[v], sum);
      std::uint32_t* const to = room + (lane % places * V + v) * planes * n_warps + warp;
      if (lane < places) {
#pragma unroll
        for (int k = 0; k < planes; ++k) to[k * n_warps] = sum[k];
      }
    }
    __syncthreads();
    for (int word = warp; word < W; word += n_warps) {
      std::uint32_t of_warp[planes], sum[planes + 5];
#pragma unroll
      for (int k = 0; k < planes; ++k) {
        of_warp[k] = lane < n_warps ? room[(word * planes + k) * n_warps + lane] : 0u;
      }
      add_lanes<1>(of_warp, sum);
      const std::uint32_t number = number_of(sum, lane);
      totals[32 * word + lane] += subtract ? 0u - number : number;
    }
    __syncthreads();
  }
};

/// The number of accepted attempts.
template <int kPlaces>
struct PlaneFlips {
  std::uint32_t number[sum_bits] = {};
  std::uint32_t first = 0;  // of a pair

  __device__ void add_first() {
    ripple<0>(number, first);
    first = 0;
  }
  __device__ void flush(std::uint32_t* totals) {
    add_first();
    add_to_totals<kPlaces>(number, totals);
#pragma unroll
    for (std::uint32_t& plane : number) plane = 0;
  }
};

/// Adds what V words accept. Attempts are added in pairs, half as often as they come.
template <int V, int kPlaces>
__device__ inline void add_flips(PlaneFlips<kPlaces> (&flips)[V],
                                 const std::uint32_t (&accepted)[V], bool second) {
  if (second) {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const std::uint32_t carry = full_add(flips[v].number[0], flips[v].first, accepted[v]);
      ripple<1>(flips[v].number, carry);
      flips[v].first = 0;
    }
  } else {
#pragma unroll
    for (int v = 0; v < V; ++v) flips[v].first = accepted[v];
  }
}

/// The sum of the indices 2 u + even of accepted attempts, u of P bits.
template <int P, int kPlaces>
struct PlaneIndices {
  static constexpr int bits = P + 1 + sum_bits;
  std::uint32_t index[bits] = {};

  __device__ void add(const std::uint32_t (&number)[P], std::uint32_t even,
                      std::uint32_t accepted) {
    std::uint32_t carry = index[0] & even & accepted;
    index[0] ^= even & accepted;
#pragma unroll
    for (int k = 0; k < P; ++k) carry = full_add(index[k + 1], number[k] & accepted, carry);
    ripple<P + 1>(index, carry);
  }
  __device__ void flush(std::uint32_t* totals) {
    add_to_totals<kPlaces>(index, totals);
#pragma unroll
    for (std::uint32_t& plane : index) plane = 0;
  }
};

}  // namespace
}  // namespace kiln::cuda
