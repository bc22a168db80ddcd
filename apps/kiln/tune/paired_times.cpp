// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/paired_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace kiln::cli {
namespace {

constexpr std::size_t min_pairs = 10, max_pairs = 50;
constexpr double precision = 0.02;

// The largest k for which fewer than k heads of n coins have a probability of at most 2.5 %.
std::size_t rank_of_interval(std::size_t n) {
  double probability = std::pow(0.5, static_cast<double>(n)), sum = 0;
  std::size_t k = 0;
  while (k < n && sum + probability <= 0.025) {
    sum += probability;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

bool is_narrow(const TuneInterval& one) { return one.high - one.low <= 2 * precision * one.median; }

}  // namespace

TuneInterval median_interval(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("the median of no values");
  std::ranges::sort(values);
  const std::size_t n = values.size(), rank = std::max<std::size_t>(1, rank_of_interval(n));
  return {values[rank - 1], (values[(n - 1) / 2] + values[n / 2]) / 2, values[n - rank]};
}

bool PairedTimes::enough() const {
  if (shape.size() < min_pairs) return false;
  return shape.size() >= max_pairs ||
         (is_narrow(median_interval(shape)) && is_narrow(median_interval(standard)));
}

void PairedTimes::write_to(TuneTrial& trial) const {
  std::vector<double> gains;
  for (std::size_t i = 0; i < shape.size(); ++i) gains.push_back(standard[i] / shape[i]);
  trial.verdict = TrialVerdict::measured;
  trial.seconds = median_interval(shape);
  trial.default_seconds = median_interval(standard);
  trial.gain = median_interval(std::move(gains));
  trial.samples = static_cast<int>(shape.size());
}

}  // namespace kiln::cli
