// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "linear_model.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/objectives/catalog_density.hpp"
#include "kiln/problems/densities/linear_regression.hpp"

namespace kiln::problems {
namespace {

using Columns = std::vector<std::vector<double>>;

double norm_from(const std::vector<double>& column, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < column.size(); ++i) sum += column[i] * column[i];
  if (std::isnormal(sum)) return std::sqrt(sum);
  // Squares of 1e300 or 1e-300 are none.
  double largest = 0;
  for (std::size_t i = first; i < column.size(); ++i) {
    largest = std::max(largest, std::abs(column[i]));
  }
  if (!std::isnormal(largest)) return largest;
  sum = 0;
  for (std::size_t i = first; i < column.size(); ++i) {
    sum += column[i] / largest * (column[i] / largest);
  }
  return largest * std::sqrt(sum);
}

/// The triangular factor of the QR decomposition by Householder's reflections: [m][m], row after
/// row, for m columns of equal length.
std::vector<double> triangular_factor(Columns a) {
  const std::size_t m = a.size();
  for (auto& column : a) column.resize(std::max(column.size(), m));
  for (std::size_t k = 0; k < m; ++k) {
    const double norm = norm_from(a[k], k);
    if (norm == 0) continue;
    // The sign that does not cancel.
    const double diagonal = a[k][k] > 0 ? -norm : norm;
    std::vector<double> v(a[k].begin() + static_cast<std::ptrdiff_t>(k), a[k].end());
    v[0] -= diagonal;
    const double size = norm_from(v, 0);
    for (std::size_t j = k + 1; j < m; ++j) {
      double along = 0;
      for (std::size_t i = k; i < a[j].size(); ++i) along += v[i - k] / size * a[j][i];
      for (std::size_t i = k; i < a[j].size(); ++i) a[j][i] -= 2 * along * (v[i - k] / size);
    }
    std::fill(a[k].begin() + static_cast<std::ptrdiff_t>(k), a[k].end(), 0.0);
    a[k][k] = diagonal;
  }
  std::vector<double> factor(m * m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i; j < m; ++j) factor[i * m + j] = a[j][i];
  }
  return factor;
}

/// Where nothing holds a coefficient or sigma there is no posterior.
void check_proper(const LinearModel& model, const std::vector<double>& factor,
                  const ModelData& data) {
  const std::size_t k = model.columns.size(), m = k + 1;
  const auto is_flat = [](const Regressor& column) { return std::isinf(column.prior_sd); };
  const auto flat = static_cast<std::size_t>(std::ranges::count_if(model.columns, is_flat));
  const auto fail = [&](std::string message, std::string expected) {
    throw ParseError(data.source(), {{0, 0, std::move(message), std::move(expected)}}, 1);
  };
  if (flat > 0 && model.y.size() < k + 2) {
    fail("the data have " + std::to_string(model.y.size()) + " rows, too few for " +
             std::to_string(k) + " coefficients with flat priors",
         "at least " + std::to_string(k + 2) + " rows");
  }
  constexpr double tiny = 1e-12;
  for (std::size_t j = 0; j < k; ++j) {
    const double rest = std::abs(factor[j * m + j]);
    if (is_flat(model.columns[j]) && rest <= tiny * norm_from(model.columns[j].values, 0)) {
      fail("the column of '" + model.columns[j].name +
               "' is a linear combination of the columns before it",
           "linearly independent columns, because the prior is flat");
    }
  }
  if (std::abs(factor[k * m + k]) <= tiny * norm_from(model.y, 0)) {
    fail("the columns fit the target exactly, without residuals",
         "a target with residuals, because the residuals determine sigma");
  }
}

/// Minus the log posterior without constants, row by row.
double plain_energy(const LinearModel& model, Point x) {
  const std::size_t k = model.columns.size();
  const double sigma = std::exp(x[k]);
  double energy = -std::log(sigma);  // Jacobian of log sigma
  for (std::size_t j = 0; j < k; ++j) {
    const double z = (x[j] - model.columns[j].prior_mean) / model.columns[j].prior_sd;
    energy += z * z / 2;
  }
  const double s = sigma / model.sigma_prior.scale;
  if (model.sigma_prior.kind == ScalePriorKind::half_cauchy) energy += std::log(1 + s * s);
  if (model.sigma_prior.kind == ScalePriorKind::half_normal) energy += s * s / 2;
  for (std::size_t i = 0; i < model.y.size(); ++i) {
    double mean = 0;
    for (std::size_t j = 0; j < k; ++j) mean += model.columns[j].values[i] * x[j];
    const double z = (model.y[i] - mean) / sigma;
    energy += z * z / 2 + std::log(sigma);
  }
  return energy;
}

/// Coordinates in which the law of a linear model with flat priors is round.
struct Whitening {
  std::size_t k = 0;
  std::vector<double> factor;         ///< R, [k + 1][k + 1]
  std::vector<double> least_squares;  ///< of the coefficients, [k]
  double scale = 1;                   ///< deviation of the residuals

  /// Solves R x = y by back substitution, in place.
  void solve(std::vector<double>& x) const {
    const std::size_t m = k + 1;
    for (std::size_t i = k; i-- > 0;) {
      for (std::size_t j = i + 1; j < k; ++j) x[i] -= factor[i * m + j] * x[j];
      x[i] /= factor[i * m + i];
    }
  }

  /// Coefficients and log sigma of a point.
  std::vector<double> raw(Point u) const {
    std::vector<double> x(u.begin(), u.end());
    solve(x);
    for (std::size_t j = 0; j < k; ++j) x[j] = least_squares[j] + scale * x[j];
    x[k] += std::log(scale);
    return x;
  }

  std::vector<double> white(Point x) const {
    std::vector<double> u(k + 1);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = i; j < k; ++j) {
        u[i] += factor[i * (k + 1) + j] * (x[j] - least_squares[j]) / scale;
      }
    }
    u[k] = x[k] - std::log(scale);
    return u;
  }
};

Whitening whitening_of(std::vector<double> factor, std::size_t k, std::size_t rows) {
  const std::size_t m = k + 1;
  Whitening w{k, std::move(factor), std::vector<double>(k), 1};
  for (std::size_t i = 0; i < k; ++i) w.least_squares[i] = w.factor[i * m + k];
  w.solve(w.least_squares);
  w.scale = std::abs(w.factor[k * m + k]) / std::sqrt(static_cast<double>(rows));
  return w;
}

/// The factor of [X y] in white coordinates.
std::vector<double> white_factor(const Whitening& w) {
  const std::size_t m = w.k + 1;
  std::vector<double> factor(m * m);
  for (std::size_t i = 0; i < w.k; ++i) factor[i * m + i] = 1;
  factor[m * m - 1] = w.factor[m * m - 1] / w.scale;
  return factor;
}

/// How far the energy of the raw data may be off by rounding, where residuals are within a hundred
/// deviations: their terms may be much larger, and cancel.
double rounding_of(const LinearModel& model, const Whitening& w) {
  const auto rows = static_cast<double>(model.y.size());
  double largest = 0;
  for (std::size_t i = 0; i < model.y.size(); ++i) {
    double size = std::abs(model.y[i]);
    for (std::size_t j = 0; j < w.k; ++j) {
      size += std::abs(w.least_squares[j] * model.columns[j].values[i]);
    }
    largest = std::max(largest, size / w.scale);
  }
  constexpr double epsilon = 0x1p-50, deviations = 100;
  return rows * (1e-9 + epsilon * static_cast<double>(w.k + 2) * largest * deviations);
}

void whiten(const LinearModel& model, DensityModel& made, std::vector<double>& factor,
            LinearRegression& density) {
  const auto k = static_cast<std::size_t>(density.terms);
  const auto w = std::make_shared<const Whitening>(
      whitening_of(factor, k, static_cast<std::size_t>(density.rows)));
  factor = white_factor(*w);
  density.log_scale = std::log(w->scale);
  made.rounding = rounding_of(model, *w);
  made.to_written = [w](Point u) { return w->raw(u); };
  made.from_written = [w](Point x) { return w->white(x); };
}

}  // namespace

DensityModel make_linear(LinearModel model, const ModelData& data) {
  const std::size_t k = model.columns.size();
  Columns columns;
  std::vector<double> means, precisions;
  DensityModel made;
  Quantities& quantities = made.posterior.emplace().quantities;
  for (const Regressor& column : model.columns) {
    columns.push_back(column.values);
    means.push_back(column.prior_mean);
    precisions.push_back(1 / (column.prior_sd * column.prior_sd));
    quantities.names.push_back(column.name);
  }
  columns.push_back(model.y);
  std::vector<double> factor = triangular_factor(std::move(columns));
  check_proper(model, factor, data);

  LinearRegression density;
  density.terms = static_cast<int>(k);
  density.rows = static_cast<double>(model.y.size());
  density.sigma_prior = model.sigma_prior;
  if (model.whitened) whiten(model, made, factor, density);
  auto source = std::make_shared<CatalogDensitySource<LinearRegression>>(density, true);
  source->array(&LinearRegression::factor, std::move(factor));
  source->array(&LinearRegression::prior_mean, std::move(means));
  source->array(&LinearRegression::prior_precision, std::move(precisions));
  made.source = std::move(source);
  made.sizes = {{"rows", std::to_string(model.y.size())}};
  quantities.names.emplace_back("sigma");
  const auto raw = made.to_written;
  quantities.compute = [k, raw](Point x, std::span<double> values) {
    const std::vector<double> of_raw = raw ? raw(x) : std::vector<double>();
    const Point at = raw ? Point(of_raw) : x;
    std::copy(at.begin(), at.end(), values.begin());
    values[k] = std::exp(at[k]);
  };
  const auto kept = std::make_shared<const LinearModel>(std::move(model));
  made.plain = [kept, raw](Point x) { return plain_energy(*kept, raw ? Point(raw(x)) : x); };
  return made;
}

}  // namespace kiln::problems
