// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Gaussian processes, and predators and prey.
#include <algorithm>
#include <array>
#include <cmath>

#include "kiln/objectives/catalog_density.hpp"
#include "kiln/problems/densities/gaussian_process_regression.hpp"
#include "kiln/problems/densities/lotka_volterra.hpp"

#include "posterior_models.hpp"
#include "squared.hpp"

namespace kiln::problems {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix cholesky(Matrix a) {
  const std::size_t n = a.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      for (std::size_t i = j; i < n; ++i) a[i][j] -= a[i][k] * a[j][k];
    }
    const double root = std::sqrt(a[j][j]);
    for (std::size_t i = j; i < n; ++i) a[i][j] /= root;
    for (std::size_t k = j + 1; k < n; ++k) a[j][k] = 0;
  }
  return a;
}

Matrix factor_of(const std::vector<double>& x, double rho, double alpha, double diagonal) {
  Matrix covariance(x.size(), std::vector<double>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      covariance[i][j] = alpha * alpha * std::exp(-squared(x[i] - x[j]) / (2 * rho * rho));
    }
    covariance[i][i] += diagonal;
  }
  return cholesky(std::move(covariance));
}

/// f = L z of a point.
std::vector<double> latent(const std::vector<double>& x, Point at) {
  const Matrix l = factor_of(x, std::exp(at[0]), std::exp(at[1]), 1e-10);
  std::vector<double> f(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) f[i] += l[i][j] * at[2 + j];
  }
  return f;
}

double plain_process(const std::vector<double>& x, const std::vector<double>& y, bool counts,
                     Point at) {
  const double rho = std::exp(at[0]), alpha = std::exp(at[1]);
  double energy = -(24 * at[0] - 4 * rho) - at[0] + squared(alpha) / 8 - at[1];
  if (counts) {
    const std::vector<double> f = latent(x, at);
    for (std::size_t i = 0; i < x.size(); ++i) {
      energy += squared(at[2 + i]) / 2 + std::exp(f[i]) - y[i] * f[i];
    }
    return energy;
  }
  const double sigma = std::exp(at[2]);
  energy += squared(sigma) / 2 - at[2];
  const Matrix l = factor_of(x, rho, alpha, sigma);
  std::vector<double> white(y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) white[i] -= l[i][j] * white[j];
    white[i] /= l[i][i];
    energy += squared(white[i]) / 2 + std::log(l[i][i]);
  }
  return energy;
}

struct Observations {
  std::vector<double> time, log_y;
};

using Numbers = std::array<double, 2>;

Numbers step_of(const std::array<double, 4>& rate, const Numbers& s, double h) {
  const auto slope = [&](const Numbers& at) -> Numbers {
    return {rate[0] - rate[1] * std::exp(at[1]), -rate[2] + rate[3] * std::exp(at[0])};
  };
  const auto moved = [&](const Numbers& d, double by) -> Numbers {
    return {s[0] + by * d[0], s[1] + by * d[1]};
  };
  const Numbers a = slope(s), b = slope(moved(a, h / 2)), c = slope(moved(b, h / 2)),
                d = slope(moved(c, h));
  return moved({a[0] + 2 * b[0] + 2 * c[0] + d[0], a[1] + 2 * b[1] + 2 * c[1] + d[1]}, h / 6);
}

double plain_lotka_volterra(const Observations& data, Point x) {
  std::array<double, 4> rate{};
  std::ranges::transform(x.first(4), rate.begin(), [](double xi) { return std::exp(xi); });
  double energy = squared(x[4] - std::log(10)) / 2 + squared(x[5] - std::log(10)) / 2;
  energy += squared(x[6] + 1) / 2 + squared(x[7] + 1) / 2;
  energy += squared((rate[0] - 1) / 0.5) / 2 + squared((rate[2] - 1) / 0.5) / 2;
  energy += squared((rate[1] - 0.05) / 0.05) / 2 + squared((rate[3] - 0.05) / 0.05) / 2;
  for (const double xi : x.first(4)) energy -= xi;
  Numbers s{x[4], x[5]};
  for (std::size_t t = 0; t < data.time.size(); ++t) {
    const double span = t == 0 ? 0 : data.time[t] - data.time[t - 1];
    const int steps = static_cast<int>(span / LotkaVolterra{}.longest_step + 0.999);
    for (int i = 0; i < steps; ++i) s = step_of(rate, s, span / steps);
    for (std::size_t k = 0; k < 2; ++k) {
      energy += squared((data.log_y[2 * t + k] - s[k]) / std::exp(x[6 + k])) / 2 + x[6 + k];
    }
  }
  return energy;
}

Observations observations_of(const ModelData& data) {
  const std::int64_t n = data.count("N", 1, 1 << 20);
  const std::vector<double>& later = data.vector("ts", n);
  Observations made;
  made.time = {0};
  for (const double t : later) {
    if (!(t > made.time.back())) data.refuse("ts", "does not increase", "ascending times after 0");
    if (t > 1e5) data.refuse("ts", "is too long", "times up to 100000");
    made.time.push_back(t);
  }
  const DataArray& y = data.matrix("y", n);
  if (y.shape[1] != 2)
    data.refuse("y", "does not have two columns", "two columns: prey and predators");
  const auto add = [&](const char* name, const std::vector<double>& values) {
    for (const double value : values) {
      if (!(value > 0)) data.refuse(name, "has a value that is not positive", "numbers of animals");
      made.log_y.push_back(std::log(value));
    }
  };
  add("y_init", data.vector("y_init", 2));
  add("y", y.values);
  return made;
}

}  // namespace

DensityModel gaussian_process(const ModelData& data, bool counts) {
  constexpr std::int64_t max_points = 256;  // matrices of a chain lie in its scratch memory
  const std::int64_t n = data.count("N", 1, max_points);
  const std::vector<double>& x = data.vector("x", n);
  std::vector<double> y = data.vector(counts ? "k" : "y", n);
  if (counts) data.integers("k", n, 0, 1 << 30);
  GaussianProcessRegression density;
  density.kind = counts ? ProcessKind::poisson : ProcessKind::normal;
  density.points = static_cast<int>(n);
  auto source = std::make_shared<CatalogDensitySource<GaussianProcessRegression>>(density, true);
  source->array(&GaussianProcessRegression::x, x);
  source->array(&GaussianProcessRegression::y, y);
  DensityModel model;
  model.source = std::move(source);
  model.posterior.emplace();
  // Near the singular covariance the last digits depend on the order of operations.
  model.rounding = counts ? 1e-6 : 0;
  model.posterior->quantities.names = {"rho", "alpha"};
  if (counts) append_indexed(model.posterior->quantities.names, "f", x.size());
  if (!counts) model.posterior->quantities.names.emplace_back("sigma");
  model.posterior->quantities.compute = [x, counts](Point at, std::span<double> values) {
    for (std::size_t i = 0; i < (counts ? 2U : 3U); ++i) values[i] = std::exp(at[i]);
    if (counts) std::ranges::copy(latent(x, at), values.begin() + 2);
  };
  model.plain = [x, y = std::move(y), counts](Point at) { return plain_process(x, y, counts, at); };
  return model;
}

DensityModel lotka_volterra(const ModelData& data) {
  Observations made = observations_of(data);
  LotkaVolterra density;
  density.times = static_cast<int>(made.time.size()) - 1;
  auto source = std::make_shared<CatalogDensitySource<LotkaVolterra>>(density, true);
  source->array(&LotkaVolterra::time, made.time);
  source->array(&LotkaVolterra::log_y, made.log_y);
  DensityModel model;
  model.source = std::move(source);
  model.posterior.emplace();
  append_indexed(model.posterior->quantities.names, "theta", 4);
  append_indexed(model.posterior->quantities.names, "z_init", 2);
  append_indexed(model.posterior->quantities.names, "sigma", 2);
  model.posterior->quantities.compute = [](Point x, std::span<double> values) {
    std::ranges::transform(x, values.begin(), [](double xi) { return std::exp(xi); });
  };
  model.plain = [made = std::move(made)](Point x) { return plain_lotka_volterra(made, x); };
  return model;
}

}  // namespace kiln::problems
