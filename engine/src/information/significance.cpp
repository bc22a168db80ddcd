// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "significance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kiln/information/estimate_information.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

// The continued fraction of the regularised incomplete beta function I_x(a, b), for
// x < (a + 1) / (a + b + 2) (Abramowitz, Stegun, 26.5.8; by Lentz's method).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::abs(d) < tiny) d = tiny;
  d = 1 / d;
  double fraction = d;
  for (int m = 1; m <= 300; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      if (std::abs(d) < tiny) d = tiny;
      if (std::abs(c) < tiny) c = tiny;
      d = 1 / d;
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1) < 1e-15) break;
  }
  return fraction;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// Below so many surrogates a deviation says too little for a p-value beyond them.
constexpr std::int64_t surrogates_for_tail = 20;
// So many surrogates that reach the value make a p-value of their own.
constexpr std::int64_t enough_beyond = 10;

}  // namespace

double student_tail(double t, double degrees) {
  const double half = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t >= 0 ? half : 1 - half;
}

double gamma_tail(double a, double x) {
  // A series below a + 1, a continued fraction above (Abramowitz, Stegun, 6.5.29, 6.5.31).
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 100'000 && term > sum * 1e-16; ++n) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (int n = 1; n < 100'000; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return front * fraction;
}

double pooled_skewness(const std::vector<std::vector<double>>& surrogates) {
  double cubes = 0, count = 0;
  for (const std::vector<double>& values : surrogates) {
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0, third = 0;
    for (const double value : values) {
      squares += (value - mean) * (value - mean);
      third += (value - mean) * (value - mean) * (value - mean);
    }
    if (values.size() < 3 || !(squares > 0)) continue;
    // Without bias for normal values.
    cubes += n * third / (std::pow(squares / n, 1.5) * n) * std::sqrt(n * (n - 1)) / (n - 2);
    count += n;
  }
  return count > 0 ? std::max(0.0, cubes / count) : 0;
}

void compare_with_surrogates(const std::vector<double>& surrogates, const SurrogateTail& tail,
                             InformationEstimate& estimate) {
  const auto count = static_cast<double>(surrogates.size());
  if (surrogates.empty()) return;
  const double mean = std::accumulate(surrogates.begin(), surrogates.end(), 0.0) / count;
  double squares = 0;
  for (const double value : surrogates) squares += (value - mean) * (value - mean);
  const double deviation = surrogates.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  const std::int64_t beyond =
      std::ranges::count_if(surrogates, [&](double value) { return value >= estimate.value; });
  estimate.effective = estimate.value - mean;
  estimate.surrogate_mean = mean;
  estimate.surrogate_deviation = deviation;
  estimate.p_value = (1 + static_cast<double>(beyond)) / (1 + count);
  const bool has_tail =
      tail.is_smooth && std::ssize(surrogates) >= surrogates_for_tail && deviation > 0;
  if (beyond >= enough_beyond || !has_tail || !std::isfinite(estimate.value)) return;
  // One more draw from a distribution whose mean and deviation were estimated. Estimates of few
  // points are skewed: their tail is that of a gamma distribution (Pearson's type III).
  const double t = (estimate.value - mean) / (deviation * std::sqrt(1 + 1 / count));
  estimate.p_value = student_tail(t, count - 1);
  constexpr double hardly_skewed = 0.05;
  if (tail.skewness < hardly_skewed || t <= 0) return;
  const double shape = 4 / (tail.skewness * tail.skewness);
  estimate.p_value = std::max(estimate.p_value, gamma_tail(shape, shape + t * std::sqrt(shape)));
}

std::vector<double> false_discovery_rates(const std::vector<double>& p_values) {
  std::vector<std::size_t> tested;
  for (std::size_t i = 0; i < p_values.size(); ++i) {
    if (!std::isnan(p_values[i])) tested.push_back(i);
  }
  std::ranges::stable_sort(tested,
                           [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> rates(p_values.size(), InformationEstimate::none);
  double least = 1;
  for (std::size_t rank = tested.size(); rank > 0; --rank) {
    const double rate =
        p_values[tested[rank - 1]] * static_cast<double>(tested.size()) / static_cast<double>(rank);
    least = std::min(least, rate);
    rates[tested[rank - 1]] = least;
  }
  return rates;
}

void mark_significant(InformationMap& map) {
  std::vector<double> p_values;
  for (const InformationLink& link : map.links) p_values.push_back(link.estimate.p_value);
  const std::vector<double> rates = false_discovery_rates(p_values);
  for (std::size_t i = 0; i < map.links.size(); ++i) {
    map.links[i].q_value = rates[i];
    map.links[i].significant = rates[i] <= map.false_discovery_rate;  // false for NaN
  }
}

}  // namespace kiln
