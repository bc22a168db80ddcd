// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/pairwise_model.hpp"

/// Vertical counters on the device, and transposes of what 32 lanes hold. Bit r of plane k is bit k
/// of the number of replica r.
namespace kiln::cuda {

inline constexpr unsigned whole_warp = 0xFFFFFFFFu;

/// sum + a + b: the sum stays, the carry is returned.
__device__ inline std::uint32_t full_add(std::uint32_t& sum, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t carry = (sum & a) | (sum & b) | (a & b);
  sum = sum ^ a ^ b;
  return carry;
}

/// Adds a carry to the planes from kFrom on.
template <int kFrom, int P>
__device__ inline void ripple(std::uint32_t (&planes)[P], std::uint32_t carry) {
#pragma unroll
  for (int k = kFrom; k < P; ++k) {
    const std::uint32_t next = planes[k] & carry;
    planes[k] ^= carry;
    carry = next;
  }
}

/// Adds four terms of weight 2^K.
template <int K, int P>
__device__ inline void add_four(std::uint32_t (&planes)[P], const uint4& terms) {
  const std::uint32_t a = full_add(planes[K], terms.x, terms.y);
  const std::uint32_t b = full_add(planes[K], terms.z, terms.w);
  if constexpr (K + 1 < P) ripple<K + 2>(planes, full_add(planes[K + 1], a, b));
}

/// Adds eight terms of weight 1.
template <int P>
__device__ inline void add_eight(std::uint32_t (&planes)[P], const uint4& x, const uint4& y) {
  const std::uint32_t a = full_add(planes[0], x.x, x.y), b = full_add(planes[0], x.z, x.w);
  const std::uint32_t c = full_add(planes[0], y.x, y.y), d = full_add(planes[0], y.z, y.w);
  const std::uint32_t u = full_add(planes[1], a, b), v = full_add(planes[1], c, d);
  ripple<3>(planes, full_add(planes[2], u, v));
}

template <int K, int P>
__device__ inline void add_four_at(int plane, std::uint32_t (&planes)[P], const uint4& terms) {
  if constexpr (K < P) {
    if (plane == K) return add_four<K>(planes, terms);
    add_four_at<K + 1>(plane, planes, terms);
  }
}

/// Adds `n` groups of terms to the counters. load(variable) is the word of a variable; that of
/// n_variables is 0.
template <int P, class Load>
__device__ inline void add_groups(const GroupView& rows, const uint4* groups, int n,
                                  const Load& load, std::uint32_t (&planes)[P]) {
  const auto words_of = [&](const uint4& v) {
    return make_uint4(load(v.x), load(v.y), load(v.z), load(v.w));
  };
  if (rows.one_plane) {
    int g = 0;
    for (; g + 2 <= n; g += 2) {
      const uint4 first = __ldg(groups + g), second = __ldg(groups + g + 1);
      add_eight(planes, words_of(first), words_of(second));
    }
    if (g < n) add_four<0>(planes, words_of(__ldg(groups + g)));
    return;
  }
  constexpr std::uint32_t mask = (1u << group_plane_shift) - 1;
  for (int g = 0; g < n; ++g) {
    const uint4 v = __ldg(groups + g);
    const auto plane = static_cast<int>(v.x >> group_plane_shift);
    add_four_at<0>(plane, planes,
                   words_of(make_uint4(v.x & mask, v.y & mask, v.z & mask, v.w & mask)));
  }
}

/// The numbers u of GroupSite for the 32 replicas of a word; all 0 for a filler. `own` is the word
/// of the site's variable.
template <int P, class Load>
__device__ inline void count_row(const GroupView& rows, const GroupSite& site, std::uint32_t own,
                                 const Load& load, std::uint32_t (&planes)[P]) {
  const int start = site.variable < 0 ? 0 : (1 << (P - 1)) + (site.start_and_even >> 1);
  const auto* const groups =
      reinterpret_cast<const uint4*>(rows.terms.data) + static_cast<std::size_t>(site.first_group);
#pragma unroll
  for (int k = 0; k < P; ++k) planes[k] = 0u - (static_cast<std::uint32_t>(start) >> k & 1u);
  if (site.n_negative > 0) {  // subtracting is adding to the complement
#pragma unroll
    for (int k = 0; k < P; ++k) planes[k] = ~planes[k];
    add_groups(rows, groups, site.n_negative, load, planes);
#pragma unroll
    for (int k = 0; k < P; ++k) planes[k] = ~planes[k];
  }
  ripple<0>(planes, (site.start_and_even & 1) != 0 ? own : 0u);
  add_groups(rows, groups + site.n_negative, site.n_positive, load, planes);
#pragma unroll
  for (int k = 0; k < P; ++k) planes[k] ^= own;
}

/// Copies W words of each variable from a batch to shared memory, where the variable n_variables
/// follows with zeros. Words from n_words on are 0. Many rows are in flight at a time.
template <int W>
__device__ inline void load_words(const std::uint32_t* from, std::int64_t stride, std::int32_t n,
                                  int n_words, std::uint32_t* to) {
  const int w = static_cast<int>(threadIdx.x) % W;
  const auto rows = static_cast<std::int32_t>(blockDim.x / W);
#pragma unroll 8
  for (std::int32_t v = static_cast<std::int32_t>(threadIdx.x) / W; v <= n; v += rows) {
    to[v * W + w] = v < n && w < n_words ? __ldg(from + v * stride + w) : 0u;
  }
}

/// Copies them back.
template <int W>
__device__ inline void store_words(const std::uint32_t* from, std::int64_t stride, std::int32_t n,
                                   int n_words, std::uint32_t* to) {
  const int w = static_cast<int>(threadIdx.x) % W;
  const auto rows = static_cast<std::int32_t>(blockDim.x / W);
  if (w >= n_words) return;
#pragma unroll 8
  for (std::int32_t v = static_cast<std::int32_t>(threadIdx.x) / W; v < n; v += rows) {
    to[v * stride + w] = from[v * W + w];
  }
}

__device__ inline GroupSite site_of(const uint4& x) {
  return {x.x, static_cast<std::uint16_t>(x.y), static_cast<std::uint16_t>(x.y >> 16),
          static_cast<std::int32_t>(x.z), static_cast<std::int32_t>(x.w)};
}
__device__ inline GroupSite load_site(const GroupSite* from) {
  return site_of(__ldg(reinterpret_cast<const uint4*>(from)));
}

__device__ inline std::uint32_t select_bits(std::uint32_t mask, std::uint32_t a, std::uint32_t b) {
  return (a & mask) | (b & ~mask);
}

// Exchanges bits of two registers: a block of `shift` bits of b with the one above it in a.
__device__ inline void swap_blocks(std::uint32_t& a, std::uint32_t& b, int shift,
                                   std::uint32_t mask) {
  const std::uint32_t low = select_bits(mask, a, b << shift);
  b = select_bits(mask, a >> shift, b);
  a = low;
}

/// Turns N planes into N-bit numbers: register j then has the numbers of replicas j, N + j, ...
template <int N>
__device__ inline void numbers_of_planes(std::uint32_t (&x)[N]) {
  static_assert(N == 4 || N == 8);
  if constexpr (N == 8) {
#pragma unroll
    for (int k = 0; k < 4; ++k) swap_blocks(x[k], x[k + 4], 4, 0x0F0F0F0Fu);
  }
#pragma unroll
  for (int k = 0; k < N; k += 4) {
    swap_blocks(x[k], x[k + 2], 2, 0x33333333u);
    swap_blocks(x[k + 1], x[k + 3], 2, 0x33333333u);
  }
#pragma unroll
  for (int k = 0; k < N; k += 2) swap_blocks(x[k], x[k + 1], 1, 0x55555555u);
}

/// What a lane needs to exchange bit b of its number with bit b of the places in a register.
class Exchange {
 public:
  __device__ explicit Exchange(unsigned lane)
      : lane_(lane),
        halves_((lane & 16) != 0 ? 0x3276u : 0x5410u),
        bytes_((lane & 8) != 0 ? 0x3715u : 0x6240u) {}

  __device__ std::uint32_t halves(std::uint32_t x) const {
    return __byte_perm(x, __shfl_xor_sync(whole_warp, x, 16), halves_);
  }
  __device__ std::uint32_t bytes(std::uint32_t x) const {
    return __byte_perm(x, __shfl_xor_sync(whole_warp, x, 8), bytes_);
  }
  /// Blocks of `bits` bits (4, 2 or 1) with the lanes that differ by as much.
  __device__ std::uint32_t blocks(std::uint32_t x, int bits, std::uint32_t low_blocks) const {
    const bool high = (lane_ & static_cast<unsigned>(bits)) != 0;
    const std::uint32_t other = __shfl_xor_sync(whole_warp, x, bits);
    const std::uint32_t moved =
        __funnelshift_l(other, other, static_cast<unsigned>(high ? 32 - bits : bits));
    return select_bits(high ? ~low_blocks : low_blocks, x, moved);
  }
  /// Registers with bit `bit` of their index and lanes.
  template <int N>
  __device__ void registers(std::uint32_t (&x)[N], int bit) const {
    const bool high = (lane_ & static_cast<unsigned>(bit)) != 0;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if ((k & bit) != 0) continue;
      const std::uint32_t got = __shfl_xor_sync(whole_warp, high ? x[k] : x[k + bit], bit);
      if (high) {
        x[k] = got;
      } else {
        x[k + bit] = got;
      }
    }
  }

  /// A 32 x 32 matrix of bits, a row each lane, is transposed.
  __device__ std::uint32_t transposed(std::uint32_t x) const {
    x = bytes(halves(x));
    x = blocks(x, 4, 0x0F0F0F0Fu);
    x = blocks(x, 2, 0x33333333u);
    return blocks(x, 1, 0x55555555u);
  }

  /// After numbers_of_planes() lane L has the numbers of 32 replicas at place L. Afterwards lane r
  /// has the numbers of replica r at 32 places: place 8 i + j is byte i of register j, or nibble 2
  /// i + j / 4 of register j % 4.
  __device__ void by_replica(std::uint32_t (&x)[8]) const {
    registers(x, 1);
    registers(x, 2);
    registers(x, 4);
#pragma unroll
    for (std::uint32_t& each : x) each = bytes(halves(each));
  }
  __device__ void by_replica(std::uint32_t (&x)[4]) const {
    registers(x, 1);
    registers(x, 2);
#pragma unroll
    for (std::uint32_t& each : x) each = blocks(bytes(halves(each)), 4, 0x0F0F0F0Fu);
  }

 private:
  unsigned lane_, halves_, bytes_;
};

}  // namespace kiln::cuda
