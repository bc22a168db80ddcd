// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/backends.hpp"
#include "backends/cpu_queue.hpp"
#include "processes/process_cases.hpp"
#include "processes/process_oracle.hpp"

namespace kiln::test::gaussian_process_test {
namespace {

using oracle::all_kinds;
using oracle::Numbers;
using oracle::Real;
using oracle::uniform;
using oracle::Vector;

// The same process by the textbook: in standard units, with the scale of the targets.
struct Truth {
  oracle::Posterior posterior;
  Real centre, scale;

  Real mean(const Vector& x) const { return centre + scale * posterior.mean_at(x.data()); }
  Real variance(const Vector& x) const { return scale * scale * posterior.variance_at(x.data()); }
};

/// @param mean  in standard units; nothing: the fitted one
Truth truth_of(const GaussianProcessOptions& options, const Hyperparameters& h,
               const Observations& seen, std::vector<std::uint8_t> categorical = {},
               std::optional<Real> mean = std::nullopt, const Observations& pending = {}) {
  const auto n = static_cast<Real>(seen.values.size());
  Real centre = 0, square = 0;
  for (const double y : seen.values) centre += y / n;
  for (const double y : seen.values)
    square += (y - centre) * (y - centre) / std::max(n - 1, Real(1));
  const Real scale = square > 0 ? std::sqrt(square) : Real(1);
  oracle::Prior prior{options.covariance, 1, {}, std::move(categorical)};
  prior.dimension = static_cast<std::int64_t>(seen.points.size() / seen.values.size());
  for (const double l : h.lengths) prior.logarithms.push_back(std::log(Real(l)));
  prior.logarithms.push_back(std::log(Real(h.variance)));
  prior.logarithms.push_back(std::log(Real(h.noise)));
  if (options.covariance == CovarianceKind::rational_quadratic) {
    prior.logarithms.push_back(std::log(Real(h.alpha)));
  }
  Vector points(seen.points.begin(), seen.points.end()), values;
  points.insert(points.end(), pending.points.begin(), pending.points.end());
  for (const double y : seen.values) values.push_back((y - centre) / scale);
  for (const double y : pending.values) values.push_back((y - centre) / scale);
  return {{prior, points, values, mean}, centre, scale};
}

void expect_predictions(const Predictions& out, const Truth& truth, const Numbers& points,
                        double tolerance = 1e-10) {
  const std::size_t d = points.size() / out.mean.size();
  const auto scale = static_cast<double>(truth.scale);
  for (std::size_t i = 0; i < out.mean.size(); ++i) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(i * d);
    const Vector x(begin, begin + static_cast<std::ptrdiff_t>(d));
    const auto mean = static_cast<double>(truth.mean(x));
    EXPECT_NEAR(out.mean[i], mean, tolerance * (scale + std::abs(mean))) << i;
    EXPECT_NEAR(out.variance[i], static_cast<double>(truth.variance(x)), tolerance * scale * scale);
  }
}

class GaussianProcessTest : public testing::Test {
 protected:
  GaussianProcess conditioned(const GaussianProcessOptions& options,
                              const std::vector<Observations>& all,
                              std::vector<std::uint8_t> categorical = {}) {
    const auto d = static_cast<std::int64_t>(all[0].points.size() / all[0].values.size());
    GaussianProcess process(*queue_, d, options, std::move(categorical));
    process.observe(all);
    process.set_hyperparameters(std::vector<Hyperparameters>(all.size(), typical(options, d)));
    return process;
  }
  std::unique_ptr<Queue> queue_ = cpu_queue();
};

TEST_F(GaussianProcessTest, PredictsLikeTheTextbook) {
  for (const CovarianceKind kind : all_kinds) {
    for (const std::int64_t n : {1, 2, 25, 60}) {
      for (const bool axis_lengths : {true, false}) {
        SCOPED_TRACE(std::to_string(int(kind)) + ", " + std::to_string(n) + " points");
        GaussianProcessOptions options = options_of(kind, 3);
        options.axis_lengths = axis_lengths;
        const Observations seen = observe_some(n, 3, idx(n));
        const GaussianProcess process = conditioned(options, {seen});
        const Numbers at = uniform(30, -0.2, 1.2, 9);
        const Truth truth = truth_of(options, typical(options, 3), seen);
        expect_predictions(process.predict(0, at), truth, at);
        expect_predictions(process.predict(0, seen.points), truth, seen.points);
      }
    }
  }
}

TEST_F(GaussianProcessTest, TakesTheMeanOfTheDataIfThatIsWanted) {
  GaussianProcessOptions options = options_of(CovarianceKind::matern52, 2);
  options.fitted_mean = false;
  const Observations seen = observe_some(20, 2, 1);
  const GaussianProcess process = conditioned(options, {seen});
  const Numbers at = uniform(20, 0, 1, 9);
  expect_predictions(process.predict(0, at),
                     truth_of(options, typical(options, 2), seen, {}, Real(0)), at);
}

TEST_F(GaussianProcessTest, TakesCategoriesAsNames) {
  Observations seen = observe_some(30, 3, 2);
  for (std::size_t i = 0; i < 30; ++i) {
    seen.points[3 * i + 1] = std::floor(4 * seen.points[3 * i + 1]);
    seen.values[i] += seen.points[3 * i + 1] == 2 ? 30 : 0;
  }
  Numbers at = uniform(30, 0, 1, 9);
  for (std::size_t i = 0; i < 10; ++i) at[3 * i + 1] = double(i % 5);  // 4 was never seen
  for (const CovarianceKind kind : all_kinds) {
    const GaussianProcessOptions options = options_of(kind, 3);
    const GaussianProcess process = conditioned(options, {seen}, {0, 1, 0});
    const Truth truth = truth_of(options, typical(options, 3), seen, {0, 1, 0});
    expect_predictions(process.predict(0, at), truth, at);
  }
}

TEST_F(GaussianProcessTest, HasTheEvidenceOfTheTextbook) {
  for (const CovarianceKind kind : all_kinds) {
    const GaussianProcessOptions options = options_of(kind, 2, "none");
    for (const std::int64_t n : {1, 40, 215}) {  // 215: not inverted by the kernel itself
      const Observations seen = observe_some(n, 2, 3);
      const GaussianProcess process = conditioned(options, {seen});
      const auto evidence =
          static_cast<double>(-truth_of(options, typical(options, 2), seen).posterior.evidence());
      EXPECT_NEAR(process.hyperparameters()[0].evidence, evidence, 1e-9 * (1 + std::abs(evidence)));
    }
  }
}

TEST_F(GaussianProcessTest, LeavesOutOneLikeARefit) {
  const GaussianProcessOptions options = options_of(CovarianceKind::matern52, 2);
  const Observations seen = observe_some(20, 2, 4);
  const GaussianProcess process = conditioned(options, {seen});
  const Predictions out = process.leave_one_out(0);
  const Hyperparameters h = typical(options, 2);
  const Truth whole = truth_of(options, h, seen);
  for (std::size_t i = 0; i < 20; ++i) {
    // The others in the units of all, with the mean of all.
    Vector points, values;
    for (std::size_t j = 0; j < 20; ++j) {
      if (j == i) continue;
      points.insert(points.end(), &seen.points[2 * j], &seen.points[2 * j] + 2);
      values.push_back((seen.values[j] - whole.centre) / whole.scale);
    }
    const oracle::Prior prior{options.covariance,
                              2,
                              {std::log(Real(h.lengths[0])), std::log(Real(h.lengths[1])),
                               std::log(Real(h.variance)), std::log(Real(h.noise))},
                              {}};
    const oracle::Posterior others(prior, points, values, whole.posterior.mean());
    const Vector x(&seen.points[2 * i], &seen.points[2 * i] + 2);
    EXPECT_NEAR(out.mean[i],
                static_cast<double>(whole.centre + whole.scale * others.mean_at(x.data())), 1e-8);
    EXPECT_NEAR(out.variance[i],
                static_cast<double>(whole.scale * whole.scale *
                                    (others.variance_at(x.data()) + Real(h.noise))),
                1e-8);
  }
}

TEST_F(GaussianProcessTest, ConditionsOnPendingPoints) {
  const GaussianProcessOptions options = options_of(CovarianceKind::matern32, 2);
  const Observations seen = observe_some(15, 2, 5);
  GaussianProcess process = conditioned(options, {seen});
  const Numbers at = uniform(20, 0, 1, 9);
  const Predictions before = process.predict(0, at);
  const Numbers places = uniform(6, 0, 1, 10);
  // Values as they are expected change no mean, and only lessen variances.
  process.condition({{places, {process.predict(0, places).mean}}});
  const Predictions believed = process.predict(0, at);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(believed.mean[i], before.mean[i], 1e-9);
    EXPECT_LT(believed.variance[i], before.variance[i]);
  }
  // Others count like observations, with scale and mean of before; the first list is asked.
  const Observations pending{places, {20, 60, 90}};
  process.condition({{places, {pending.values, {1, 2, 3}}}});
  const Hyperparameters h = typical(options, 2);
  const Real mean = truth_of(options, h, seen).posterior.mean();
  expect_predictions(process.predict(0, at), truth_of(options, h, seen, {}, mean, pending), at);
  process.condition();
  EXPECT_EQ(bits_of(process.predict(0, at).mean), bits_of(before.mean));
}

TEST_F(GaussianProcessTest, FitsToNothingThatIsPending) {
  GaussianProcessOptions options = options_of(CovarianceKind::matern52, 2);
  options.restarts = 2;
  const Observations seen = observe_some(15, 2, 5);
  GaussianProcess plain(*queue_, 2, options), other(*queue_, 2, options);
  plain.observe({seen});
  other.observe({seen});
  other.set_hyperparameters({typical(options, 2)});
  other.condition({{{0.5, 0.5}, {{1000}}}});
  other.remember({});
  plain.fit();
  other.fit();
  EXPECT_EQ(bits_of(other.memory()[0].logarithms), bits_of(plain.memory()[0].logarithms));
}

// Means, variances and covariances of draws within 4 standard errors.
void expect_moments(const std::vector<Numbers>& draws, const Truth& truth, const Numbers& at) {
  const std::size_t m = draws[0].size(), d = at.size() / m;
  const auto n = static_cast<double>(draws.size());
  const auto point = [&](std::size_t i) {
    return Vector(at.begin() + std::ptrdiff_t(i * d), at.begin() + std::ptrdiff_t((i + 1) * d));
  };
  const auto covariance = [&](std::size_t a, std::size_t b) {
    const Real value = truth.posterior.covariance_at(point(a).data(), point(b).data());
    return static_cast<double>(truth.scale * truth.scale * value);
  };
  for (std::size_t a = 0; a < m; ++a) {
    const auto mean = static_cast<double>(truth.mean(point(a)));
    double sum = 0;
    for (const Numbers& draw : draws) sum += draw[a] / n;
    EXPECT_NEAR(sum, mean, 4 * std::sqrt(covariance(a, a) / n)) << a;
    for (std::size_t b = 0; b <= a; ++b) {
      double product = 0;
      const auto other = static_cast<double>(truth.mean(point(b)));
      for (const Numbers& draw : draws) product += (draw[a] - mean) * (draw[b] - other) / n;
      const double c = covariance(a, b);
      EXPECT_NEAR(product, c, 4 * std::sqrt((covariance(a, a) * covariance(b, b) + c * c) / n));
    }
  }
}

TEST_F(GaussianProcessTest, DrawsFromThePosterior) {
  for (const CovarianceKind kind :
       {CovarianceKind::squared_exponential, CovarianceKind::matern52}) {
    const GaussianProcessOptions options = options_of(kind, 2);
    const Hyperparameters h = typical(options, 2);
    const std::vector<Observations> all{observe_some(6, 2, 6), observe_some(9, 2, 7)};
    GaussianProcess process = conditioned(options, all);
    const Numbers at = uniform(10, 0, 1, 11);
    expect_moments(process.sample(1, at, 4000, 3), truth_of(options, h, all[1]), at);
    EXPECT_EQ(process.sample(1, at, 2, 3), process.sample(1, at, 2, 3));
    EXPECT_NE(process.sample(1, at, 2, 3), process.sample(1, at, 2, 4));
    // With pending points.
    const Observations pending{{0.3, 0.3, 0.8, 0.1}, {40, 60}};
    process.condition({PendingPoints{{}, {{}}}, PendingPoints{pending.points, {pending.values}}});
    const Real mean = truth_of(options, h, all[1]).posterior.mean();
    expect_moments(process.sample(1, at, 4000, 5), truth_of(options, h, all[1], {}, mean, pending),
                   at);
  }
}

TEST_F(GaussianProcessTest, DrawsPathsFromThePosterior) {
  const GaussianProcessOptions options = options_of(CovarianceKind::matern52, 2);
  const std::vector<Observations> all{observe_some(6, 2, 6), observe_some(9, 2, 7)};
  const GaussianProcess process = conditioned(options, all);
  const std::int64_t m = 4, draws = 400;
  const Numbers columns = uniform(2 * 2 * m, 0, 1, 12);  // [processes][dimension][m]
  const Numbers paths = process.draw_paths(columns, m, draws, {17, 18});
  for (std::int64_t p = 0; p < 2; ++p) {
    Numbers at;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t k = 0; k < 2; ++k) at.push_back(columns[idx((p * 2 + k) * m + i)]);
    }
    std::vector<Numbers> values;
    for (std::int64_t draw = 0; draw < draws; ++draw) {
      const auto begin = paths.begin() + (p * draws + draw) * m;
      values.emplace_back(begin, begin + m);
    }
    expect_moments(values, truth_of(options, typical(options, 2), all[idx(p)]), at);
  }
}

}  // namespace
}  // namespace kiln::test::gaussian_process_test
