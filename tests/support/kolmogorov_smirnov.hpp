// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace kiln::test {

/// Probability that sqrt(n) times the largest distance of an empirical distribution function is at
/// least `value`, for large n: 2 sum_k (-1)^(k-1) exp(-2 k^2 value^2).
/// @par Source  Kolmogorov (1933); Smirnov, Ann. Math. Stat. 19 (1948) 279.
double kolmogorov_tail(double value);

struct KolmogorovSmirnov {
  double distance = 0;
  double p = 1;
};

/// The two-sided test of independent draws against a continuous distribution function. A draw that
/// is not finite gives p = 0. Error of p below 1 % from n = 100 on, by Stephens' correction.
/// @par Source  Stephens, J. R. Stat. Soc. B 32 (1970) 115.
KolmogorovSmirnov ks_test(std::vector<double> draws,
                          const std::function<double(double)>& distribution);

/// The distribution function of the standard normal law.
double normal_distribution(double x);

}  // namespace kiln::test
