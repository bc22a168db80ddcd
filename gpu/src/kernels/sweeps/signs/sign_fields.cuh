// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/sign_rows.hpp"

#include "kernels/sweeps/slice_planes.cuh"

// Local fields in vertical counters, beside couplings of 1 and -1 (SignRows).
//
// The field of a site and its own spin, F = h + sum J s + s, keeps its parity in all flips. A warp
// keeps v = floor(F / 2) in planes: bit b of word l of plane k is bit k of v at a site of group l.
// A flip adds 1 or -1 to v at every site, its own included: the sign bits of a row, complemented or
// not, are 1 where it is -1. The sum of up to seven rows is then
//   rows - 2 (ones + 2 twos + 4 fours),
// of which the planes subtract the second term. The first one is the same for all sites, and is
// kept beside the planes.
namespace kiln::cuda {
namespace {

constexpr std::uint32_t first_of_bytes = 0x01010101u;

/// Bits 0, 8, 16 and 24 to bits 0 to 3, and back.
__device__ inline std::uint32_t nibble_of(std::uint32_t bytes) {
  return (bytes * 0x10204080u) >> 28;
}
__device__ inline std::uint32_t bytes_of(std::uint32_t nibble) {
  return (nibble * 0x00204081u) & first_of_bytes;
}

/// The quad of a lane in a stretch, among the words of its warp: a bit in each byte of one word.
template <int L>
struct QuadPlace {
  std::uint32_t select[L];
  int shift;

  __device__ QuadPlace(int word, int j) : shift(j) {
#pragma unroll
    for (int l = 0; l < L; ++l) select[l] = l == word ? first_of_bytes << j : 0u;
  }
  /// The bits of the quad, beside others.
  __device__ std::uint32_t joined(std::uint32_t others, const std::uint32_t (&words)[L]) const {
#pragma unroll
    for (int l = 0; l < L; ++l) others |= words[l] & select[l];
    return others;
  }
  /// A bit in each byte.
  __device__ std::uint32_t bytes(const std::uint32_t (&words)[L]) const {
    return joined(0u, words) >> shift;
  }
  __device__ void flip(std::uint32_t (&words)[L], std::uint32_t nibble) const {
    const std::uint32_t moved = bytes_of(nibble) << shift;
#pragma unroll
    for (int l = 0; l < L; ++l) words[l] ^= moved & select[l];
  }
};

/// Seven bits at each place of a word, added.
struct BitSum {
  std::uint32_t ones, twos, fours;

  __device__ explicit BitSum(const std::uint32_t (&bits)[7]) {
    std::uint32_t a = bits[0], b = bits[3];
    const std::uint32_t of_a = full_add(a, bits[1], bits[2]);
    const std::uint32_t of_b = full_add(b, bits[4], bits[5]);
    ones = bits[6];
    twos = full_add(ones, a, b);
    fours = full_add(twos, of_a, of_b);
  }
};

/// Fields of a lane: L words of 32 sites, P planes.
template <int L, int P>
struct PlaneFields {
  static_assert(P > 8 && P <= 16);
  std::uint32_t plane[P][L];
  std::uint32_t parity[L];  // of F
  std::uint32_t bits[L];    // 1: spin -1

  /// Subtracts twice the sum from the fields of word l.
  __device__ void subtract_twice(int l, const BitSum& sum) {
    std::uint32_t borrow = ~plane[1][l] & sum.ones;
    plane[1][l] ^= sum.ones;
    take(plane[2][l], sum.twos, borrow);
    take(plane[3][l], sum.fours, borrow);
#pragma unroll
    for (int k = 4; k < P; ++k) {
      const std::uint32_t next = ~plane[k][l] & borrow;
      plane[k][l] ^= borrow;
      borrow = next;
    }
  }
  /// Adds a number to all fields.
  __device__ void add_everywhere(int number) {
#pragma unroll
    for (int l = 0; l < L; ++l) {
      std::uint32_t carry = 0;
#pragma unroll
      for (int k = 0; k < P; ++k) {
        const std::uint32_t bit = 0u - (static_cast<std::uint32_t>(number) >> k & 1u);
        carry = full_add(plane[k][l], bit, carry);
      }
    }
  }
  /// F of a quad, of fields that are all to be increased by `rest`.
  __device__ void of_quad(const QuadPlace<L>& place, int rest, int (&field)[4]) const {
    std::uint32_t low = 0, high = 0;  // bit 8 i + k: bit k of site i, rotated by the shift
#pragma unroll
    for (int k = 6; k >= 0; --k) low = place.joined(__funnelshift_l(low, low, 1), plane[k]);
    low = place.joined(__funnelshift_l(low, low, 1), parity);
#pragma unroll
    for (int k = P - 1; k >= 7; --k) high = place.joined(__funnelshift_l(high, high, 1), plane[k]);
    const auto shift = static_cast<unsigned>(place.shift);
    low = __funnelshift_r(low, low, shift), high = __funnelshift_r(high, high, shift);
    constexpr int unused = 31 - P;  // bits of a word
    const std::uint32_t more = static_cast<std::uint32_t>(2 * rest) << unused;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t both = __byte_perm(low, high, 0x4440u + 0x1111u * i);
      field[i] = static_cast<int>(both * (1u << unused) + more) >> unused;
    }
  }
  /// The sum of s F over the sites of `sites`, which are those of this lane.
  __device__ int sum_of_fields(const std::uint32_t (&sites)[L]) const {
    int sum = 0;
#pragma unroll
    for (int l = 0; l < L; ++l) {
      // Of bits x the count at spins 1 less that at spins -1.
      const int downs = __popc(bits[l] & sites[l]);
      const auto signed_count = [&](std::uint32_t x) {
        return __popc((x ^ bits[l]) & sites[l]) - downs;
      };
#pragma unroll
      for (int k = 0; k < P; ++k) {
        const int weight = k + 1 < P ? 2 << k : -(2 << k);
        sum += weight * signed_count(plane[k][l]);
      }
      sum += signed_count(parity[l]);
    }
    return sum;
  }

 private:
  __device__ static void take(std::uint32_t& plane, std::uint32_t x, std::uint32_t& borrow) {
    const std::uint32_t next = (~plane & (x | borrow)) | (x & borrow);
    plane ^= x ^ borrow;
    borrow = next;
  }
};

}  // namespace
}  // namespace kiln::cuda
