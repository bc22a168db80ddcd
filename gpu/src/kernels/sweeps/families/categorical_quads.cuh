// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/categorical_sweep.hpp"

#include "inverted_rule.cuh"
#include "kernels/sweeps/slice_draws.cuh"

/// The attempts of a lane on a quad of a Potts model: four sites of four replicas, one byte of a
/// register for each replica.
namespace kiln::cuda {
namespace {

constexpr std::uint32_t high_bits = 0x80808080u, low_bits = 0x01010101u;

// 255 in each byte where a and b are equal. Bytes are below 128, so no difference borrows, and a
// byte permutation repeats the highest bits.
__device__ inline std::uint32_t equal_bytes(std::uint32_t a, std::uint32_t b) {
  std::uint32_t mask;  // __byte_perm() does not know these selectors
  asm("prmt.b32 %0, %1, 0, 0xBA98;" : "=r"(mask) : "r"(high_bits - (a ^ b)));
  return mask;
}
// Sums of 255 in bytes, modulo 2^32, times this number are sums of 1.
constexpr std::uint32_t inverse_of_255 = 0xFEFEFEFFu;

// 1 in each byte where a is at least b.
__device__ inline std::uint32_t bytes_at_least(std::uint32_t a, std::uint32_t b) {
  return ((a | high_bits) - b) >> 7 & low_bits;
}

__device__ inline std::int32_t byte_of(std::uint32_t x, int r) {
  return static_cast<std::int32_t>(x >> (8 * r) & 255u);
}

// An integer that single precision holds, without the conversion unit.
__device__ inline std::int32_t small_integer(float x) {
  return __float_as_int(x + 12582912.0f) - 0x4B400000;
}

// The values of a block in shared memory, a row of `words` * 32 bytes for each site. The rows of
// the sites of one number in neighbouring quads lie in different banks.
template <int kWords>
struct CategoricalTile {
  std::uint32_t* begin;  // already moved to the lane's four slots

  __device__ static std::uint32_t row(std::uint32_t site) { return site ^ (site >> 2 & 3u); }
  __device__ std::uint32_t& at(std::uint32_t site) const { return begin[row(site) * (8 * kWords)]; }
};

// What a lane knows of its four slots and counts for them.
template <bool kFields>
struct CategoricalLane {
  using Change = std::conditional_t<kFields, double, std::int32_t>;

  float beta[4];                // log2 e times it, at most 1e25
  std::uint32_t product[4][2];  // of StepDraws::of_replica: high and low word
  std::int64_t first = 0;       // slot
  std::uint32_t moves = 0;      // bytes of slots that do not rest
  Change change[4] = {};        // of the energy
  std::uint32_t changed[4] = {};

  // The slot of byte r; the last one of the batch for those behind it.
  __device__ std::int64_t slot(const CategoricalSweep& kernel, int r) const {
    return min(first + r, kernel.state.columns - 1);
  }
};

// The words of a quad for the four slots of a lane, which may share a key, from one of both blocks
// of draws.
template <bool kSharedKeys>
struct QuadWords {
  const CategoricalSweep& kernel;
  const StepDraws& step;
  ComputedKeys keys;
  QuadDraws common;
  std::uint32_t quad;
  std::uint8_t block;

  __device__ QuadWords(const CategoricalSweep& k, const StepDraws& s, const ComputedKeys& of_lane,
                       std::uint32_t number, std::uint8_t b)
      : kernel(k), step(s), keys(of_lane), common(s, of_lane, number), quad(number), block(b) {}

  template <class Lane>
  __device__ Words4 of(const Lane& lane, int r) const {
    if constexpr (kSharedKeys) return draw_of(keys, common, lane.product[r][0], lane.product[r][1]);
    return draw_quad(kernel.draws(lane.slot(kernel, r), block), quad);
  }
};

// The rows of a quad, in pairs of entries. All bounds and first pairs are read side by side, long
// before they are needed.
struct QuadRows {
  const uint4* pairs;
  std::uint32_t bounds[5];
  uint4 first[4];

  __device__ QuadRows(const CategoricalView& model, std::uint32_t site)
      : pairs(reinterpret_cast<const uint4*>(model.entries.data)) {
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      bounds[i] = static_cast<std::uint32_t>(__ldg(model.row_begin.data + site + i) / 2);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      first[i] = bounds[i] < bounds[i + 1] ? __ldg(pairs + bounds[i]) : uint4{};
    }
  }

  // Calls take(values of the neighbour, weight) for the neighbours of site i.
  template <class Tile, class Take>
  __device__ void for_each(int i, const Tile& tile, const Take& take) const {
    const auto take_pair = [&](const uint4& two) {  // site, weight, site, weight
      take(tile.at(two.x), static_cast<std::uint32_t>(small_integer(__uint_as_float(two.y))));
      take(tile.at(two.z), static_cast<std::uint32_t>(small_integer(__uint_as_float(two.w))));
    };
    take_pair(first[i]);  // without neighbours it has the weights 0
#pragma unroll 2
    for (std::uint32_t pair = bounds[i] + 1; pair < bounds[i + 1]; ++pair) {
      take_pair(__ldg(pairs + pair));
    }
  }

  // The changes of the couplings' energy if site i takes the values `there`, plus 128 in each byte.
  template <class Tile>
  __device__ std::uint32_t changes(int i, const Tile& tile, std::uint32_t here,
                                   std::uint32_t there) const {
    std::uint32_t sum = 0;  // of 255 times the changes: carries from byte to byte cancel at the end
    for_each(i, tile, [&](std::uint32_t value, std::uint32_t weight) {
      sum += (equal_bytes(value, there) - equal_bytes(value, here)) * weight;
    });
    return high_bits + sum * inverse_of_255;
  }
};

// Whether the sites of a quad have a variable.
struct RealSites {
  bool of[4];

  __device__ RealSites(const CategoricalView& model, std::uint32_t quad) {
    const int4 variables = __ldg(reinterpret_cast<const int4*>(model.variable.data) + quad);
    of[0] = variables.x >= 0, of[1] = variables.y >= 0;
    of[2] = variables.z >= 0, of[3] = variables.w >= 0;
  }
};

template <bool kFields>
struct CategoricalQuad {
  using Lane = CategoricalLane<kFields>;
  using Change = typename Lane::Change;

  std::uint32_t here[4], there[4], sums[4], taken[4] = {};  // of sites

  // Draws the proposals.
  template <class Draws>
  __device__ void propose(const Draws& draws, const Lane& lane, std::int32_t values) {
    std::uint32_t drawn[4] = {};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Words4 words = draws.of(lane, r);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        drawn[i] += __umulhi(words.word[i], static_cast<std::uint32_t>(values - 1)) << (8 * r);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) there[i] = drawn[i] + bytes_at_least(drawn[i], here[i]);
  }

  // The change of the energy at site i for the replica of byte r; `site` is the first of the quad.
  __device__ Change change(const CategoricalView& model, std::uint32_t site, int i, int r) const {
    Change delta = byte_of(sums[i], r) - 128;
    if constexpr (kFields) {
      const auto number = static_cast<std::int32_t>(site) + i;
      delta += exact::sub(model.field_of(number, byte_of(there[i], r)),
                          model.field_of(number, byte_of(here[i], r)));
    }
    return delta;
  }

  // Counts a change and notes it for the end of the quad.
  __device__ void take(int i, int r, Change delta, Lane& lane) {
    taken[i] |= 255u << (8 * r);
    lane.change[r] += delta;
    ++lane.changed[r];
  }

  // Decides the attempts at the real sites; returns those that are open: bit 4 r + i for byte r at
  // site i.
  template <class Draws>
  __device__ std::uint32_t decide(const CategoricalView& model, const Draws& draws,
                                  std::uint32_t site, const RealSites& real, Lane& lane) {
    constexpr float margin = exponent_margin<SweepRule::metropolis>;
    std::uint32_t open = 0;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Words4 words = draws.of(lane, r);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Change delta = real.of[i] || !kFields ? change(model, site, i, r) : Change{0};
        float d;
        if constexpr (kFields) {
          d = static_cast<float>(delta);
        } else {
          d = __int_as_float(0x4B000000 | byte_of(sums[i], r)) - 8388736.0f;  // 2^23 + 128
        }
        const float z = lane.beta[r] * d;
        const Sure sure = compare_exponent<SweepRule::metropolis>(
            z, fmaf(0x1p-20f, fabsf(z), margin), words.word[i]);
        if (sure == Sure::yes && real.of[i]) take(i, r, delta, lane);
        if (sure == Sure::unsure && real.of[i]) open |= 1u << (4 * r + i);
      }
    }
    return open;
  }

  // Takes the attempts whose bits are set.
  __device__ void take_all(const CategoricalView& model, std::uint32_t site, std::uint32_t accepted,
                           Lane& lane) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if ((accepted >> (4 * r + i) & 1u) == 0) continue;
        take(i, r, change(model, site, i, r), lane);
      }
    }
  }
};

// Decides what is open by the definition; returns those accepted.
template <bool kFields>
__device__ __noinline__ std::uint32_t accepted_exactly(const CategoricalSweep& kernel,
                                                       std::int64_t first_slot,
                                                       std::uint32_t number,
                                                       CategoricalQuad<kFields> quad,
                                                       std::uint32_t open) {
  std::uint32_t accepted = 0;
  for (int r = 0; r < 4; ++r) {
    if ((open >> (4 * r) & 15u) == 0) continue;
    const std::int64_t slot = min(first_slot + r, kernel.state.columns - 1);
    const Words4 words = draw_quad(kernel.draws(slot, CategoricalSweep::decide_block), number);
    const double beta = kernel.beta_of(slot);
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t attempt = 1u << (4 * r + i);
      if ((open & attempt) == 0) continue;
      const auto delta = static_cast<double>(quad.change(kernel.model, 4 * number, i, r));
      if (exact::accept(beta, delta, words.word[i])) accepted |= attempt;
    }
  }
  return accepted;
}

template <bool kSharedKeys, bool kFields, class Tile>
__device__ inline void sweep_categorical_quad(const CategoricalSweep& kernel, const Tile& tile,
                                              const StepDraws& decide, const StepDraws& propose,
                                              const ComputedKeys& keys, std::uint32_t number,
                                              CategoricalLane<kFields>& lane) {
  const CategoricalView& model = kernel.model;
  const std::uint32_t site = 4 * number;
  CategoricalQuad<kFields> quad;
  const QuadRows rows(model, site);
#pragma unroll
  for (int i = 0; i < 4; ++i) quad.here[i] = tile.at(site + i);
  const RealSites real(model, number);
  quad.propose(
      QuadWords<kSharedKeys>(kernel, propose, keys, number, CategoricalSweep::propose_block), lane,
      model.values);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    quad.sums[i] = rows.changes(i, tile, quad.here[i], quad.there[i]);
  }
  const std::uint32_t open = quad.decide(
      model, QuadWords<kSharedKeys>(kernel, decide, keys, number, CategoricalSweep::decide_block),
      site, real, lane);
  if (open != 0) {
    quad.take_all(model, site, accepted_exactly<kFields>(kernel, lane.first, number, quad, open),
                  lane);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t taken = quad.taken[i] & lane.moves;
    tile.at(site + i) = (quad.there[i] & taken) | (quad.here[i] & ~taken);
  }
}

}  // namespace
}  // namespace kiln::cuda
