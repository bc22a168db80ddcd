// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Bayesian optimisation by asking and telling.
#include "kiln/bayesian_optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::bayesian_optimizer_test {
namespace {

using test::complaint;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Searches small enough for tests: fewer candidates and starts than by default.
BayesianOptimizationOptions quick(const std::string& acquisition = "logei") {
  BayesianOptimizationOptions options;
  options.acquisition = acquisition;
  options.candidates = 256;
  options.starts = 4;
  options.restarts = 2;
  if (acquisition == "qlogei") options.fantasies = 8;
  return options;
}

BayesianOptimizer search_of(BayesianProblem problem, BayesianOptimizationOptions options = quick(),
                            std::uint64_t seed = 1) {
  return BayesianOptimizer(std::move(problem), std::move(options), seed, "cpu");
}

const std::vector<double>& reals(const State& state) {
  return std::get<std::vector<double>>(state.at(0));
}

// On [0, 1]^2: three minima of 0.397887, at (0.54277, 0.15167) and two others.
double branin(const std::vector<double>& u) {
  const double x = 15 * u[0] - 5, y = 15 * u[1], pi = std::numbers::pi;
  const double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

using Function = std::function<double(const State&)>;

void go_on(BayesianOptimizer& search, int evaluations, const Function& f) {
  for (int i = 0; i < evaluations; ++i) {
    const Suggestion next = search.ask().front();
    search.tell(next.id, f(next.state));
  }
}

double branin_at(const State& state) { return branin(reals(state)); }

double best_of_branin(const BayesianOptimizationOptions& options, int evaluations,
                      std::uint64_t seed = 1) {
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)}, options, seed);
  go_on(search, evaluations, branin_at);
  return search.best_value();
}

TEST(BayesianOptimizer, FindsTheMinimumOfBranin) {
  EXPECT_LT(best_of_branin(quick(), 30), 0.3979 + 0.02);
}

TEST(BayesianOptimizer, EveryAcquisitionIsBetterThanChance) {
  // 25 random points have a median best of about 2.1.
  for (const char* acquisition : {"logei", "ei", "pi", "ucb", "thompson", "qlogei"}) {
    std::vector<double> best;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      best.push_back(best_of_branin(quick(acquisition), 25, seed));
    }
    std::ranges::nth_element(best, best.begin() + 2);
    EXPECT_LT(best[2], 0.6) << acquisition;  // one greedy search may end beside the minimum
  }
}

TEST(BayesianOptimizer, TheSameSeedAsksTheSame) {
  const auto path = [](std::uint64_t seed) {
    BayesianOptimizer search = search_of({Space::reals(2, 0, 1)}, quick(), seed);
    std::vector<std::vector<double>> points;
    for (int i = 0; i < 9; ++i) {
      const Suggestion next = search.ask().front();
      points.push_back(reals(next.state));
      search.tell(next.id, branin(points.back()));
    }
    return points;
  };
  EXPECT_EQ(path(3), path(3));
  EXPECT_NE(path(3), path(4));
}

TEST(BayesianOptimizer, PendingPointsAreNeverAskedForAgain) {
  BayesianOptimizer search = search_of({Space::integers(2, 0, 5)});
  go_on(search, 6, [](const State& state) {
    const auto& x = std::get<std::vector<std::int32_t>>(state[0]);
    return x[0] * x[0] + x[1];
  });
  std::set<std::vector<std::int32_t>> seen;
  for (int i = 0; i < 20; ++i) {
    seen.insert(std::get<std::vector<std::int32_t>>(search.ask().front().state[0]));
  }
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(search.pending(), 20);
}

TEST(BayesianOptimizer, AnswersMayComeInAnyOrder) {
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)});
  std::vector<Suggestion> asked = search.ask(8);
  const std::vector<Suggestion> more = search.ask(3);
  asked.insert(asked.end(), more.begin(), more.end());
  std::reverse(asked.begin(), asked.end());
  double best = std::numeric_limits<double>::infinity();
  for (const Suggestion& one : asked) {
    best = std::min(best, branin_at(one.state));
    search.tell(one.id, branin_at(one.state));
  }
  EXPECT_EQ(search.pending(), 0);
  EXPECT_EQ(search.evaluations(), 11);
  EXPECT_EQ(search.best_value(), best);
  EXPECT_EQ(branin_at(search.best_state()), best);
}

TEST(BayesianOptimizer, ASmallSpaceIsGoneThroughOnce) {
  BayesianOptimizer search = search_of({Space::categories(1, 5)});
  std::set<std::int32_t> seen;
  for (int i = 0; i < 5; ++i) {
    const Suggestion next = search.ask().front();
    const std::int32_t x = std::get<std::vector<std::int32_t>>(next.state[0])[0];
    seen.insert(x);
    search.tell(next.id, std::abs(x - 3));
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(search.best_value(), 0);
  EXPECT_EQ(complaint([&] { search.ask(); }),
            "search.exhausted: ask() has no new point: every point of the space is known");

  BayesianOptimizer other = search_of({Space::categories(1, 5)});
  EXPECT_EQ(other.ask(9).size(), 5u) << "fewer than wanted where there are no more";
}

TEST(BayesianOptimizer, AsksOnlyForCandidatesWhereThereIsAList) {
  auto candidates = std::make_shared<std::vector<State>>();
  for (const std::int32_t x : {0, 2, 5}) {
    candidates->push_back({std::vector<std::int32_t>{x}, std::vector<std::int32_t>{x / 2}});
  }
  const Space space({{BlockKind::category, 1, 0, 5}, {BlockKind::category, 1, 0, 2}});
  BayesianOptimizer search = search_of({space, 0, true, {}, candidates});
  std::set<State> seen;
  for (int i = 0; i < 3; ++i) seen.insert(search.ask().front().state);
  EXPECT_EQ(seen, std::set<State>(candidates->begin(), candidates->end()));
}

// Ten names: two of five that begin with alpha were good, three of the others bad.
std::int32_t next_name(const std::string& names, std::uint64_t seed) {
  VariableModel model{"name", true};
  for (const char* const stem : {"alpha-alpha-", "omega.omega."}) {
    for (const char* const end : {"1", "2", "3", "4", "5"}) {
      model.names.push_back(std::string(stem) + end);
    }
  }
  auto all = std::make_shared<std::vector<State>>();
  for (std::int32_t i = 0; i < 10; ++i) all->push_back({std::vector<std::int32_t>{i}});
  BayesianOptimizationOptions options = quick();
  options.names = names;
  options.initial = 5;
  BayesianOptimizer search =
      search_of({Space::categories(1, 10), 0, true, {model}, all}, options, seed);
  for (const std::int32_t i : {0, 1, 5, 6, 7}) {
    search.add({std::vector<std::int32_t>{i}}, i < 5 ? 0.1 * i : 3 + 0.1 * i);
  }
  return std::get<std::vector<std::int32_t>>(search.ask().front().state[0])[0];
}

TEST(BayesianOptimizer, NamesThatShareMuchAreTakenForAlike) {
  std::set<std::int32_t> distinct;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    EXPECT_LT(next_name("alike", seed), 5) << seed;
    EXPECT_LT(next_name("automatic", seed), 5) << "names of 13 characters";
    distinct.insert(next_name("distinct", seed));
  }
  EXPECT_GE(distinct.size(), 3u) << "of equal candidates not always the same";
  EXPECT_GE(*distinct.rbegin(), 5) << "nothing is known of any name";
}

TEST(BayesianOptimizer, AFirstDesignSpreadsOverTheColumnsOfATable) {
  auto rows = std::make_shared<std::vector<State>>();
  for (std::int32_t i = 0; i < 64; ++i) {
    rows->push_back({std::vector<std::int32_t>{i / 8}, std::vector<std::int32_t>{i % 8}});
  }
  BayesianOptimizationOptions options = quick();
  options.initial = 8;
  const Space space({{BlockKind::category, 1, 0, 7}, {BlockKind::category, 1, 0, 7}});
  BayesianOptimizer search = search_of({space, 0, true, {}, rows}, options);
  std::set<std::int32_t> first, second;
  for (const Suggestion& one : search.ask(8)) {
    first.insert(std::get<std::vector<std::int32_t>>(one.state[0])[0]);
    second.insert(std::get<std::vector<std::int32_t>>(one.state[1])[0]);
  }
  EXPECT_EQ(first.size(), 8u);
  EXPECT_EQ(second.size(), 8u);
}

TEST(BayesianOptimizer, FindsTheBestOfMixedVariables) {
  const Space space({{BlockKind::category, 1, 0, 3},
                     {BlockKind::integer, 1, -4, 4},
                     {BlockKind::binary, 1, 0, 1},
                     {BlockKind::real, 1, 0, 2}});
  BayesianOptimizer search = search_of({space});
  go_on(search, 40, [](const State& state) {
    const double offset[] = {1.0, 0.2, 0.7, 0.0};
    const auto c = std::get<std::vector<std::int32_t>>(state[0])[0];
    const auto k = std::get<std::vector<std::int32_t>>(state[1])[0];
    const auto b = std::get<std::vector<std::int8_t>>(state[2])[0];
    const double x = std::get<std::vector<double>>(state[3])[0];
    return offset[c] + 0.1 * (k - 2) * (k - 2) + (b == 1 ? 0 : 0.5) + (x - 0.7) * (x - 0.7);
  });
  EXPECT_LT(search.best_value(), 0.05);
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(search.best_state()[0])[0], 3);
  EXPECT_EQ(search.model().lengths.size(), 4u);
}

TEST(BayesianOptimizer, MeetsConstraints) {
  // The least x + y beyond a quarter circle: sqrt(1/2) in the corner where one of them is 0.
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1), 1});
  for (int i = 0; i < 30; ++i) {
    const Suggestion next = search.ask().front();
    const std::vector<double>& x = reals(next.state);
    search.tell(next.id, x[0] + x[1], {0.5 - x[0] * x[0] - x[1] * x[1]});
  }
  ASSERT_TRUE(search.has_best());
  const std::vector<double> best = reals(search.best_state());
  EXPECT_GE(best[0] * best[0] + best[1] * best[1], 0.5);
  EXPECT_LT(search.best_value(), std::sqrt(0.5) + 0.05);
}

TEST(BayesianOptimizer, GoesOnWhereNothingIsFeasible) {
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1), 1});
  for (int i = 0; i < 12; ++i) {
    const Suggestion next = search.ask().front();
    search.tell(next.id, reals(next.state)[0], {1 + reals(next.state)[1]});
  }
  EXPECT_FALSE(search.has_best());
  EXPECT_EQ(search.evaluations(), 12);
  EXPECT_EQ(complaint([&] { search.best_value(); }),
            "search.best: tell() has received no feasible value yet");
}

TEST(BayesianOptimizer, FailuresAreAvoided) {
  // Half of the square fails.
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)});
  int failed = 0;
  go_on(search, 30, [&](const State& state) {
    const std::vector<double>& x = reals(state);
    if (x[0] < 0.5) return ++failed, not_a_number;
    return branin(x);
  });
  EXPECT_LT(failed, 13);
  EXPECT_LT(search.best_value(), 1.0);
  EXPECT_GE(reals(search.best_state())[0], 0.5);
}

TEST(BayesianOptimizer, GoesOnWhereEverythingFails) {
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)});
  const double bad[] = {not_a_number, std::numeric_limits<double>::infinity()};
  int i = 0;
  go_on(search, 12, [&](const State&) { return bad[i++ % 2]; });
  EXPECT_EQ(search.evaluations(), 12);
  EXPECT_FALSE(search.has_best());
}

TEST(BayesianOptimizer, TakesValuesOfAllKinds) {
  const std::vector<std::pair<const char*, Function>> functions{
      {"constant", [](const State&) { return 7.0; }},
      {"outliers",
       [](const State& state) { return reals(state)[0] > 0.8 ? 1e12 : branin(reals(state)); }},
      {"large", [](const State& state) { return 1e200 * branin(reals(state)); }},
      {"small", [](const State& state) { return 1e-200 * branin(reals(state)); }}};
  for (const auto& [name, f] : functions) {
    BayesianOptimizer search = search_of({Space::reals(2, 0, 1)});
    go_on(search, 20, f);
    EXPECT_EQ(search.evaluations(), 20) << name;
    EXPECT_TRUE(std::isfinite(search.best_value())) << name;
  }
}

TEST(BayesianOptimizer, OutliersDoNotHideTheMinimum) {
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)});
  go_on(search, 30,
        [](const State& state) { return reals(state)[1] > 0.9 ? 1e12 : branin(reals(state)); });
  EXPECT_LT(search.best_value(), 0.6);
}

TEST(BayesianOptimizer, TakesOneVariable) {
  BayesianOptimizer search = search_of({Space::reals(1, -3, 5)});
  go_on(search, 15, [](const State& state) { return std::abs(reals(state)[0] - 1.25); });
  EXPECT_LT(search.best_value(), 0.05);
}

TEST(BayesianOptimizer, TrustRegionsShrinkAndBeginAnew) {
  BayesianOptimizationOptions options = quick();
  options.trust_regions = 2;
  options.initial = 4;
  EXPECT_LT(best_of_branin(options, 40), 0.6);
  // Nothing ever improves: a region halves after one batch, and begins anew below 2^-7.
  options.trust_regions = 1;
  options.failures = 1;
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)}, options);
  go_on(search, 40, [](const State&) { return 1.0; });
  EXPECT_EQ(search.evaluations(), 40);
}

TEST(BayesianOptimizer, PastEvaluationsCount) {
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1)});
  for (const double x : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const State state{std::vector<double>{x, 1 - x}};
    search.add(state, branin_at(state));
  }
  EXPECT_EQ(search.evaluations(), 5);
  search.ask();
  EXPECT_FALSE(search.model().lengths.empty()) << "the model is asked at once";
}

TEST(BayesianOptimizer, RefusesWhatItCannotTake) {
  const auto opened = [](Space space, BayesianOptimizationOptions options = quick()) {
    return complaint([&] { search_of({std::move(space)}, std::move(options)); });
  };
  EXPECT_EQ(opened(Space::permutation(5)),
            "space.permutation: Bayesian optimisation supports numbers and categories, but no "
            "permutations");
  EXPECT_EQ(opened(Space::reals(2, 0, std::numeric_limits<double>::infinity())),
            "space.bounds: Bayesian optimisation needs bounds for all variables");
  EXPECT_NE(complaint([] { search_of({Space::reals(2, 1, 0)}); }), "accepted");
  BayesianOptimizationOptions bad = quick("logei");
  bad.fantasies = 5;
  bad.failures = 2;
  const std::string both = opened(Space::reals(2, 0, 1), bad);
  EXPECT_NE(both.find("fantasies needs acquisition=qlogei"), std::string::npos);
  EXPECT_NE(both.find("failures needs trust_regions"), std::string::npos);
}

TEST(BayesianOptimizer, RefusesWrongCalls) {
  BayesianOptimizer search = search_of({Space::reals(2, 0, 1), 1});
  const Suggestion next = search.ask().front();
  EXPECT_EQ(complaint([&] { search.ask(0); }), "search.count: ask() needs a count of at least 1");
  EXPECT_EQ(complaint([&] { search.ask(1, 1); }), "search.study: study 1 does not exist");
  EXPECT_EQ(complaint([&] { search.pending(-1); }), "search.study: study -1 does not exist");
  EXPECT_EQ(complaint([&] {
              search.tell(next.id, 1, {0, 0});
            }),
            "search.constraints: 2 constraint values were given; expected 1");
  EXPECT_EQ(search.pending(), 1) << "it may still be told";
  search.tell(next.id, 1, {0});
  for (const std::int64_t id : {next.id, next.id + 1, std::int64_t{0}, std::int64_t{-5}}) {
    EXPECT_EQ(complaint([&] { search.tell(id, 1, {0}); }),
              "search.pending: point " + std::to_string(id) +
                  " is not pending: tell() has received it, or ask() never returned it");
  }
  const auto added = [&](State state) { return complaint([&] { search.add(state, 1, {0}); }); };
  EXPECT_EQ(added({std::vector<double>{0.5, 1.5}}),
            "state.value: variable 2 of block 1 has a value that the kind real does not allow");
  EXPECT_EQ(added({std::vector<double>{not_a_number, 0.5}}),
            "state.value: variable 1 of block 1 has a value that the kind real does not allow");
  EXPECT_EQ(added({std::vector<double>{0.5}}),
            "state.value: variable 2 of block 1 has a value that the kind real does not allow");
  EXPECT_EQ(added({}),
            "state.value: variable 1 of block 1 has a value that the kind real does not allow");
  EXPECT_EQ(search.evaluations(), 1);
}

}  // namespace
}  // namespace kiln::bayesian_optimizer_test
