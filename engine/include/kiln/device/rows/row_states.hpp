// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/hd.hpp"

// What the tree of a row merges (row_tree.hpp). Each state has an identity, State{}, and a merge()
// with the state of what comes after it. Class E: + - * / in double, each rounded once.
namespace kiln {

KILN_HD inline bool is_finite_number(double x) { return exact::sub(x, x) == 0; }
KILN_HD inline double magnitude_of(double x) { return x < 0 ? -x : x; }
/// All NaNs as one, for the same bits on every device.
KILN_HD inline double canonical(double x) { return x != x ? exact::not_a_number() : x; }

/// a + b - total for the rounded sum `total`: it is a double (Knuth).
KILN_HD inline double rounding_error(double a, double b, double total) {
  const double of_b = exact::sub(total, a);
  return exact::add(exact::sub(a, exact::sub(total, of_b)), exact::sub(b, of_b));
}

/// A sum, and the rounding errors that it has left behind.
struct CompensatedSum {
  double sum = 0, error = 0;

  KILN_HD void add(double x) {
    const double total = exact::add(sum, x);
    error = exact::add(error, rounding_error(sum, x, total));
    sum = total;
  }
  KILN_HD void merge(const CompensatedSum& after) {
    const double total = exact::add(sum, after.sum);
    error = exact::add(exact::add(error, after.error), rounding_error(sum, after.sum, total));
    sum = total;
  }
  KILN_HD double value() const {
    const double best = exact::add(sum, error);
    return canonical(is_finite_number(sum) && best == best ? best : sum);
  }
};

/// The upper half of the bits of a magnitude: in the order of magnitudes.
KILN_HD inline std::uint32_t magnitude_word(double x) {
  return static_cast<std::uint32_t>(exact::double_to_bits(x) >> 32) & 0x7FFFFFFFu;
}
/// Of 2^exponent: no number below has a word as large.
KILN_HD constexpr std::uint32_t word_of_power(int exponent) {
  return static_cast<std::uint32_t>(1023 + exponent) << 20;
}
struct MagnitudeWords {
  static constexpr std::uint32_t large_from = word_of_power(480), small_below = word_of_power(-480);
  static constexpr std::uint32_t not_finite = word_of_power(1024);
};

/// Sums of squares of large, middle and small numbers, the outer ones scaled: none overflows, and
/// none loses digits below the least normal number.
struct ScaledSquares {
  static constexpr double large_from = 0x1p480, small_below = 0x1p-480;  // as MagnitudeWords
  static constexpr double shrink = 0x1p-600, grow = 0x1p600;
  double large = 0, middle = 0, small = 0;

  KILN_HD void add(double x) {
    const double size = magnitude_of(x);
    const bool is_large = size >= large_from, is_small = size < small_below;
    const double scaled = exact::mul(x, is_large ? shrink : is_small ? grow : 1.0);
    const double square = exact::mul(scaled, scaled);
    large = exact::add(large, is_large ? square : 0.0);
    small = exact::add(small, is_small ? square : 0.0);
    middle = exact::add(middle, is_large || is_small ? 0.0 : square);  // NaN, too
  }
  KILN_HD void merge(const ScaledSquares& after) {
    large = exact::add(large, after.large);
    middle = exact::add(middle, after.middle);
    small = exact::add(small, after.small);
  }
  KILN_HD double norm() const {
    if (middle != middle) return exact::not_a_number();
    if (large > 0) {
      const double below = exact::mul(exact::mul(middle, shrink), shrink);
      return exact::mul(exact::sqrt(exact::add(large, below)), grow);
    }
    if (middle > 0) {
      const double below = exact::mul(exact::mul(small, shrink), shrink);
      return exact::sqrt(exact::add(middle, below));
    }
    return exact::mul(exact::sqrt(small), shrink);
  }
};

/// Number, mean and sum of squared deviations, in units of 2^exponent and its square. The mean is a
/// sum of two doubles: far from 0, the means of chunks differ by less than one double resolves.
struct RowMoments {
  static constexpr std::int64_t far = 600;  ///< exponents are -far, 0 and far
  double count = 0, mean = 0, rest = 0, squares = 0;
  std::int64_t exponent = -far;

  /// The unit of numbers of which the largest magnitude has this word. Squares of deviations are
  /// smaller than those of the numbers by the square of a rounding.
  KILN_HD static std::int64_t exponent_of(std::uint32_t word) {
    constexpr std::uint32_t small_below = word_of_power(-400);
    return word >= MagnitudeWords::large_from ? far : word < small_below ? -far : 0;
  }
  KILN_HD static double power(std::int64_t e) { return e > 0 ? 0x1p600 : e < 0 ? 0x1p-600 : 1.0; }

  KILN_HD void raise(std::int64_t to) {
    for (; exponent < to; exponent += far) {
      mean = exact::mul(mean, 0x1p-600);
      rest = exact::mul(rest, 0x1p-600);
      squares = exact::mul(exact::mul(squares, 0x1p-600), 0x1p-600);
    }
  }
  KILN_HD void merge(RowMoments after) {
    if (after.count == 0) return;
    if (count == 0) {
      *this = after;
      return;
    }
    raise(after.exponent);
    after.raise(exponent);
    const double all = exact::add(count, after.count);
    const double share = exact::div(after.count, all);
    const double apart = exact::add(exact::sub(after.mean, mean), exact::sub(after.rest, rest));
    const double step = exact::mul(apart, share), moved = exact::add(mean, step);
    rest = exact::add(rest, rounding_error(mean, step, moved));
    mean = moved;
    const double between = exact::mul(exact::mul(apart, apart), exact::mul(count, share));
    squares = exact::add(exact::add(squares, after.squares), between);
    count = all;
  }

  KILN_HD double centre() const {
    if (count == 0) return exact::not_a_number();
    return canonical(exact::mul(exact::add(mean, rest), power(exponent)));
  }
  KILN_HD double variance() const {
    if (count == 0) return exact::not_a_number();
    const double scaled = exact::div(squares, count), unit = power(exponent);
    return canonical(exact::mul(exact::mul(scaled, unit), unit));
  }
  /// The square root of the variance, also where the variance is beyond the largest double.
  KILN_HD double deviation() const {
    if (count == 0) return exact::not_a_number();
    return canonical(exact::mul(exact::sqrt(exact::div(squares, count)), power(exponent)));
  }
};

/// The largest number, and the sum of exp(x - largest).
struct SoftmaxSum {
  double largest = -exact::infinity(), sum = 0;

  /// NaN is larger than any number.
  KILN_HD static double larger(double a, double b) { return a != a || a >= b ? a : b; }
  /// exp(x - largest); 0 where the largest is no number.
  KILN_HD static double term(double x, double largest) {
    return is_finite_number(largest) ? exact::exp(exact::sub(x, largest)) : 0.0;
  }
  KILN_HD void merge(const SoftmaxSum& after) {
    const double both = larger(largest, after.largest);
    sum = exact::add(exact::mul(sum, term(largest, both)),
                     exact::mul(after.sum, term(after.largest, both)));
    largest = both;
  }
};

}  // namespace kiln
