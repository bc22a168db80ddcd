// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/forecast/ridge_model.hpp"

#include "idx.hpp"
#include "information/series_values.hpp"

namespace kiln {
namespace {

constexpr std::array<double, 5> penalties{0.001, 0.01, 0.1, 1, 10};

// Standardised examples, and the products that every penalty needs.
class Examples {
 public:
  Examples(std::span<const FeatureVector> rows, std::span<const double> targets)
      : n_(static_cast<double>(rows.size())) {
    for (const double y : targets) fit_.intercept += y / n_;
    for (std::size_t j = 0; j < forecast_features; ++j) standardize(rows, j);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      targets_.push_back(targets[i] - fit_.intercept);
      for (const std::size_t j : used_) {
        values_.push_back((rows[i][j] - fit_.center[j]) / fit_.scale[j]);
      }
    }
    const std::size_t p = used_.size();
    gram_.assign(p * p, 0);
    moment_.assign(p, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) add_products(&values_[i * p], targets_[i]);
  }

  // Weights for a penalty, and the squared errors of leave-one-out predictions.
  double solve(double penalty, std::vector<double>& weights) const {
    const auto p = static_cast<std::int64_t>(used_.size());
    std::vector<double> lower = gram_;
    for (std::int64_t j = 0; j < p; ++j) lower[idx(j * p + j)] += penalty * n_;
    if (!factorize_in_place(lower, p)) return exact::infinity();
    const std::vector<double> inverse = inverse_of_square(lower, p);
    weights.assign(used_.size(), 0);
    for (std::int64_t j = 0; j < p; ++j) {
      for (std::int64_t k = 0; k < p; ++k)
        weights[idx(j)] += inverse[idx(j * p + k)] * moment_[idx(k)];
    }
    double squares = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const double error =
          left_out_error(&values_[i * used_.size()], targets_[i], inverse, weights);
      squares += error * error;
    }
    return squares;
  }

  LinearFit with(const std::vector<double>& weights) const {
    LinearFit fit = fit_;
    for (std::size_t j = 0; j < weights.size(); ++j) fit.weight[used_[j]] = weights[j];
    return fit;
  }

 private:
  void standardize(std::span<const FeatureVector> rows, std::size_t j) {
    double mean = 0, square = 0, size = 0;
    for (const FeatureVector& row : rows) mean += row[j] / n_;
    for (const FeatureVector& row : rows) {
      square += (row[j] - mean) * (row[j] - mean) / n_;
      size = std::max(size, std::abs(row[j]));
    }
    fit_.center[j] = mean;
    // A constant feature differs from its mean by rounding alone.
    if (!(square > 1e-24 * size * size)) return;
    fit_.scale[j] = exact::sqrt(square);
    used_.push_back(j);
  }

  void add_products(const double* row, double target) {
    const std::size_t p = used_.size();
    for (std::size_t j = 0; j < p; ++j) {
      moment_[j] += row[j] * target;
      for (std::size_t k = 0; k < p; ++k) gram_[j * p + k] += row[j] * row[k];
    }
  }

  // The residual over 1 less the leverage, in which the intercept counts, too.
  double left_out_error(const double* row, double target, const std::vector<double>& inverse,
                        const std::vector<double>& weights) const {
    const std::size_t p = used_.size();
    double leverage = 1 / n_, residual = target;
    for (std::size_t j = 0; j < p; ++j) {
      residual -= row[j] * weights[j];
      for (std::size_t k = 0; k < p; ++k) leverage += row[j] * inverse[j * p + k] * row[k];
    }
    return residual / std::max(1 - leverage, 1e-9);
  }

  double n_;
  LinearFit fit_;
  std::vector<std::size_t> used_;
  std::vector<double> values_, targets_, gram_, moment_;
};

}  // namespace

double LinearFit::operator()(const FeatureVector& features) const {
  double sum = intercept;
  for (std::size_t j = 0; j < forecast_features; ++j) {
    if (scale[j] > 0) sum += weight[j] * ((features[j] - center[j]) / scale[j]);
  }
  return sum;
}

LinearFit fit_ridge(std::span<const FeatureVector> rows, std::span<const double> targets) {
  if (rows.size() != targets.size() || rows.size() < 2) {
    throw InvalidArgument("forecast.training",
                          fmt::format("{} rows of features and {} targets are no training data",
                                      rows.size(), targets.size()),
                          "as many targets as rows, at least two", "");
  }
  const Examples examples(rows, targets);
  std::vector<double> weights, best_weights;
  double least = exact::infinity();
  for (const double penalty : penalties) {
    const double squares = examples.solve(penalty, weights);
    if (!(squares < least)) continue;
    least = squares;
    best_weights = weights;
  }
  return examples.with(best_weights);
}

}  // namespace kiln
