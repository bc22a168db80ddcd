// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kiln::test {

/// Regularised upper incomplete gamma function Q(a, x), a > 0, x >= 0; relative error below 1e-10.
/// By the power series of P for x < a + 1 and by Lentz's continued fraction of Q beyond.
/// @par Source  Abramowitz, Stegun, Handbook of Mathematical Functions, 6.5.29 and 6.5.31.
double upper_gamma_ratio(double a, double x);

/// Probability that chi-square with that many degrees of freedom is at least `value`.
double chi_square_tail(double value, double degrees);

struct ChiSquare {
  double value = 0;
  int degrees = 0;
  double p = 1;
};

/// Pearson's test of counts against probabilities that sum to 1. Cells with less than 5 expected
/// are put together, the least likely first; a cell that cannot occur must not have occurred, or
/// p is 0.
ChiSquare chi_square_test(const std::vector<std::int64_t>& counts,
                          const std::vector<double>& probabilities);

/// Probability of a count that is as far out or further, on the side where it lies, doubled (at
/// most 1): the exact binomial law of n trials with probability p.
double binomial_p_value(std::int64_t count, std::int64_t n, double p);

}  // namespace kiln::test
