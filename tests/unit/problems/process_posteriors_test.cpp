// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Gaussian processes, and predators and prey, as posteriors_test.cpp does for the others.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/densities/all.hpp"

#include "densities/posterior_checks.hpp"

namespace kiln::process_posteriors_test {
namespace {

using problems::DensityModel;
using problems::Point;
using problems::posterior_model;
using namespace test;

/// The determinant and the solution of a small system by elimination without any factor.
std::pair<double, Coordinates> eliminate(std::vector<Coordinates> a, Coordinates b) {
  double log_determinant = 0;
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    log_determinant += std::log(a[k][k]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = 0; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = 0; k < n; ++k) b[k] /= a[k][k];
  return {log_determinant, b};
}

double process_prior(Point x) {
  return gamma_lpdf(std::exp(x[0]), 25, 4) + x[0] + normal_lpdf(std::exp(x[1]), 0, 2) + x[1];
}

TEST(Posteriors, GaussianProcessRegression) {
  const Coordinates y{4.75906, 1.59423, 2.99548, 5.27501,  1.66472, 2.24347,
                      2.8914,  4.08681, 4.60588, 0.802364, 3.92136};
  const DensityModel model = posterior_model("gp-regr", nullptr);
  expect_model<GaussianProcessRegression>(model, [&](Point x) {
    const double sigma = std::exp(x[2]);
    std::vector<Coordinates> k(11, Coordinates(11));
    for (std::size_t i = 0; i < 11; ++i) {
      for (std::size_t j = 0; j < 11; ++j) {
        const double d = 2 * (static_cast<double>(i) - static_cast<double>(j));
        k[i][j] = std::exp(2 * x[1]) * std::exp(-d * d / 2 / std::exp(2 * x[0]));
      }
      k[i][i] += sigma;
    }
    const auto [log_determinant, solution] = eliminate(k, y);
    double square = 0;
    for (std::size_t i = 0; i < 11; ++i) square += y[i] * solution[i];
    return process_prior(x) + normal_lpdf(sigma, 0, 1) + x[2] - log_determinant / 2 - square / 2;
  });
  EXPECT_EQ(model.posterior->quantities.names, (std::vector<std::string>{"rho", "alpha", "sigma"}));
}

TEST(Posteriors, GaussianProcessOfCounts) {
  ModelData data("f");
  data.add({"N", {}, {3}});
  data.add({"x", {3}, {0, 1, 3}});
  data.add({"k", {3}, {4, 0, 7}});
  const DensityModel model = posterior_model("gp-pois-regr", &data);
  const auto f_of = [](Point x) {  // three points: the factor written out
    const double a2 = std::exp(2 * x[1]), r2 = 2 * std::exp(2 * x[0]), d = a2 + 1e-10;
    const double k01 = a2 * std::exp(-1 / r2), k02 = a2 * std::exp(-9 / r2),
                 k12 = a2 * std::exp(-4 / r2);
    const double l00 = std::sqrt(d), l10 = k01 / l00, l11 = std::sqrt(d - l10 * l10);
    const double l20 = k02 / l00, l21 = (k12 - l20 * l10) / l11;
    const double l22 = std::sqrt(d - l20 * l20 - l21 * l21);
    return Coordinates{l00 * x[2], l10 * x[2] + l11 * x[3], l20 * x[2] + l21 * x[3] + l22 * x[4]};
  };
  expect_model<GaussianProcessRegression>(model, [&](Point x) {
    const double counts[] = {4, 0, 7};
    const Coordinates f = f_of(x);
    double lp = process_prior(x);
    for (std::size_t i = 0; i < 3; ++i) {
      lp += normal_lpdf(x[2 + i], 0, 1) + poisson_lpmf(counts[i], std::exp(f[i]));
    }
    return lp;
  });
  const Coordinates x{0.1, 0.2, 0.3, 0.4, 0.5};
  EXPECT_NEAR(quantities_at(model, x)[4], f_of(x)[2], 1e-12);
}

TEST(Posteriors, LotkaVolterra) {
  const double y[] = {30,   4,    47.2, 6.1,  70.2, 9.8,  77.4, 35.2, 36.3, 59.4, 20.6,
                      41.7, 18.1, 19,   21.4, 13,   22,   8.3,  25.4, 9.1,  27.1, 7.4,
                      40.3, 8,    57,   12.3, 76.6, 19.5, 52.3, 45.7, 19.5, 51.1, 11.2,
                      29.7, 7.6,  15.8, 14.6, 9.7,  16.2, 10.1, 24.7, 8.6};
  const DensityModel model = posterior_model("lotka-volterra", nullptr);
  // Integrated in the numbers themselves with steps that are ten times as short.
  const auto law = [&](Point x) {
    const double t1 = std::exp(x[0]), t2 = std::exp(x[1]), t3 = std::exp(x[2]), t4 = std::exp(x[3]);
    double u = std::exp(x[4]), v = std::exp(x[5]);
    double lp = normal_lpdf(t1, 1, 0.5) + normal_lpdf(t2, 0.05, 0.05) + normal_lpdf(t3, 1, 0.5) +
                normal_lpdf(t4, 0.05, 0.05) + x[0] + x[1] + x[2] + x[3];
    lp += lognormal_lpdf(u, std::log(10), 1) + x[4] + lognormal_lpdf(v, std::log(10), 1) + x[5];
    for (std::size_t k = 6; k < 8; ++k) lp += lognormal_lpdf(std::exp(x[k]), -1, 1) + x[k];
    const double h = 1.0 / 160;
    for (std::size_t t = 0; t < 21; ++t) {
      for (int i = 0; t > 0 && i < 160; ++i) {
        const auto du = [&](double a, double b) { return (t1 - t2 * b) * a; };
        const auto dv = [&](double a, double b) { return (-t3 + t4 * a) * b; };
        const double u1 = du(u, v), v1 = dv(u, v);
        const double u2 = du(u + h / 2 * u1, v + h / 2 * v1),
                     v2 = dv(u + h / 2 * u1, v + h / 2 * v1);
        const double u3 = du(u + h / 2 * u2, v + h / 2 * v2),
                     v3 = dv(u + h / 2 * u2, v + h / 2 * v2);
        const double u4 = du(u + h * u3, v + h * v3), v4 = dv(u + h * u3, v + h * v3);
        u += h / 6 * (u1 + 2 * u2 + 2 * u3 + u4);
        v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
      }
      lp += lognormal_lpdf(y[2 * t], std::log(u), std::exp(x[6])) +
            lognormal_lpdf(y[2 * t + 1], std::log(v), std::exp(x[7]));
    }
    return lp;
  };
  // About the reference means of posteriordb; the error of the integration is below 1e-3 there.
  const Coordinates mean{std::log(0.54686),  std::log(0.027747), std::log(0.8001),
                         std::log(0.024086), std::log(34.035),   std::log(5.9359),
                         std::log(0.24806),  std::log(0.25102)};
  Coordinates other = mean;
  for (double& xi : other) xi += 0.02;
  const double difference =
      model.source->evaluate(mean, {}).total() - model.source->evaluate(other, {}).total();
  EXPECT_NEAR(difference, law(other) - law(mean), 1e-3);
  EXPECT_NEAR(model.plain(mean), model.source->evaluate(mean, {}).total(), 1e-9);
  const auto* const source =
      dynamic_cast<const CatalogDensitySource<LotkaVolterra>*>(model.source.get());
  ASSERT_NE(source, nullptr);
  expect_gradients(source->on_host(), {mean, other});
  expect_teams_agree(source->on_host(), mean);
}

}  // namespace
}  // namespace kiln::process_posteriors_test
