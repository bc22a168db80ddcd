// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Posteriors against the laws of their models as text books write them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/densities/all.hpp"

#include "densities/model_data_cases.hpp"
#include "densities/posterior_checks.hpp"

namespace kiln::posteriors_test {
namespace {

using problems::DensityModel;
using problems::Point;
using problems::posterior_model;
using namespace test;

double logistic(double u) { return 1 / (1 + std::exp(-u)); }

TEST(Posteriors, EightSchools) {
  const double y[] = {28, 8, -3, 7, -1, 1, 18, 12}, s[] = {15, 10, 16, 11, 9, 11, 10, 18};
  for (const bool centered : {false, true}) {
    const DensityModel model =
        posterior_model(centered ? "eight-schools-centered" : "eight_schools", nullptr);
    expect_model<EightSchools>(
        model,
        [&](Point x) {
          const double mu = x[8], tau = std::exp(x[9]);
          double lp = normal_lpdf(mu, 0, 5) + cauchy_lpdf(tau, 0, 5) + x[9];
          for (std::size_t j = 0; j < 8; ++j) {
            const double theta = centered ? x[j] : mu + tau * x[j];
            lp += normal_lpdf(y[j], theta, s[j]);
            lp += centered ? normal_lpdf(theta, mu, tau) : normal_lpdf(x[j], 0, 1);
          }
          return lp;
        },
        3);
    EXPECT_EQ(model.posterior->quantities.names,
              (std::vector<std::string>{"theta[1]", "theta[2]", "theta[3]", "theta[4]", "theta[5]",
                                        "theta[6]", "theta[7]", "theta[8]", "mu", "tau"}));
    const Coordinates at = quantities_at(model, {1, 2, 3, 4, 5, 6, 7, 8, 0.5, std::log(2)});
    EXPECT_DOUBLE_EQ(at[1], centered ? 2 : 4.5);
    EXPECT_DOUBLE_EQ(at[9], 2);
  }
}

/// The likelihood and prior of a regression; `design(i)` are the values beside the coefficients.
Law regression(const Coordinates& y, std::function<Coordinates(std::size_t)> design,
               std::function<double(Point, double)> log_prior) {
  return [=](Point x) {
    const double sigma = std::exp(x[x.size() - 1]);
    double lp = log_prior(x, sigma) + x[x.size() - 1];
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Coordinates row = design(i);
      double mean = 0;
      for (std::size_t j = 0; j < row.size(); ++j) mean += row[j] * x[j];
      lp += normal_lpdf(y[i], mean, sigma);
    }
    return lp;
  };
}

TEST(Posteriors, KidScores) {
  const ModelData data = kidscore_data();
  const Coordinates y = data.vector("kid_score"), hs = data.vector("mom_hs"),
                    iq = data.vector("mom_iq"), work = data.vector("mom_work");
  const auto flat = [](Point, double) { return 0.0; };
  const auto cauchy = [](Point, double sigma) { return cauchy_lpdf(sigma, 0, 2.5); };
  const double mean_hs = 0.7, mean_iq = 99.9;  // of the ten children
  const double sd_hs = 0.48304589153964794, sd_iq = 20.941452777790857;
  const auto centred = [&](double c_hs, double c_iq, double w_hs, double w_iq) {
    return [=](std::size_t i) {
      const double a = (hs[i] - c_hs) / w_hs, b = (iq[i] - c_iq) / w_iq;
      return Coordinates{1, a, b, a * b};
    };
  };
  const std::pair<const char*, Law> cases[] = {
      {"momhs", regression(
                    y,
                    [=](std::size_t i) {
                      return Coordinates{1, hs[i]};
                    },
                    cauchy)},
      {"momiq", regression(
                    y,
                    [=](std::size_t i) {
                      return Coordinates{1, iq[i]};
                    },
                    cauchy)},
      {"momhsiq", regression(
                      y,
                      [=](std::size_t i) {
                        return Coordinates{1, hs[i], iq[i]};
                      },
                      cauchy)},
      {"interaction", regression(y, centred(0, 0, 1, 1), cauchy)},
      {"interaction-c", regression(y, centred(mean_hs, mean_iq, 1, 1), flat)},
      {"interaction-c2", regression(y, centred(0.5, 100, 1, 1), flat)},
      {"interaction-z", regression(y, centred(mean_hs, mean_iq, 2 * sd_hs, 2 * sd_iq), flat)},
      {"mom_work", regression(
                       y,
                       [=](std::size_t i) {
                         return Coordinates{1, work[i] == 2 ? 1.0 : 0, work[i] == 3 ? 1.0 : 0,
                                            work[i] == 4 ? 1.0 : 0};
                       },
                       flat)},
  };
  for (const auto& [variant, law] : cases) {
    SCOPED_TRACE(variant);
    const DensityModel model = posterior_model(std::string("kidscore_") + variant, &data);
    expect_model<LinearRegression>(model, law);
    EXPECT_EQ(model.posterior->quantities.names.front(), "beta[1]");
    EXPECT_EQ(model.posterior->quantities.names.back(), "sigma");
  }
}

TEST(Posteriors, LinearRegressionWithNormalPriors) {
  const ModelData data = regression_data();
  const Coordinates y = data.vector("y");
  const DataArray x = data.matrix("X", 6);
  expect_model<LinearRegression>(posterior_model("blr", &data),
                                 regression(
                                     y,
                                     [&](std::size_t i) {
                                       return Coordinates{x.values[2 * i], x.values[2 * i + 1]};
                                     },
                                     [](Point at, double sigma) {
                                       return normal_lpdf(at[0], 0, 10) +
                                              normal_lpdf(at[1], 0, 10) + normal_lpdf(sigma, 0, 10);
                                     }));
}

TEST(Posteriors, Kilpisjarvi) {
  const DensityModel model = posterior_model("kilpisjarvi", nullptr);
  // Around the posterior: years are near 4000.
  Coordinates x{-60, 0.0175, 0.1}, y{-61, 0.0177, 0.2};
  const auto law = [](Point at) {
    return normal_lpdf(at[0], 9.31290322580645, 100) + normal_lpdf(at[1], 0, 0.0333333333333333);
  };
  const double prior = model.source->evaluate(x, {}).base - model.source->evaluate(y, {}).base;
  EXPECT_NEAR(prior, law(y) - law(x) + (y[2] - x[2]), 1e-12);
  EXPECT_NEAR(model.plain(x), model.source->evaluate(x, {}).total(), 1e-9);
  EXPECT_EQ(model.posterior->quantities.names,
            (std::vector<std::string>{"alpha", "beta", "sigma"}));
}

TEST(Posteriors, Autoregression) {
  ModelData data("f");
  const Coordinates y{0.5, 0.7, 0.1, -0.3, -0.2, 0.4, 0.9, 0.3};
  data.add({"K", {}, {2}});
  data.add({"T", {}, {8}});
  data.add({"y", {8}, y});
  const DensityModel model = posterior_model("arK", &data);
  expect_model<LinearRegression>(model, [&](Point x) {
    const double sigma = std::exp(x[3]);
    double lp = cauchy_lpdf(sigma, 0, 2.5) + x[3];
    for (std::size_t j = 0; j < 3; ++j) lp += normal_lpdf(x[j], 0, 10);
    for (std::size_t t = 2; t < 8; ++t) {
      lp += normal_lpdf(y[t], x[0] + x[1] * y[t - 1] + x[2] * y[t - 2], sigma);
    }
    return lp;
  });
  EXPECT_EQ(model.posterior->quantities.names,
            (std::vector<std::string>{"alpha", "beta[1]", "beta[2]", "sigma"}));
}

/// A law of coefficients and log sigma at the quantities of a model, which has other coordinates.
Law at_quantities(const DensityModel& model, const Law& law) {
  return [=, quantities = model.posterior->quantities](Point u) {
    Coordinates x(u.size());
    quantities.compute(u, x);
    x.back() = std::log(x.back());
    return law(x);
  };
}

TEST(Posteriors, TablesWithNamedOrLastTarget) {
  const ModelData data = table_data();
  const Coordinates a = data.vector("a"), b = data.vector("b"), y = data.vector("y");
  const auto flat = [](Point, double) { return 0.0; };
  const DensityModel last = posterior_model("linear-regression", &data);
  EXPECT_EQ(last.posterior->quantities.names,
            (std::vector<std::string>{"alpha", "beta[a]", "beta[b]", "sigma"}));
  const auto columns_ab = [&](std::size_t i) { return Coordinates{1, a[i], b[i]}; };
  expect_model<LinearRegression>(last, at_quantities(last, regression(y, columns_ab, flat)));
  const DensityModel named = posterior_model("linear-regression,a", &data);
  const auto columns_by = [&](std::size_t i) { return Coordinates{1, b[i], y[i]}; };
  expect_model<LinearRegression>(named, at_quantities(named, regression(a, columns_by, flat)));
}

// y = 1, 2, 4, 2 at x = 0, 1, 2, 1: least squares give 3/4 + 3/2 x with residuals of 1/4.
TEST(Posteriors, TablesHaveLeastSquaresAtTheOrigin) {
  ModelData data("f");
  data.add({"x", {4}, {0, 1, 2, 1}});
  data.add({"y", {4}, {1, 2, 4, 2}});
  const DensityModel model = posterior_model("linear-regression", &data);
  const Coordinates at = quantities_at(model, {0, 0, 0});
  EXPECT_NEAR(at[0], 0.75, 1e-14);
  EXPECT_NEAR(at[1], 1.5, 1e-14);
  EXPECT_NEAR(at[2], 0.25, 1e-14);
  const Coordinates written = model.to_written(Coordinates{0.3, -2, 0.5});
  const Coordinates back = model.from_written(written);
  EXPECT_NEAR(back[0], 0.3, 1e-13);
  EXPECT_NEAR(back[1], -2, 1e-13);
  EXPECT_NEAR(back[2], 0.5, 1e-13);
  EXPECT_NEAR(written[2], std::log(quantities_at(model, {0.3, -2, 0.5})[2]), 1e-14);
}

TEST(Posteriors, LogisticRegressions) {
  const ModelData data = table_data();
  const Coordinates a = data.vector("a"), b = data.vector("b"), y = data.vector("y");
  const auto standard = [](const Coordinates& v) {
    double mean = 0, variance = 0;
    for (const double vi : v) mean += vi / 8;
    for (const double vi : v) variance += (vi - mean) * (vi - mean) / 8;
    Coordinates z;
    for (const double vi : v) z.push_back((vi - mean) / std::sqrt(variance));
    return z;
  };
  const Coordinates za = standard(a), zy = standard(y);
  const auto likelihood = [&](double w0, double w1, double w2) {
    double lp = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      lp += bernoulli_logit_lpmf(b[i] == 2, w0 * za[i] + w1 * zy[i] + w2);
    }
    return lp;
  };
  const DensityModel plain = posterior_model("logistic-regression,b", &data);
  const auto points = points_around_zero(3, 1, 6);
  expect_log_density(*plain.source, points, [&](Point x) {
    double lp = likelihood(x[0], x[1], x[2]);
    for (std::size_t j = 0; j < 3; ++j) lp += normal_lpdf(x[j], 0, 1);
    return lp;
  });
  for (const Coordinates& x : points) EXPECT_TRUE(check_gradient(*plain.source, x).agrees());
  EXPECT_NEAR(plain.plain(points[1]), plain.source->evaluate(points[1], {}).total(), 1e-12);
  EXPECT_EQ(plain.posterior->quantities.names, (std::vector<std::string>{"w[1]", "w[2]", "w[3]"}));
  expect_model<ShrinkageLogistic>(posterior_model("hierarchical-logistic,b", &data), [&](Point x) {
    const double sigma = std::exp(x[3]);
    double lp = exponential_lpdf(sigma * sigma, 0.01) + 2 * x[3];
    for (std::size_t j = 0; j < 3; ++j) lp += normal_lpdf(x[j], 0, sigma);
    return lp + likelihood(x[0], x[1], x[2]);
  });
  const DensityModel sparse = posterior_model("sparse-logistic,b", &data);
  expect_model<ShrinkageLogistic>(sparse, [&](Point x) {
    double lp = 0, w[3];
    for (std::size_t j = 0; j < 3; ++j) {
      w[j] = x[j] * std::exp(x[3 + j]) * std::exp(x[6]);
      lp += normal_lpdf(x[j], 0, 1);
    }
    for (std::size_t j = 3; j < 7; ++j) lp += gamma_lpdf(std::exp(x[j]), 0.5, 0.5) + x[j];
    return lp + likelihood(w[0], w[1], w[2]);
  });
  EXPECT_EQ(sparse.posterior->quantities.names,
            (std::vector<std::string>{"w[1]", "w[2]", "w[3]", "local[1]", "local[2]", "local[3]",
                                      "global"}));
  EXPECT_NEAR(quantities_at(sparse, {2, 0, 0, std::log(3), 0, 0, std::log(5)})[0], 30, 1e-12);
}

TEST(Posteriors, ItemResponse) {
  const ModelData data = answers_data();
  const DensityModel model = posterior_model("item-response", &data);
  const Coordinates s = data.vector("student"), q = data.vector("question"),
                    c = data.vector("correct");
  ASSERT_EQ(model.source->dimension(), 1 + 3 + 4);
  expect_model<ItemResponse>(model, [&](Point x) {
    double lp = normal_lpdf(x[0], 0.75, 1);
    for (std::size_t i = 1; i < 8; ++i) lp += normal_lpdf(x[i], 0, 1);
    for (std::size_t k = 0; k < c.size(); ++k) {
      const double ability = x[static_cast<std::size_t>(s[k])];
      const double difficulty = x[3 + static_cast<std::size_t>(q[k])];
      lp += bernoulli_logit_lpmf(c[k] == 1, x[0] + ability - difficulty);
    }
    return lp;
  });
}

TEST(Posteriors, StochasticVolatility) {
  // Longer than a team, so that stretches of several days are put together.
  Coordinates y;
  for (int t = 0; t < 19; ++t) y.push_back(std::sin(1.7 * t) + 0.1 * t);
  ModelData data("f");
  data.add({"y", {19}, y});
  const DensityModel model = posterior_model("stochastic-volatility", &data);
  const auto h_of = [](Point x) {
    const double phi = 2 * logistic(x[0]) - 1;
    Coordinates h{x[1] + std::exp(x[2]) * x[3] / std::sqrt(1 - phi * phi)};
    for (std::size_t t = 1; t < 19; ++t) {
      h.push_back(x[1] + phi * (h[t - 1] - x[1]) + std::exp(x[2]) * x[3 + t]);
    }
    return h;
  };
  expect_model<StochasticVolatility>(model, [&](Point x) {
    const double b = logistic(x[0]);
    double lp = beta_lpdf(b, 20, 1.5) + std::log(b * (1 - b)) + cauchy_lpdf(x[1], 0, 5) +
                cauchy_lpdf(std::exp(x[2]), 0, 2) + x[2];
    const Coordinates h = h_of(x);
    for (std::size_t t = 0; t < 19; ++t) {
      lp += normal_lpdf(x[3 + t], 0, 1) + normal_lpdf(y[t], 0, std::exp(h[t] / 2));
    }
    return lp;
  });
  const Coordinates x = points_around_zero(22, 1, 1).front();
  EXPECT_NEAR(quantities_at(model, x)[3 + 18], h_of(x)[18], 1e-12);
  EXPECT_NEAR(quantities_at(model, x)[0], 2 * logistic(x[0]) - 1, 1e-14);
}

}  // namespace
}  // namespace kiln::posteriors_test
