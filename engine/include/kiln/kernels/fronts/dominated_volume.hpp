// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/hd.hpp"
#include "kiln/device/rng_domains.hpp"

namespace kiln {

/// Points below a reference point, sorted by their first coordinate. With fewer than four
/// objectives, the others are 0 and their reference is 1.
struct SortedPoints {
  const double *x = nullptr, *y = nullptr, *z = nullptr, *w = nullptr;
  std::int64_t size = 0;
  double reference[4] = {1, 1, 1, 1};

  /// Area in the plane of the first two coordinates that point i dominates and no point j with
  /// member(j) does, from the least y of the members before it. A sum of nonnegative terms, so that
  /// nothing cancels.
  template <class Member>
  KILN_HD double exclusive_area(std::int64_t i, double least, const Member& member) const {
    if (!(least > y[i])) return 0;
    double area = 0, from = x[i];
    for (std::int64_t j = i + 1; j < size; ++j) {
      if (!(y[j] < least) || !member(j)) continue;
      area += (x[j] - from) * (least - y[i]);
      from = x[j];
      least = y[j];
      if (least <= y[i]) return area;
    }
    return area + (reference[0] - from) * (least - y[i]);
  }

  /// Least y of the members before point i.
  template <class Member>
  KILN_HD double min_before(std::int64_t i, const Member& member) const {
    double least = reference[1];
    for (std::int64_t j = 0; j < i; ++j) {
      if (y[j] < least && member(j)) least = y[j];
    }
    return least;
  }

  /// Volume in the first three coordinates that point i dominates and no member does. The area at a
  /// level of z changes only where a member cuts it; each such level takes one pass over all
  /// points.
  template <class Member>
  KILN_HD double exclusive_volume(std::int64_t i, const Member& member) const {
    double volume = 0;
    for (double level = z[i]; level < reference[2];) {
      const auto below = [&](std::int64_t j) { return z[j] <= level && member(j); };
      const double least = min_before(i, below);
      if (!(least > y[i])) break;
      double next = reference[2];
      for (std::int64_t j = 0; j < i; ++j) {
        if (y[j] < least && z[j] > level && z[j] < next && member(j)) next = z[j];
      }
      const auto below_or_next = [&](std::int64_t j) {
        if (!member(j)) return false;
        if (z[j] <= level) return true;
        if (z[j] < next) next = z[j];
        return false;
      };
      const double area = exclusive_area(i, least, below_or_next);
      volume += area * (next - level);
      level = next;
    }
    return volume;
  }

  /// The volume that point i adds to the points before it in the order of z (w), ties by place: the
  /// sum over all points is the volume in three (four) coordinates.
  KILN_HD double term3(std::int64_t i) const {
    const auto before = [&](std::int64_t j) { return z[j] < z[i] || (z[j] == z[i] && j < i); };
    return exclusive_area(i, min_before(i, before), before) * (reference[2] - z[i]);
  }
  KILN_HD double term4(std::int64_t i) const {
    const auto before = [&](std::int64_t j) { return w[j] < w[i] || (w[j] == w[i] && j < i); };
    return exclusive_volume(i, before) * (reference[3] - w[i]);
  }
  /// The volume lost without point i, in three coordinates.
  KILN_HD double contribution3(std::int64_t i) const {
    return exclusive_volume(i, [&](std::int64_t j) { return j != i; });
  }
};

/// Samples of a box: the multiples of a vector of irrational numbers modulo 1, which fill a cube
/// evenly in any number of dimensions, shifted by random vectors. Each shifted set gives an
/// unbiased estimate, and their spread an interval. Integers only: 0 .. 2^64 - 1 is [0, 1).
struct VolumeSamples {
  static constexpr int shifts = 32;
  /// Of Student's t distribution with 31 degrees of freedom: 95 % lie within.
  static constexpr double student = 2.0395134463964082;

  /// The root of g^(d + 1) = g + 1 in (1, 2), whose powers satisfy no relation of small integers.
  static double base(std::int64_t dimensions) {
    double low = 1, high = 2;
    for (int step = 0; step < 60; ++step) {
      const double middle = exact::mul(0.5, exact::add(low, high));
      double power = 1;
      for (std::int64_t k = 0; k <= dimensions; ++k) power = exact::mul(power, middle);
      (power < exact::add(middle, 1.0) ? low : high) = middle;
    }
    return low;
  }
  /// Step of a coordinate from sample to sample: g^-(k + 1).
  KILN_HD static std::uint64_t step(double base, std::int64_t k) {
    double power = 1;
    for (std::int64_t i = 0; i <= k; ++i) power = exact::div(power, base);
    return static_cast<std::uint64_t>(exact::mul(power, 0x1p53)) << 11 | 1;
  }
  KILN_HD static std::uint64_t shift(std::uint64_t key, std::int64_t group, int which,
                                     std::int64_t k) {
    const DrawName name{key, static_cast<std::uint64_t>(group), static_cast<std::uint32_t>(which),
                        RngDomain::hypervolume, 0};
    const Words4 words = draw_quad(name, static_cast<std::uint32_t>(k));
    return static_cast<std::uint64_t>(words[0]) << 32 | words[1];
  }
  /// Maps a number in [0, 1) to the interval of the box.
  KILN_HD static double place(std::uint64_t unit, double least, double reference) {
    const double share = exact::mul(static_cast<double>(unit >> 11), 0x1p-53);
    return exact::add(least, exact::mul(share, exact::sub(reference, least)));
  }

  /// Volume and half of its interval from the hits of each shift among `count` samples.
  struct Estimate {
    double volume, half_width;
  };
  KILN_HD static Estimate conclude(const std::uint64_t* hits, std::uint64_t count, double box) {
    const auto n = static_cast<double>(count);
    double sum = 0, squares = 0;
    for (int s = 0; s < shifts; ++s) sum = exact::add(sum, static_cast<double>(hits[s]));
    const double mean = exact::div(sum, shifts);
    for (int s = 0; s < shifts; ++s) {
      const double off = exact::sub(static_cast<double>(hits[s]), mean);
      squares = exact::add(squares, exact::mul(off, off));
    }
    const double error = exact::sqrt(exact::div(squares, double{shifts} * (shifts - 1)));
    return {exact::mul(box, exact::div(mean, n)),
            exact::mul(box, exact::div(exact::mul(student, error), n))};
  }
};

}  // namespace kiln
