// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/information/digamma.hpp"

namespace kiln {

std::vector<double> digamma_of_integers(std::int64_t n) {
  // The sum and what its rounding lost (Neumaier), both in doubles: long double differs between
  // machines.
  constexpr double euler = 0.57721566490153286, euler_rest = -4.9429151524309505e-18;
  std::vector<double> psi;
  psi.reserve(static_cast<std::size_t>(n));
  double sum = -euler, lost = -euler_rest;
  for (std::int64_t i = 1; i <= n; ++i) {
    psi.push_back(sum + lost);
    const double divisor = static_cast<double>(i), term = 1 / divisor;
    const double next = sum + term;
    const bool larger = (sum < 0 ? -sum : sum) >= term;
    lost += larger ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
  return psi;
}

}  // namespace kiln
