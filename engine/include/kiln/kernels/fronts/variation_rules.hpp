// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/hd.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/export.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// How two parents become two children.
enum class Crossover : std::uint8_t {
  none,              ///< children equal their parents
  uniform,           ///< values are exchanged
  simulated_binary,  ///< children on the line through the parents, as far apart as with exchanged
                     ///< bits (SBX)
  differential,      ///< one parent takes values of a + F (b - c)
  order,  ///< for permutations: a segment of one parent, the rest in the order of the other (OX)
};

/// The mutation of a child.
enum class Mutation : std::uint8_t {
  none,
  polynomial,  ///< for reals and integers: small steps are most frequent
  reset,  ///< another value of a spin, bit, category or integer; a uniform value of a bounded real
  inversion,  ///< for permutations: reverses a segment
};

/// Whether an event of a probability occurs, by a word.
KILN_HD inline bool happens(double probability, std::uint32_t word) {
  return static_cast<double>(word) < exact::mul(probability, 0x1p32);
}

/// x^e for x > 0, and 0^e = 0 for e > 0, the same on every device.
KILN_HD inline double power(double x, double e) { return exact::exp(exact::mul(e, exact::log(x))); }

KILN_HD inline double clamped(double x, double lower, double upper) {
  return x < lower ? lower : x > upper ? upper : x;
}
/// Rounds to the nearest whole number within bounds.
KILN_HD inline double rounded(double x, double lower, double upper) {
  const double whole = exact::sub(exact::add(x, exact::round_shift), exact::round_shift);
  return clamped(whole, lower, upper);
}

/// The variation operators with their settings. Values of reals and integers alike are numbers
/// here; callers round the integers.
/// @par Source  Simulated binary crossover: Deb, Agrawal, Complex Systems 9 (1995) 115; with
/// bounds, and polynomial mutation: Deb, Goyal, Comput. Sci. Inform. 26 (1996) 30. Differential
/// evolution: Storn, Price, J. Glob. Optim. 11 (1997) 341. Order crossover: Davis, IJCAI 1985, 162.
struct KILN_API VariationRule {
  Crossover crossover = Crossover::none;
  Mutation mutation = Mutation::none;
  double cross_pair = 0.9;  ///< probability that a pair is crossed; differential: that a target is
  double cross_variable = 0.5;  ///< ... that a variable of it is (differential: CR)
  double cross_index = 15;  ///< of simulated_binary; larger values stay nearer to the parents; >= 0
  double scale = 0.5;       ///< F of differential
  double mutate = 0;        ///< mutation probability of each variable; inversion: of a child
  double mutate_index = 20;  ///< of polynomial; >= 0

  KILN_HD bool crosses(const Words4& of_pair) const {
    return crossover != Crossover::none && happens(cross_pair, of_pair[0]);
  }
  /// Whether a child inherits from its first parent.
  KILN_HD bool inherits_first(bool is_first) const {
    return is_first || crossover == Crossover::differential;
  }

  /// One child of a pair; words 1 and 2 belong to the pair: the distance, and the assignment.
  KILN_HD double simulated_binary(double a, double b, bool is_first, double lower, double upper,
                                  const Words4& words) const {
    const double least = a < b ? a : b, greatest = a < b ? b : a;
    const double apart = exact::sub(greatest, least);
    if (!(apart >= 1e-14)) return is_first ? a : b;
    const bool is_lower = is_first == (words[2] < 0x80000000u);
    const double room = is_lower ? exact::sub(least, lower) : exact::sub(upper, greatest);
    const double beta = exact::add(1.0, exact::div(exact::mul(2.0, room), apart));
    const double e = exact::add(cross_index, 1.0);
    const double alpha = exact::sub(2.0, power(beta, -e));
    const double u = exact::mul(open_unit(words[1]), alpha);
    const double root = u <= 1.0 ? u : exact::div(1.0, exact::sub(2.0, u));
    const double spread = exact::mul(power(root, exact::div(1.0, e)), apart);
    const double sum = exact::add(least, greatest);
    const double x = exact::mul(0.5, is_lower ? exact::sub(sum, spread) : exact::add(sum, spread));
    return clamped(x, lower, upper);
  }

  /// base + F (b - c); halfway from the target to a bound that it would cross.
  KILN_HD double differential(double target, double base, double b, double c, double lower,
                              double upper) const {
    const double x = exact::add(base, exact::mul(scale, exact::sub(b, c)));
    if (x < lower) return exact::mul(0.5, exact::add(target, lower));
    if (x > upper) return exact::mul(0.5, exact::add(target, upper));
    return x;
  }

  /// A value after mutation; word 0 decides whether, word 1 the new value. Reals need bounds.
  KILN_HD double mutated(BlockKind kind, double x, double lower, double upper,
                         const Words4& words) const {
    if (mutation == Mutation::none || !happens(mutate, words[0])) return x;
    if (kind == BlockKind::spin) return -x;
    if (kind == BlockKind::binary) return exact::sub(1.0, x);
    const double range = exact::sub(upper, lower);
    if (!(range > 0) || range == exact::infinity()) return x;
    if (mutation == Mutation::polynomial && kind != BlockKind::category) {
      return polynomial(x, lower, upper, range, open_unit(words[1]));
    }
    if (kind == BlockKind::real) {
      return exact::add(lower, exact::mul(open_unit(words[1]), range));
    }
    const double other =
        exact::add(lower, static_cast<double>(below(words[1], static_cast<std::uint32_t>(range))));
    return other < x ? other : exact::add(other, 1.0);
  }

 private:
  KILN_HD double polynomial(double x, double lower, double upper, double range, double u) const {
    const double e = exact::add(mutate_index, 1.0);
    const bool down = u < 0.5;
    // The share of the range on the side that the value moves to.
    const double room = exact::div(down ? exact::sub(x, lower) : exact::sub(upper, x), range);
    const double near = exact::mul(2.0, down ? u : exact::sub(1.0, u));
    const double far = exact::mul(exact::sub(1.0, near), power(exact::sub(1.0, room), e));
    const double step = exact::sub(1.0, power(exact::add(near, far), exact::div(1.0, e)));
    const double moved = exact::mul(step, range);
    return clamped(down ? exact::sub(x, moved) : exact::add(x, moved), lower, upper);
  }
};

}  // namespace kiln
