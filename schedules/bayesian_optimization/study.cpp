// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "study.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {

bool Trial::good() const {
  const auto finite = [](double x) { return std::isfinite(x); };
  return std::isfinite(value) && std::ranges::all_of(further, finite) &&
         std::ranges::all_of(constraints, finite);
}

std::vector<double> Trial::objectives() const {
  std::vector<double> all{value};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

double Trial::violation() const {
  double sum = 0;
  for (const double g : constraints) sum += std::max(0.0, g);
  return sum;
}

const Trial* Region::best() const {
  const Trial* best = nullptr;
  for (const Trial& trial : trials) {
    if (!trial.good()) continue;
    if (best == nullptr || trial.violation() < best->violation() ||
        (trial.violation() == best->violation() && trial.value < best->value)) {
      best = &trial;
    }
  }
  return best;
}

std::int64_t Region::good_trials() const {
  return std::ranges::count_if(trials, [](const Trial& trial) { return trial.good(); });
}

bool same_point(const Point& a, const Point& b) {
  constexpr double close = 1e-9;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::abs(a[k] - b[k]) > close) return false;
  }
  return true;
}

bool Study::knows(const Point& point) const {
  return std::ranges::any_of(seen, [&](const Point& other) { return same_point(point, other); });
}

TargetTransform::TargetTransform(const std::string& name, const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  if (sorted.size() < 2) return;
  least_ = sorted.front();
  const double median = sorted[sorted.size() / 2];
  scale_ = std::max(median - least_, 1e-12 * (1 + std::abs(least_)));
  clips_ = name == "clip" || name == "automatic";
  logarithm_ = name == "logarithm";
  // What is far above the median says that it is bad, not how bad; but a cut through a smooth
  // function is a kink, so that it is made far out unless it is asked for.
  highest_ = median + (name == "clip" ? 5 : 100) * scale_;
}

double TargetTransform::operator()(double y) const {
  if (logarithm_) return std::log1p(std::max(0.0, y - least_) / scale_);
  return clips_ ? std::min(y, highest_) : y;
}

}  // namespace kiln
