// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Fits, hard data and refusals of GaussianProcess; its answers are in gaussian_process_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/models/gaussian_process.hpp"

#include "backends/backends.hpp"
#include "backends/cpu_queue.hpp"
#include "processes/process_cases.hpp"

namespace kiln::test::gaussian_process_fit_test {
namespace {

using oracle::Numbers;
using oracle::uniform;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr CovarianceKind matern = CovarianceKind::matern52;
const char* const all_priors[] = {"weak", "dimension-scaled", "gamma", "trust-region", "none"};

class GaussianProcessFit : public testing::Test {
 protected:
  GaussianProcess make(const GaussianProcessOptions& options, std::int64_t dimension,
                       const std::vector<Observations>& all) {
    GaussianProcess process(*queue_, dimension, options);
    process.observe(all);
    return process;
  }
  // What is fitted and predicted is finite.
  Predictions expect_finite(GaussianProcess& process, const Numbers& at) {
    process.fit();
    const Hyperparameters h = process.hyperparameters()[0];
    EXPECT_TRUE(std::isfinite(h.evidence));
    EXPECT_GT(h.variance, 0);
    const Predictions out = process.predict(0, at), one_out = process.leave_one_out(0);
    for (const Numbers& values : {out.mean, out.variance, one_out.mean, one_out.variance}) {
      for (const double value : values) EXPECT_TRUE(std::isfinite(value));
    }
    return out;
  }
  std::unique_ptr<Queue> queue_ = cpu_queue();
};

// One process for each of many vectors of hyper-parameters, spread over all that is allowed.
double best_of_random_search(Queue& queue, const GaussianProcessOptions& options,
                             std::int64_t dimension, const Observations& seen, std::int64_t tries) {
  TestRandom random(1);
  const auto draw = [&](const HyperRange& range) {
    return range.low * std::pow(range.high / range.low, random.unit());
  };
  std::vector<Hyperparameters> all;
  for (std::int64_t i = 0; i < tries; ++i) {
    Hyperparameters& h = all.emplace_back();
    for (std::int64_t k = 0; k < dimension; ++k) h.lengths.push_back(draw(options.length));
    h.variance = draw(options.variance);
    h.noise = draw(options.noise);
    h.alpha = draw(options.alpha);
  }
  GaussianProcess process(queue, dimension, options);
  process.observe(std::vector<Observations>(idx(tries), seen));
  process.set_hyperparameters(all);
  double best = -inf;
  for (const Hyperparameters& h : process.hyperparameters()) best = std::max(best, h.evidence);
  return best;
}

TEST_F(GaussianProcessFit, ExplainsDataBetterThanADenseRandomSearch) {
  for (const CovarianceKind kind : oracle::all_kinds) {
    for (const char* const priors : all_priors) {
      SCOPED_TRACE(std::to_string(int(kind)) + ", " + priors);
      const GaussianProcessOptions options = options_of(kind, 1, priors);
      const Observations seen = observe_some(10, 1, 3);
      GaussianProcess process = make(options, 1, {seen});
      process.fit();
      const Hyperparameters h = process.hyperparameters()[0];
      EXPECT_GE(h.evidence, best_of_random_search(*queue_, options, 1, seen, 2000) - 1e-3);
      for (const double length : h.lengths) {
        EXPECT_GE(length, options.length.low * (1 - 1e-12));
        EXPECT_LE(length, options.length.high * (1 + 1e-12));
      }
      process.set_hyperparameters({h});
      EXPECT_NEAR(process.hyperparameters()[0].evidence, h.evidence,
                  1e-6 * (1 + std::abs(h.evidence)));
    }
  }
}

TEST_F(GaussianProcessFit, PredictsAFunctionThatItHasSeenEnoughOf) {
  for (const char* const priors : all_priors) {
    const Observations seen = observe_some(60, 2, 8), other = observe_some(50, 2, 9);
    GaussianProcess process = make(options_of(matern, 2, priors), 2, {seen});
    process.fit();
    const Predictions out = process.predict(0, other.points);
    double square = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      square += std::pow(out.mean[i] - other.values[i], 2) / 50;
    }
    EXPECT_LT(std::sqrt(square), 0.5) << priors;  // of a scale of about 10
  }
}

TEST_F(GaussianProcessFit, FindsTheAxisThatMatters) {
  Observations seen{uniform(120, 0, 1, 13), {}};
  for (std::size_t i = 0; i < 40; ++i) seen.values.push_back(std::sin(6 * seen.points[3 * i + 1]));
  GaussianProcess process = make(options_of(matern, 3), 3, {seen});
  process.fit();
  const Numbers lengths = process.hyperparameters()[0].lengths;
  EXPECT_LT(3 * lengths[1], lengths[0]);
  EXPECT_LT(3 * lengths[1], lengths[2]);
}

TEST_F(GaussianProcessFit, IsTheSameAloneAndInABatchBitForBit) {
  GaussianProcessOptions options = options_of(matern, 3);
  options.restarts = 3;
  const std::vector<Observations> all{observe_some(20, 3, 1), observe_some(20, 3, 2),
                                      observe_some(9, 3, 3), observe_some(1, 3, 4)};
  const Numbers at = uniform(30, 0, 1, 5);
  GaussianProcess together = make(options, 3, all);
  together.fit();
  together.fit();
  for (std::size_t p = 0; p < all.size(); ++p) {
    GaussianProcess alone = make(options, 3, {all[p]});
    alone.fit();
    alone.fit();
    EXPECT_EQ(bits_of(alone.memory()[0].logarithms), bits_of(together.memory()[p].logarithms)) << p;
    const auto process = static_cast<std::int64_t>(p);
    EXPECT_EQ(alone.hyperparameters()[0].evidence, together.hyperparameters()[p].evidence);
    const Predictions one = alone.predict(0, at), among = together.predict(process, at);
    EXPECT_EQ(bits_of(one.mean), bits_of(among.mean)) << p;
    EXPECT_EQ(bits_of(one.variance), bits_of(among.variance)) << p;
    EXPECT_EQ(alone.sample(0, at, 2, 1), together.sample(process, at, 2, 1)) << p;
    EXPECT_EQ(bits_of(alone.leave_one_out(0).mean), bits_of(together.leave_one_out(process).mean));
  }
}

TEST_F(GaussianProcessFit, GoesOnFromWhatIsRemembered) {
  const GaussianProcessOptions options = options_of(matern, 2);
  const Observations seen = observe_some(15, 2, 1), more = observe_some(18, 2, 1);
  const Numbers at = uniform(20, 0, 1, 5);
  GaussianProcess first = make(options, 2, {seen});
  first.fit();
  const std::vector<GaussianProcess::Memory> memory = first.memory();
  EXPECT_EQ(memory[0].fits, 1);
  // Not yet asked to fit, it takes what it remembers as it is.
  GaussianProcess second(*queue_, 2, options);
  second.remember(memory);
  second.observe({seen});
  second.condition();
  EXPECT_EQ(bits_of(second.predict(0, at).mean), bits_of(first.predict(0, at).mean));
  EXPECT_EQ(second.hyperparameters()[0].evidence, first.hyperparameters()[0].evidence);
  for (GaussianProcess* const process : {&first, &second}) {
    process->observe({more});
    process->fit();
  }
  EXPECT_EQ(first.memory()[0].fits, 2);
  EXPECT_EQ(bits_of(first.memory()[0].logarithms), bits_of(second.memory()[0].logarithms));
}

// Some processes of a batch were fitted before, others were not, or more often.
TEST_F(GaussianProcessFit, RemembersOfEachProcessItsOwn) {
  GaussianProcessOptions options = options_of(matern, 2);
  options.restarts = 3;
  const std::vector<Observations> all{observe_some(15, 2, 1), observe_some(12, 2, 2),
                                      observe_some(9, 2, 3)};
  std::vector<std::vector<GaussianProcess::Memory>> alone;  // after p fits, and after p + 1
  std::vector<GaussianProcess::Memory> before;
  for (std::size_t p = 0; p < all.size(); ++p) {
    GaussianProcess process = make(options, 2, {all[p]});
    for (std::size_t fits = 0; fits < p; ++fits) process.fit();
    before.push_back(process.memory()[0]);
    process.fit();
    alone.push_back(process.memory());
  }
  GaussianProcess together = make(options, 2, all);
  together.remember(before);
  EXPECT_NE(complaint([&] { together.condition(); }), "accepted") << "one was never fitted";
  together.fit();
  for (std::size_t p = 0; p < all.size(); ++p) {
    EXPECT_EQ(together.memory()[p].fits, static_cast<std::int64_t>(p) + 1);
    EXPECT_EQ(bits_of(together.memory()[p].logarithms), bits_of(alone[p][0].logarithms)) << p;
  }
}

TEST_F(GaussianProcessFit, JudgesNewObservationsByHyperparametersOfBefore) {
  const GaussianProcessOptions options = options_of(matern, 2);
  GaussianProcess process = make(options, 2, {observe_some(15, 2, 1)});
  process.fit();
  const Hyperparameters h = process.hyperparameters()[0];
  const Observations other = observe_some(20, 2, 9);
  process.observe({other});
  process.condition();
  GaussianProcess fresh = make(options, 2, {other});
  fresh.set_hyperparameters({h});
  EXPECT_NEAR(process.hyperparameters()[0].evidence, fresh.hyperparameters()[0].evidence, 1e-9);
  EXPECT_NEAR(process.predict(0, {0.3, 0.4}).mean[0], fresh.predict(0, {0.3, 0.4}).mean[0], 1e-9);
}

TEST_F(GaussianProcessFit, StandsOnePoint) {
  for (const char* const priors : all_priors) {
    GaussianProcess process = make(options_of(matern, 2, priors), 2, {{{0.3, 0.4}, {-1234.5}}});
    EXPECT_NEAR(expect_finite(process, {0.3, 0.4, 0.9, 0.9}).mean[1], -1234.5, 1e-9);
  }
}

TEST_F(GaussianProcessFit, StandsConstantValues) {
  for (const char* const priors : all_priors) {
    for (const double y : {0.0, 7.0, -1e200, 1e-200}) {
      Observations seen = observe_some(12, 2, 1);
      std::ranges::fill(seen.values, y);
      GaussianProcess process = make(options_of(matern, 2, priors), 2, {seen});
      const Predictions out = expect_finite(process, uniform(10, 0, 1, 2));
      for (const double mean : out.mean) EXPECT_NEAR(mean, y, 1e-12 * std::abs(y)) << priors;
    }
  }
}

TEST_F(GaussianProcessFit, StandsUnitsOfAnySize) {
  const Observations seen = observe_some(12, 2, 1);
  const Numbers at = uniform(10, 0, 1, 2);
  GaussianProcess process = make(options_of(matern, 2), 2, {seen});
  const Predictions usual = expect_finite(process, at);
  for (const int unit : {-900, 400}) {  // squares vanish, and squares of predictions just do not
    Observations scaled = seen;
    for (double& y : scaled.values) y = std::scalbn(y, unit);
    GaussianProcess other = make(options_of(matern, 2), 2, {scaled});
    other.fit();
    const Predictions out = other.predict(0, at);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(out.mean[i], std::scalbn(usual.mean[i], unit));
    }
  }
}

TEST_F(GaussianProcessFit, StandsPointsThatCoincide) {
  for (const CovarianceKind kind : oracle::all_kinds) {
    for (const char* const priors : all_priors) {
      Observations seen = observe_some(10, 2, 1);
      for (int copy = 0; copy < 2; ++copy) {
        for (std::size_t i = 0; i < 20; ++i) seen.points.push_back(seen.points[i]);
        for (std::size_t i = 0; i < 10; ++i) seen.values.push_back(seen.values[i]);
      }
      GaussianProcess process = make(options_of(kind, 2, priors), 2, {seen});
      const Predictions out = expect_finite(process, seen.points);
      for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(out.mean[i], seen.values[i], 2) << priors;
      for (std::size_t i = 0; i < 30; ++i) seen.values[i] += 0.01 * double(i % 3);
      process.observe({seen});
      expect_finite(process, uniform(10, 0, 1, 2));
    }
  }
}

TEST_F(GaussianProcessFit, StandsAnOutlier) {
  for (const char* const priors : all_priors) {
    for (const double outlier : {1e12, -1e12}) {
      Observations seen = observe_some(20, 2, 1);
      seen.values[7] = outlier;
      GaussianProcess process = make(options_of(matern, 2, priors), 2, {seen});
      for (const double variance : expect_finite(process, uniform(10, 0, 1, 2)).variance) {
        EXPECT_GT(variance, 0);
      }
    }
  }
}

TEST_F(GaussianProcessFit, RefusesOptionsThatContradictEachOther) {
  const auto make_with = [&](auto change, std::int64_t dimension = 2,
                             std::vector<std::uint8_t> categorical = {}) {
    GaussianProcessOptions options = options_of(CovarianceKind::rational_quadratic, 2);
    change(options);
    return complaint([&] { GaussianProcess(*queue_, dimension, options, categorical); });
  };
  using Options = GaussianProcessOptions;
  EXPECT_EQ(make_with([](Options&) {}), "accepted");
  EXPECT_NE(make_with([](Options&) {}, 0), "accepted");
  EXPECT_NE(make_with([](Options&) {}, 2, {1}), "accepted");
  EXPECT_NE(make_with([](Options& o) { o.restarts = 0; }), "accepted");
  EXPECT_NE(make_with([](Options& o) { o.length.low = 0; }), "accepted");
  EXPECT_NE(make_with([](Options& o) { o.variance.start = 1e9; }), "accepted");
  EXPECT_NE(make_with([](Options& o) { o.noise.high = inf; }), "accepted");
  EXPECT_NE(make_with([](Options& o) { o.alpha.low = nan; }), "accepted");
  EXPECT_NE(complaint([] { Options::preset("none of these", 2); }), "accepted");
  EXPECT_NE(complaint([] { Options::preset("weak", 0); }), "accepted");
}

TEST_F(GaussianProcessFit, RefusesObservationsThatAreNone) {
  GaussianProcess process(*queue_, 2, options_of(matern, 2));
  const auto of = [&](const std::vector<Observations>& all) {
    return complaint([&] { process.observe(all); });
  };
  EXPECT_EQ(of({{{0, 1}, {2}}}), "accepted");
  EXPECT_NE(of({}), "accepted");
  EXPECT_NE(of({{{0, 1}, {2}}, {}}), "accepted");
  EXPECT_NE(of({{{0, 1, 2}, {2}}}), "accepted");
  EXPECT_NE(of({{{0, nan}, {2}}}), "accepted");
  EXPECT_NE(of({{{0, 1}, {inf}}}), "accepted");
}

TEST_F(GaussianProcessFit, RefusesQuestionsOutOfTurn) {
  const GaussianProcessOptions options = options_of(matern, 2);
  GaussianProcess process(*queue_, 2, options);
  EXPECT_NE(complaint([&] { process.fit(); }), "accepted");
  const auto expect_refused = [&] {
    EXPECT_NE(complaint([&] { process.predict(0, {0, 0}); }), "accepted");
    EXPECT_NE(complaint([&] { process.leave_one_out(0); }), "accepted");
    EXPECT_NE(complaint([&] { process.sample(0, {0, 0}, 1, 1); }), "accepted");
    EXPECT_NE(complaint([&] { process.draw_paths({0, 0}, 1, 1, {1}); }), "accepted");
    EXPECT_NE(complaint([&] { process.acquisition(); }), "accepted");
  };
  process.observe({observe_some(5, 2, 1)});
  expect_refused();
  EXPECT_NE(complaint([&] { process.condition(); }), "accepted");
  process.fit();
  EXPECT_EQ(complaint([&] { process.predict(0, {0, 0}); }), "accepted");
  process.observe({observe_some(50, 2, 1)});  // what was factored is not theirs
  expect_refused();
  process.condition();
  EXPECT_EQ(complaint([&] { process.sample(0, {0, 0}, 1, 1); }), "accepted");
  process.observe({observe_some(5, 2, 1), observe_some(5, 2, 2)});  // as many as never before
  expect_refused();
  EXPECT_NE(complaint([&] { process.condition(); }), "accepted");
}

TEST_F(GaussianProcessFit, RefusesQuestionsThatMakeNoSense) {
  GaussianProcess process = make(options_of(matern, 2), 2, {observe_some(5, 2, 1)});
  process.fit();
  for (const std::int64_t none : {-1, 1}) {
    EXPECT_NE(complaint([&] { process.predict(none, {0, 0}); }), "accepted");
    EXPECT_NE(complaint([&] { process.leave_one_out(none); }), "accepted");
    EXPECT_NE(complaint([&] { process.sample(none, {0, 0}, 1, 1); }), "accepted");
  }
  EXPECT_NE(complaint([&] { process.predict(0, {0, 0, 0}); }), "accepted");
  EXPECT_NE(complaint([&] { process.draw_paths({0, 0, 0}, 1, 1, {1}); }), "accepted");
  EXPECT_NE(complaint([&] { process.draw_paths({0, 0}, 1, 1, {1, 2}); }), "accepted");
  EXPECT_NE(complaint([&] { process.acquisition(2); }), "accepted");
  EXPECT_NE(complaint([&] { process.acquisition(0); }), "accepted");
  EXPECT_NE(complaint([&] { process.remember({{{0, 0, 0}, 1}}); }), "accepted");
  const auto pending = [&](const std::vector<PendingPoints>& all) {
    return complaint([&] { process.condition(all); });
  };
  EXPECT_EQ(pending({{{0, 0}, {{1}}}}), "accepted");
  EXPECT_NE(pending({{{0, 0}, {{1}}}, {{0, 0}, {{1}}}}), "accepted");
  EXPECT_NE(pending({{{0, 0}, {{1, 2}}}}), "accepted");
  EXPECT_NE(pending({{{0, 0}, {}}}), "accepted");
  EXPECT_NE(pending({{{0, 0}, {{nan}}}}), "accepted");
  EXPECT_NE(pending({{{0, nan}, {{1}}}}), "accepted");
}

TEST_F(GaussianProcessFit, RefusesHyperparametersThatAreNone) {
  const GaussianProcessOptions options = options_of(matern, 2);
  GaussianProcess process = make(options, 2, {observe_some(5, 2, 1)});
  const auto with = [&](auto change) {
    Hyperparameters h = typical(options, 2);
    change(h);
    return complaint([&] { process.set_hyperparameters({h}); });
  };
  EXPECT_EQ(with([](Hyperparameters&) {}), "accepted");
  EXPECT_NE(with([](Hyperparameters& h) { h.lengths.pop_back(); }), "accepted");
  EXPECT_NE(with([](Hyperparameters& h) { h.lengths[1] = 0; }), "accepted");
  EXPECT_NE(with([](Hyperparameters& h) { h.variance = -1; }), "accepted");
  EXPECT_NE(with([](Hyperparameters& h) { h.noise = nan; }), "accepted");
  EXPECT_NE(complaint([&] { process.set_hyperparameters({}); }), "accepted");
}

}  // namespace
}  // namespace kiln::test::gaussian_process_fit_test
