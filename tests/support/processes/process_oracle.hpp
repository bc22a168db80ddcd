// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "kiln/device/covariance.hpp"
#include "kiln/models/similarity.hpp"

#include "backends/backends.hpp"

/// Gaussian processes by the textbook, in long double: what kernels and GaussianProcess are
/// compared with. Nothing here is the code of the library.
namespace kiln::test::oracle {

using Real = long double;
using Numbers = std::vector<double>;
using Vector = std::vector<Real>;

inline constexpr CovarianceKind all_kinds[] = {
    CovarianceKind::squared_exponential, CovarianceKind::matern12, CovarianceKind::matern32,
    CovarianceKind::matern52, CovarianceKind::rational_quadratic};

/// @par Source  Rasmussen, Williams, Gaussian Processes for Machine Learning, 4.2.
inline Real correlation_at(CovarianceKind kind, Real r, Real alpha) {
  const Real three = std::sqrt(Real(3)) * r, five = std::sqrt(Real(5)) * r;
  switch (kind) {
    case CovarianceKind::squared_exponential:
      return std::exp(-r * r / 2);
    case CovarianceKind::matern12:
      return std::exp(-r);
    case CovarianceKind::matern32:
      return (1 + three) * std::exp(-three);
    case CovarianceKind::matern52:
      return (1 + five + five * five / 3) * std::exp(-five);
    case CovarianceKind::rational_quadratic:
      return std::pow(1 + r * r / (2 * alpha), -alpha);
  }
  return 0;
}

/// A prior: logarithms of its length scales (of each axis, or one), its variance, its noise and the
/// alpha of the rational quadratic.
struct Prior {
  CovarianceKind kind = CovarianceKind::matern52;
  std::int64_t dimension = 1;
  Vector logarithms;
  std::vector<std::uint8_t> categorical = {};
  std::vector<CategorySimilarity> similarity = {};

  std::size_t lengths() const {
    return logarithms.size() - (kind == CovarianceKind::rational_quadratic ? 3 : 2);
  }
  Real variance() const { return std::exp(logarithms[lengths()]); }
  Real noise() const { return std::exp(logarithms[lengths() + 1]); }
  Real covariance(const Real* a, const Real* b) const {
    Real square = 0;
    for (std::size_t k = 0; k < idx(dimension); ++k) {
      const bool named = !categorical.empty() && categorical[k] != 0;
      const Real d = named ? name_distance(k, a[k], b[k]) : a[k] - b[k];
      const Real of_length = d / std::exp(logarithms[lengths() == 1 ? 0 : k]);
      square += of_length * of_length;
    }
    const Real alpha =
        kind == CovarianceKind::rational_quadratic ? std::exp(logarithms.back()) : Real(1);
    return variance() * correlation_at(kind, std::sqrt(square), alpha);
  }
  Real name_distance(std::size_t k, Real a, Real b) const {
    if (a == b) return 0;
    if (similarity.empty() || similarity[k].levels == 0) return 1;
    const std::int64_t row = static_cast<std::int64_t>(a) * similarity[k].levels;
    return std::sqrt(1 - Real(similarity[k].values[idx(row + static_cast<std::int64_t>(b))]));
  }
};

/// A prior conditioned on values at points [n][dimension].
class Posterior {
 public:
  /// @param mean  nothing: that which maximises the evidence
  Posterior(Prior prior, Vector points, Vector values, std::optional<Real> mean = std::nullopt)
      : prior_(std::move(prior)), points_(std::move(points)), values_(std::move(values)) {
    factor();
    const Vector ones = solve(Vector(size(), 1)), weights = solve(values_);
    Real above = 0, below = 0;
    for (std::size_t i = 0; i < size(); ++i) above += weights[i], below += ones[i];
    mean_ = mean ? *mean : above / below;
    Vector residual = values_;
    for (Real& y : residual) y -= mean_;
    weights_ = solve(residual);
  }

  std::size_t size() const { return values_.size(); }
  Real mean() const { return mean_; }
  const Vector& weights() const { return weights_; }
  /// Minus the logarithm of the evidence.
  Real evidence() const {
    Real sum = Real(size()) / 2 * std::log(2 * std::acos(Real(-1)));
    for (std::size_t i = 0; i < size(); ++i) {
      sum += (values_[i] - mean_) * weights_[i] / 2 + std::log(l_[i * size() + i]);
    }
    return sum;
  }
  Real mean_at(const Real* x) const {
    Real sum = mean_;
    for (std::size_t i = 0; i < size(); ++i) sum += weights_[i] * prior_.covariance(x, point(i));
    return sum;
  }
  Real variance_at(const Real* x) const { return covariance_at(x, x); }
  Real covariance_at(const Real* a, const Real* b) const {
    const Vector left = half(column(a)), right = half(column(b));
    Real sum = prior_.covariance(a, b);
    for (std::size_t i = 0; i < size(); ++i) sum -= left[i] * right[i];
    return sum;
  }
  /// K^-1 [n][n].
  Vector inverse() const {
    Vector all(size() * size());
    for (std::size_t j = 0; j < size(); ++j) {
      Vector unit(size());
      unit[j] = 1;
      const Vector x = solve(unit);
      for (std::size_t i = 0; i < size(); ++i) all[i * size() + j] = x[i];
    }
    return all;
  }
  /// L^-1 [n][n], zeros above its diagonal.
  Vector inverse_factor() const {
    Vector all(size() * size());
    for (std::size_t j = 0; j < size(); ++j) {
      Vector unit(size());
      unit[j] = 1;
      const Vector x = half(unit);
      for (std::size_t i = 0; i < size(); ++i) all[i * size() + j] = x[i];
    }
    return all;
  }
  Real log_determinant() const {
    Real sum = 0;
    for (std::size_t i = 0; i < size(); ++i) sum += 2 * std::log(l_[i * size() + i]);
    return sum;
  }

 private:
  const Real* point(std::size_t i) const { return &points_[i * idx(prior_.dimension)]; }
  Vector column(const Real* x) const {
    Vector k;
    for (std::size_t i = 0; i < size(); ++i) k.push_back(prior_.covariance(x, point(i)));
    return k;
  }
  void factor() {
    const std::size_t n = size();
    l_.assign(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        Real sum = prior_.covariance(point(i), point(j)) + (i == j ? prior_.noise() : Real(0));
        for (std::size_t k = 0; k < j; ++k) sum -= l_[i * n + k] * l_[j * n + k];
        l_[i * n + j] = i == j ? std::sqrt(sum) : sum / l_[j * n + j];
      }
    }
  }
  Vector half(Vector b) const {
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) b[i] -= l_[i * n + j] * b[j];
      b[i] /= l_[i * n + i];
    }
    return b;
  }
  Vector solve(const Vector& right) const {
    const std::size_t n = size();
    Vector b = half(right);
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) b[i] -= l_[j * n + i] * b[j];
      b[i] /= l_[i * n + i];
    }
    return b;
  }

  Prior prior_;
  Vector points_, values_, l_, weights_;
  Real mean_ = 0;
};

/// The slope of a function along one of its arguments, by a central difference of fourth order.
inline Real slope_of(const std::function<Real(const Vector&)>& f, Vector x, std::size_t k,
                     Real step = 1e-4L) {
  const Real middle = x[k];
  const auto at = [&](Real offset) {
    x[k] = middle + offset * step;
    return f(x);
  };
  return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step);
}

inline Numbers uniform(std::int64_t count, double low, double high, std::uint64_t seed) {
  TestRandom random(seed);
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(low + (high - low) * random.unit());
  return all;
}

}  // namespace kiln::test::oracle
