// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/random_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kiln/problems/pairwise.hpp"

#include "chi_square.hpp"
#include "kolmogorov_smirnov.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::test::random_search_test {
namespace {

struct RandomSearchTraits : SweepingTraits {
  static constexpr std::int64_t sweeps = 40;
  static constexpr bool moves = false;
  static ScheduleEntry entry() { return builtin_registry().schedule("random-search"); }
  static Problem problem() { return sparse_cut(); }
  static std::vector<Texts> variants() { return {{}, {{"bins", "7"}}, {{"bins", "4094"}}}; }
  static std::vector<Refused> refused() {
    return {{{{"bins", "0"}}, {"bins: 0 is out of range"}},
            {{{"bins", "4095"}}, {"bins: 4095 is out of range"}}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(RandomSearch, ScheduleSuite, RandomSearchTraits);

Result search(const Problem& problem, std::int64_t replicas, std::int64_t sweeps,
              std::uint64_t seed = 1, RandomSearchOptions chosen = {}) {
  RandomSearch schedule(chosen);
  return Engine(options(replicas, seed)).run(problem, schedule, {.sweeps = sweeps});
}

/// The greatest of three numbers in [0, 1], which is at most t with probability t^3.
Problem greatest_of_three() {
  return make_problem(
      make_host_objective("greatest", Space::reals(3, 0, 1),
                          [](std::span<const double> x) { return *std::ranges::max_element(x); }));
}

/// The number of an order of four things in the list of all 24.
Problem number_of_order() {
  return make_problem(
      make_host_objective("order", Space::permutation(4), [](std::span<const std::int32_t> order) {
        double number = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
          const auto less = std::ranges::count_if(
              order.subspan(i), [&](std::int32_t other) { return other < order[i]; });
          number = number * static_cast<double>(order.size() - i) + static_cast<double>(less);
        }
        return number;
      }));
}

/// A spin model whose energy is minus the sum of n spins.
Problem sum_of_spins(std::int32_t n) {
  Ising model{n, std::vector<double>(static_cast<std::size_t>(n), -1.0), {}};
  return make_ising(model, "sum");
}

constexpr int runs = 400;

// The least of N values with distribution function F has 1 - (1 - F)^N. With the law of half as
// many states the same test fails.
TEST(RandomSearch, FindsTheBestOfAllItsStates) {
  constexpr double states = 32 * 5;
  std::vector<double> best;
  for (int seed = 1; seed <= runs; ++seed) {
    best.push_back(search(greatest_of_three(), 32, 5, static_cast<std::uint64_t>(seed)).objective);
  }
  const auto law = [](double n) {
    return [n](double t) { return 1 - std::pow(1 - t * t * t, n); };
  };
  EXPECT_GT(ks_test(best, law(states)).p, 1e-3);
  EXPECT_LT(ks_test(best, law(states / 2)).p, 1e-6);
}

TEST(RandomSearch, FindsTheBestOfAllItsOrders) {
  constexpr int states = 7 * 3;
  std::vector<std::int64_t> counts(3);  // the first order, the second, any other
  for (int seed = 1; seed <= runs; ++seed) {
    const double best = search(number_of_order(), 7, 3, static_cast<std::uint64_t>(seed)).objective;
    ++counts[static_cast<std::size_t>(std::min(best, 2.0))];
  }
  const auto law = [](int n) {
    const double none = std::pow(23.0 / 24, n), neither = std::pow(22.0 / 24, n);
    return std::vector<double>{1 - none, none - neither, neither};
  };
  EXPECT_GT(chi_square_test(counts, law(states)).p, 1e-3);
  EXPECT_LT(chi_square_test(counts, law(states / 2)).p, 1e-6);
}

std::vector<std::int64_t> counts_of(const Result& result) {
  std::vector<std::int64_t> counts;
  for (const double count : result.series.at("histogram_count")) {
    counts.push_back(std::llround(count));
  }
  return counts;
}

/// The probabilities of values -n, -n + 2, ... n of a sum of n spins that are +1 with probability
/// p.
std::vector<double> binomial_law(int n, double p) {
  std::vector<double> law;
  for (int ups = 0; ups <= n; ++ups) {
    law.push_back(std::exp(std::lgamma(n + 1) - std::lgamma(ups + 1) - std::lgamma(n - ups + 1) +
                           ups * std::log(p) + (n - ups) * std::log(1 - p)));
  }
  return law;
}

// 8 spins: every value has a bin of its own, and all lie within the bins.
TEST(RandomSearch, HasAHistogramOfTheValuesOfSpins) {
  const Result result = search(sum_of_spins(8), 64, 500);
  const std::vector<double>& values = result.series.at("histogram_value");
  const std::vector<std::int64_t> counts = counts_of(result);
  ASSERT_EQ(values.size(), 64u);
  EXPECT_EQ(result.diagnostics.at("histogram_better"), 0);
  EXPECT_EQ(result.diagnostics.at("histogram_worse"), 0);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 64 * 500);
  EXPECT_EQ(result.objective, -8);

  std::vector<std::int64_t> of_sum(9);
  for (std::size_t b = 0; b < values.size(); ++b) {
    if (counts[b] == 0) continue;
    const double at = (values[b] + 8) / 2;
    ASSERT_TRUE(at >= 0 && at <= 8 && at == std::floor(at)) << "no sum of 8 spins: " << values[b];
    of_sum[static_cast<std::size_t>(at)] = counts[b];
  }
  EXPECT_GT(chi_square_test(of_sum, binomial_law(8, 0.5)).p, 1e-3);
  EXPECT_LT(chi_square_test(of_sum, binomial_law(8, 0.51)).p, 1e-6);
}

// Bins in which the better values lie first, whatever the sense; few bins leave much outside.
TEST(RandomSearch, HasHistogramsInTheSenseOfTheProblem) {
  const Result cut = search(sparse_cut(), 256, 20);
  const std::vector<double>& values = cut.series.at("histogram_value");
  ASSERT_EQ(cut.sense, Sense::maximize);
  EXPECT_TRUE(std::ranges::is_sorted(values, std::greater<>()));
  double sum = 0;
  for (std::size_t b = 0; b < values.size(); ++b) sum += cut.series.at("histogram_count")[b];
  EXPECT_EQ(sum + cut.diagnostics.at("histogram_better") + cut.diagnostics.at("histogram_worse"),
            256 * 20);
  EXPECT_LT(cut.objective, values.front());
}

TEST(RandomSearch, CountsStatesWithoutAValueBehindTheBins) {
  const Problem half = make_problem(
      make_host_objective("half", Space::reals(1, 0, 1), [](std::span<const double> x) {
        return x[0] < 0.5 ? x[0] : std::numeric_limits<double>::infinity();
      }));
  const Result result = search(half, 64, 100);
  const double worse = result.diagnostics.at("histogram_worse");
  EXPECT_GT(binomial_p_value(std::llround(worse), 6400, 0.5), 1e-3);
}

TEST(RandomSearch, GivesEqualValuesABin) {
  const Problem flat = make_problem(make_host_objective(
      "flat", Space::reals(2, 0, 1), [](std::span<const double>) { return 1e9; }));
  const Result result = search(flat, 32, 3);
  const std::vector<double>& counts = result.series.at("histogram_count");
  EXPECT_EQ(*std::ranges::max_element(counts), 96);
}

// A cut is two energies: a bin of an odd number of these would have every other cut twice.
TEST(RandomSearch, HasAsManyCutsInEachBin) {
  const Problem problem = make_maxcut(random_graph(12, 2, 3), "cut");
  std::map<double, double> law;  // by enumeration
  for (const State& state : all_states(12, true))
    law[problem.solution.verify(spans_of(state))] += 1.0 / 4096;
  for (const std::int64_t bins : {5, 9, 64}) {
    SCOPED_TRACE(bins);
    const Result result = search(problem, 64, 500, 1, {.bins = bins});
    const std::vector<double>& values = result.series.at("histogram_value");
    const double width = values[0] - values[1];
    EXPECT_EQ(width, std::floor(width));
    for (const double value : values) EXPECT_EQ(2 * value, std::floor(2 * value));
    std::vector<double> expected(values.size());
    for (const auto& [cut, p] : law) {
      const double at = (values[0] + width / 2 - cut) / width;
      ASSERT_NE(at, std::floor(at)) << "a cut at the edge of a bin";
      ASSERT_TRUE(at > 0 && at < static_cast<double>(bins)) << cut;
      expected[static_cast<std::size_t>(at)] += p;
    }
    EXPECT_GT(chi_square_test(counts_of(result), expected).p, 1e-3);
  }
}

// A bin would lie round a state that somebody chose, and the best would not be that of random ones.
TEST(RandomSearch, UsesNoStateThatIsKnownOrGiven) {
  const State best{std::vector<double>{0, 0, 0}};
  Problem known = greatest_of_three();
  known.start.states = {best};
  RunOptions given = options(32, 1);
  given.initial_states = {best};
  for (const auto& [problem, chosen] :
       {std::pair{known, options(32, 1)}, std::pair{greatest_of_three(), given}}) {
    RandomSearch schedule;
    const Result result = Engine(chosen).run(problem, schedule, {.sweeps = 4});
    EXPECT_GT(result.objective, 0.01) << "by chance below it with probability 1.3e-4";
    double count =
        result.diagnostics.at("histogram_better") + result.diagnostics.at("histogram_worse");
    EXPECT_LT(count, 4);
    for (const double in_bin : result.series.at("histogram_count")) count += in_bin;
    EXPECT_EQ(count, 4 * 32);
  }
}

}  // namespace
}  // namespace kiln::test::random_search_test
