// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/hd.hpp"
#include "kiln/device/rng_domains.hpp"

// The rule of one step of simulated bifurcation, which all kernels share. Every operation is one
// rounding of IEEE arithmetic, so all of them give the same bits. What vectorised translation units
// call is always inlined: no two of them may share a copy of a function.
namespace kiln {

/// What an oscillator shows to its neighbours.
enum class BifurcationVariant : std::uint8_t {
  discrete,         ///< the sign of its position
  heated_discrete,  ///< the same, and momenta grow by a factor in each step
  ballistic,        ///< its position, rounded to a multiple of 1/127
};

/// The constants of a group of replicas.
struct BifurcationTuning {
  float force = 0;  ///< c: what an integer force adds to a momentum in a step
  float step = 1;   ///< dt
  float gain = 1;   ///< g, factor of momenta in each step; 1: no heating
};

/// The rounds of a run: `first` steps, then each as long as the one before or twice as long, until
/// `longest` is reached. @pre longest is `first` times a power of two.
struct BifurcationRounds {
  std::int64_t first = 1000;
  std::int64_t longest = 1000;

  struct Place {
    std::int64_t round = 0;   ///< number of the round
    std::int64_t step = 0;    ///< number of the step within the round, from 0
    std::int64_t length = 1;  ///< steps of the round
  };
  /// Where step `number` of the run lies.
  KILN_HD Place at(std::uint64_t number) const {
    Place place;
    place.length = first;
    auto left = static_cast<std::int64_t>(number);
    while (place.length < longest && left >= place.length) {
      left -= place.length;
      place.length *= 2;
      ++place.round;
    }
    place.round += left / place.length;
    place.step = left % place.length;
    return place;
  }
};

/// Position and momentum of one oscillator.
struct Oscillator {
  float position = 0;
  float momentum = 0;
};

namespace bifurcation {

#define KILN_BIFURCATION_INLINE KILN_HD inline __attribute__((always_inline))

#if defined(__CUDA_ARCH__)
KILN_BIFURCATION_INLINE float add(float a, float b) { return __fadd_rn(a, b); }
KILN_BIFURCATION_INLINE float sub(float a, float b) { return __fsub_rn(a, b); }
KILN_BIFURCATION_INLINE float mul(float a, float b) { return __fmul_rn(a, b); }
#else
KILN_BIFURCATION_INLINE float add(float a, float b) { return a + b; }
KILN_BIFURCATION_INLINE float sub(float a, float b) { return a - b; }
KILN_BIFURCATION_INLINE float mul(float a, float b) { return a * b; }
#endif

/// The value that the products of a variant take for a position of 1.
KILN_BIFURCATION_INLINE int unit_of(BifurcationVariant variant) {
  return variant == BifurcationVariant::ballistic ? 127 : 1;
}

/// What the product takes for a position: its sign (+1 for 0), or the nearest integer to 127 x, of
/// two nearest ones the even one. 127 x is rounded to single precision first.
KILN_BIFURCATION_INLINE int shown(float position, BifurcationVariant variant) {
  if (variant != BifurcationVariant::ballistic) return position >= 0 ? 1 : -1;
  constexpr float to_integer = 12582912.0f;  // 1.5 2^23: the sum has no bits below 1
  return static_cast<int>(sub(add(mul(127.0f, position), to_integer), to_integer));
}

/// d: what a position takes from the momentum of step m of a round of M, dt (1 - (m + 1) / M). The
/// pump rises from 1 / M to 1.
KILN_HD inline float detuning(float step, std::int64_t m, std::int64_t length) {
  const double pump = exact::div(static_cast<double>(m + 1), static_cast<double>(length));
  return static_cast<float>(exact::mul(static_cast<double>(step), exact::sub(1.0, pump)));
}

/// One step: y <- (y - (c F + d x)) g, x <- x + dt y, and a wall at |x| = 1 that stops what hits
/// it.
/// @param now  before the step
/// @param force  F, the integer or real force, rounded to single precision
/// @param detuning  d of this step
/// @param tuning  constants of the group
KILN_BIFURCATION_INLINE Oscillator moved(Oscillator now, float force, float detuning,
                                         const BifurcationTuning& tuning) {
  const float pull = add(mul(tuning.force, force), mul(detuning, now.position));
  now.momentum = mul(sub(now.momentum, pull), tuning.gain);
  now.position = add(now.position, mul(tuning.step, now.momentum));
  const bool outside = now.position > 1.0f || now.position < -1.0f;
  const float wall = now.position > 0.0f ? 1.0f : -1.0f;
  now.position = outside ? wall : now.position;
  now.momentum = outside ? 0.0f : now.momentum;
  return now;
}

/// The oscillator at the start of a round: uniform in (-0.1, 0.1), both of its numbers.
/// @param words  the draw of the sites 2 k and 2 k + 1, quad k
/// @param site  the number of the site
KILN_HD inline Oscillator start(const Words4& words, std::int64_t site) {
  const auto uniform = [](std::uint32_t word) {
    return static_cast<float>(exact::mul(0.2, exact::sub(open_unit(word), 0.5)));
  };
  const auto first = static_cast<std::uint32_t>(site % 2 * 2);
  return {uniform(words[first]), uniform(words[first + 1])};
}

#undef KILN_BIFURCATION_INLINE

}  // namespace bifurcation
}  // namespace kiln
