// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "chi_square.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln::test {
namespace {

constexpr int max_terms = 100000;

double power_series_of_p(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < max_terms && term > sum * 1e-17; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

double continued_fraction_of_q(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int i = 1; i < max_terms; ++i) {
    const double factor = -i * (i - a);
    b += 2;
    d = factor * d + b;
    if (std::abs(d) < tiny) d = tiny;
    c = b + factor / c;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return h * std::exp(a * std::log(x) - x - std::lgamma(a));
}

// Sum of the binomial law from `count` outwards in steps of `direction`.
double binomial_tail(std::int64_t count, std::int64_t n, double p, int direction) {
  const auto log_choose = [](double top, double k) {
    return std::lgamma(top + 1) - std::lgamma(k + 1) - std::lgamma(top - k + 1);
  };
  const auto k0 = static_cast<double>(count), total = static_cast<double>(n);
  double term = std::exp(log_choose(total, k0) + k0 * std::log(p) + (total - k0) * std::log1p(-p));
  double sum = 0;
  for (std::int64_t k = count; k >= 0 && k <= n; k += direction) {
    sum += term;
    if (term < sum * 1e-18) break;
    const auto x = static_cast<double>(k);
    term *= direction > 0 ? (total - x) / (x + 1) * p / (1 - p) : x / (total - x + 1) * (1 - p) / p;
  }
  return sum;
}

}  // namespace

double upper_gamma_ratio(double a, double x) {
  if (!(x > 0)) return 1;
  return x < a + 1 ? 1 - power_series_of_p(a, x) : continued_fraction_of_q(a, x);
}

double chi_square_tail(double value, double degrees) {
  return upper_gamma_ratio(degrees / 2, value / 2);
}

ChiSquare chi_square_test(const std::vector<std::int64_t>& counts,
                          const std::vector<double>& probabilities) {
  const auto n =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return probabilities[a] < probabilities[b]; });
  ChiSquare result;
  double expected = 0, seen = 0;
  for (const std::size_t i : order) {
    if (probabilities[i] == 0 && counts[i] > 0) return {HUGE_VAL, 1, 0};
    expected += n * probabilities[i];
    seen += static_cast<double>(counts[i]);
    if (expected < 5) continue;
    result.value += (seen - expected) * (seen - expected) / expected;
    ++result.degrees;
    expected = seen = 0;
  }
  result.degrees = std::max(1, result.degrees - 1);
  result.p = chi_square_tail(result.value, result.degrees);
  return result;
}

double binomial_p_value(std::int64_t count, std::int64_t n, double p) {
  if (p <= 0) return count == 0 ? 1 : 0;
  if (p >= 1) return count == n ? 1 : 0;
  const int direction = static_cast<double>(count) > static_cast<double>(n) * p ? 1 : -1;
  return std::min(1.0, 2 * binomial_tail(count, n, p, direction));
}

}  // namespace kiln::test
