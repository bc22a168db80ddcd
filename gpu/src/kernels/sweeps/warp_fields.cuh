// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/pairwise_model.hpp"

// Local fields of a replica in the registers of its warps, beside weights of 8 bits two in a word.
//
// A *stretch* is 128 sites, four successive ones (a quad) in each lane. A local field f = h + sum J
// s keeps its parity in all flips, so a lane keeps v = floor(f / 2), which a flip of a neighbour
// changes by J or -J. Weights of 16 bits are added to one word for each site. Of weights of 8 bits,
// bytes 0 and 2 of a quad share a word, and bytes 1 and 3: 65536 * high + low, both signed, so that
// one multiplication and addition updates two fields.
namespace kiln::cuda {
namespace {

constexpr int stretch_sites = 128;
constexpr unsigned whole_warp = 0xFFFFFFFFu;

// A row of weights J is added as J + 128, without signs; the excess is taken away after so many
// flips at the latest.
constexpr int excess = 128;
constexpr int flips_between = 32;
constexpr int both_halves = 65537;
constexpr int rows_of_sums = 64;  // of weights -1, 0 and 1, whose sums a byte holds

// Fields of this size stay within 16 bits for `flips_between` flips by weights of up to 127.
constexpr int largest_half_field = 32767 - flips_between * (127 + excess);

__device__ inline int low_half(int pair) { return static_cast<std::int16_t>(pair); }
__device__ inline int high_half(int pair) { return (pair + 32768) >> 16; }
__device__ inline int paired(int low, int high) { return high * 65536 + low; }

/// The halves of the fields of four sites in two words.
struct PairedFields {
  int even = 0, odd = 0;  ///< sites 0 and 2, 1 and 3

  __device__ static PairedFields of_fields(const int4& f) {
    return {paired(f.x >> 1, f.z >> 1), paired(f.y >> 1, f.w >> 1)};
  }
  __device__ int of(int i) const {
    const int pair = i % 2 == 0 ? even : odd;
    return i / 2 == 0 ? low_half(pair) : high_half(pair);
  }
  /// Adds `sign` times four weights, each 128 too large.
  __device__ void add(std::uint32_t weights, int sign) { add_raised(weights ^ 0x80808080u, sign); }
  __device__ void add_raised(std::uint32_t biased, int sign) {
    even += sign * static_cast<int>(biased & 0x00FF00FFu);
    odd += sign * static_cast<int>((biased >> 8) & 0x00FF00FFu);
  }
  __device__ void take(int from_both) { even -= from_both, odd -= from_both; }
  __device__ bool large() const {
    bool any = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      any |= static_cast<unsigned>(of(i) + largest_half_field) >
             static_cast<unsigned>(2 * largest_half_field);
    }
    return any;
  }
};

/// The same in four words, for the stretch that is decided and for weights of 16 bits.
struct FourFields {
  int half[4] = {0, 0, 0, 0};

  __device__ static FourFields of_fields(const int4& f) {
    return {{f.x >> 1, f.y >> 1, f.z >> 1, f.w >> 1}};
  }
  __device__ int of(int i) const { return half[i]; }
  __device__ void add(std::uint32_t weights, int sign) {
#pragma unroll
    for (int i = 0; i < 4; ++i) half[i] += sign * static_cast<std::int8_t>(weights >> (8 * i));
  }
  __device__ void add(const uint2& weights, int sign) {
    half[0] += sign * low_half(static_cast<int>(weights.x));
    half[1] += sign * (static_cast<int>(weights.x) >> 16);
    half[2] += sign * low_half(static_cast<int>(weights.y));
    half[3] += sign * (static_cast<int>(weights.y) >> 16);
  }
};

/// What warps keep beside weights of 8 or 16 bits.
template <class Weight>
struct WarpFormat;
template <>
struct WarpFormat<std::int8_t> {
  using Four = std::uint32_t;         ///< weights of a quad
  using Own = PairedFields;           ///< fields of a quad
  using Change = int;                 ///< holds the energy changes of a sweep
  static constexpr int max_own = 32;  ///< quads of a lane that fit into registers
};
template <>
struct WarpFormat<std::int16_t> {
  using Four = uint2;
  using Own = FourFields;
  using Change = long long;
  static constexpr int max_own = 16;
};

/// The fields of one of W warps: of stretches w, w + W, w + 2 W, ...
template <class Weight, int S, int W>
struct WarpFields {
  using Format = WarpFormat<Weight>;
  using Four = typename Format::Four;
  using Own = typename Format::Own;
  static constexpr bool in_pairs = sizeof(Weight) == 1;
  Own own[S];
  int n_quads;
  int first;  // quad of this lane in its first stretch
  int net = 0,
      flips = 0;  // since the excess was taken away: flips by 1 less flips by -1, all flips
  bool overflow = false;

  __device__ int quad(int j) const { return first + j * 32 * W; }
  // The launcher chooses S so that only the last four stretches can end early.
  __device__ bool here(int j) const { return j < S - 4 || quad(j) < n_quads; }

  template <int Begin = 0, int N = S>
  __device__ Own own_of(int j) const {
    if constexpr (N == 1) {
      return own[Begin];
    } else {
      return j < Begin + N / 2 ? own_of<Begin, N / 2>(j) : own_of<Begin + N / 2, N - N / 2>(j);
    }
  }
  /// The fields of stretch j of this warp, the same j in all lanes.
  __device__ FourFields stretch(int j) const {
    Own exact = own_of(j);
    if constexpr (in_pairs) exact.take(net * (excess * both_halves));
    return {{exact.of(0), exact.of(1), exact.of(2), exact.of(3)}};
  }

  /// Adds `sign` times a row of weights. With `guarded` fields are looked for that 16 bits may not
  /// hold much longer.
  __device__ void add_row(const Four* row, int sign, bool guarded) {
    Four weights[S];
    const Four* const from = row + first;
#pragma unroll
    for (int j = 0; j < S; ++j) weights[j] = here(j) ? __ldg(from + j * 32 * W) : Four{};
#pragma unroll
    for (int j = 0; j < S; ++j) own[j].add(weights[j], sign);
    if constexpr (in_pairs) {
      net += sign;
      if (++flips == flips_between) settle(guarded);
    }
  }

  /// Adds `sign` times a row of weights -1, 0 and 1, each 2 too large, to sums of four in a word.
  __device__ void add_to_sums(const std::uint32_t* row, int sign, std::uint32_t (&sums)[S]) const {
    std::uint32_t weights[S];
    const std::uint32_t* const from = row + first;
#pragma unroll
    for (int j = 0; j < S; ++j) weights[j] = here(j) ? __ldg(from + j * 32 * W) : 0u;
#pragma unroll
    for (int j = 0; j < S; ++j) {
      sums[j] += static_cast<std::uint32_t>(sign) * ((weights[j] & 0x03030303u) ^ 0x02020202u);
    }
  }
  /// Adds such sums, which are those of rows added `net_rows` times more than subtracted.
  __device__ void add_sums(int net_rows, const std::uint32_t (&sums)[S]) {
    const std::uint32_t excess_of_sums = static_cast<std::uint32_t>(net_rows) * 0x02020202u;
#pragma unroll
    for (int j = 0; j < S; ++j) own[j].add_raised(sums[j] - excess_of_sums + 0x80808080u, 1);
    net += 1;
    if (++flips == flips_between) settle(false);
  }

  /// Takes the excess away.
  __device__ void settle(bool guarded) {
    static_assert(in_pairs);
    const int from_both = net * (excess * both_halves);
#pragma unroll
    for (int j = 0; j < S; ++j) own[j].take(from_both);
    net = flips = 0;
    if (!guarded) return;
#pragma unroll
    for (int j = 0; j < S; ++j) overflow |= own[j].large();
  }
};

}  // namespace
}  // namespace kiln::cuda
