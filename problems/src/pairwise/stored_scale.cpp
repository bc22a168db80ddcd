// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/stored_scale.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/options.hpp"

namespace kiln::problems {

const std::vector<double>& decimal_scales() {
  static const std::vector<double> scales = [] {
    std::vector<double> all;
    double fives = 1;
    for (int j = 0; j <= 15; ++j, fives *= 5) {
      for (int i = 0; i <= 20; ++i) {
        const double scale = std::ldexp(fives, i);
        if (scale <= 0x1p52) all.push_back(scale);
      }
    }
    std::ranges::sort(all);
    return all;
  }();
  return scales;
}

double fixed_point_scale(const ScaleLimit& limit) {
  constexpr int most = 1000;  // scales and their inverses are normal numbers
  int power = most;
  if (limit.size > 0) power = std::clamp(53 - std::ilogb(limit.size), -most, most);
  while (power > -most && !limit.allows(std::ldexp(1.0, power))) --power;
  return std::ldexp(1.0, power);
}

bool fits_distributions(std::vector<double> sizes, double scale) {
  constexpr double gap = 1000;
  constexpr std::size_t share = 100;
  std::ranges::sort(sizes);
  double change = 0;
  for (std::size_t begin = 0, i = 0; i < sizes.size(); ++i) {
    change = std::max(change, std::abs(whole_of(sizes[i], scale) / scale - sizes[i]));
    if (i + 1 < sizes.size() && sizes[i + 1] <= gap * sizes[i]) continue;
    const double judge = sizes[begin + (i + 1 - begin) / share];
    if (change > fixed_point_tolerance * judge) return false;
    begin = i + 1;
    change = 0;
  }
  return true;
}

std::string why_no_integers(const IntegerScale& scale, const std::string& name) {
  return fmt::format(
      "the {} (counted from 0) is too small for fixed point: {}; expected at least {:.2g}, because "
      "the absolute values sum to {:.2g}; sweeps of real numbers are slower",
      name, kiln::detail::show_real(scale.misfit.coefficient), scale.least, scale.sum);
}

std::optional<Affine> exact_map(double offset, double scale, double size) {
  for (const double factor : decimal_scales()) {
    const double divisor = scale * factor;
    if (divisor > 0x1p53 || factor * size > 0x1p53) break;
    const double whole = whole_of(offset, divisor);
    if (std::abs(whole) + factor * size > 0x1p53 || whole / divisor != offset) continue;
    return Affine{whole, factor, divisor};
  }
  return {};
}

}  // namespace kiln::problems
