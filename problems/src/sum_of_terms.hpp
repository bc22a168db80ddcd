// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/problems/graph.hpp"

namespace kiln::problems {

/// A sum that keeps what its additions round off: terms that cancel leave the digits of the sum.
/// Its error is one rounding of the sum and n^2 2^-106 of the sizes of n terms.
/// @par Source  Neumaier, Z. Angew. Math. Mech. 54 (1974) 39.
class TermSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    const bool larger = std::abs(sum_) >= std::abs(term);
    lost_ += larger ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

/// Bounds the rounding error of the energies that kernels form row by row.
///
/// The longest chain of additions has a few for each entry of a row, 64 for a part and one for each
/// part of 64 sites; each rounds by 2^-53 of the terms so far. The bound is twice the sum of these.
/// @param longest  number of couplings of a variable, at most
/// @param size  sum of the sizes of all terms
inline double rounding_of_rows(std::int64_t n, std::int64_t longest, double size) {
  const auto chain = static_cast<double>(4 * longest + n / 64 + 128);
  return 0x1p-52 * chain * size;
}
inline double rounding_of_rows(std::int64_t n, const std::vector<Edge>& couplings, double size) {
  std::vector<std::int64_t> degree(static_cast<std::size_t>(n), 0);
  for (const Edge& e : couplings) {
    ++degree[static_cast<std::size_t>(e.u)];
    ++degree[static_cast<std::size_t>(e.v)];
  }
  const std::int64_t longest = degree.empty() ? 0 : *std::max_element(degree.begin(), degree.end());
  return rounding_of_rows(n, longest, size);
}

/// The same of a constant that is added to that energy.
inline double rounding_of_offset(double offset) { return 0x1p-50 * std::abs(offset); }

/// A power of two near the largest of some sizes, 1 for none: squares in units of it do not
/// overflow, and other results keep their bits.
inline double unit_of(double largest) {
  return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

}  // namespace kiln::problems
