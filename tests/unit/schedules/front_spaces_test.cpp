// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The search for fronts in every kind of space, with constraints, and where a function of a user
// gives no number.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/multi_objective.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"

#include "front_method.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::front_spaces_test {
namespace {

using Ints = std::span<const std::int32_t>;
using Bytes = std::span<const std::int8_t>;
using Reals = std::span<const double>;
using Out = std::span<double>;

constexpr const char* strategies[] = {"nsga2", "nsga3", "moead", "sms-emoa", "amosa"};

/// Small, by one strategy or another.
Result search(const Problem& problem, std::int64_t sweeps, const std::string& strategy = "nsga2",
              std::uint64_t seed = 1) {
  test::FrontMethod chosen(strategy);
  chosen.population = 40;
  const auto schedule = chosen.schedule();
  const Result result = Engine(test::options(0, seed)).run(problem, *schedule, {.sweeps = sweeps});
  EXPECT_TRUE(result.verified) << problem.identity.name << " by " << strategy;
  return result;
}

Problem on_host(const Space& space, int constraints, HostVectorCallable function,
                bool thread_safe = true) {
  return make_multi_objective_problem(
      "own", "host",
      make_host_vector_objective("own", space, 2, constraints, std::move(function), thread_safe));
}

/// The least value of each objective on the front.
std::pair<double, double> ends_of(const Result& result) {
  const Front& front = *result.front;
  return {front.members[front.extremes[0]].values[0], front.members[front.extremes[1]].values[1]};
}

TEST(FrontSpaces, MembersMeetTheConstraints) {
  for (const Problem& problem : {problems::cdtlz("c2-dtlz2"), problems::cdtlz("c3-dtlz1", 2),
                                 problems::knapsack(60, 2, 1)}) {
    for (const char* strategy : strategies) {
      const Result result = search(problem, strategy == std::string("amosa") ? 600 : 150, strategy);
      EXPECT_GT(result.front->members.size(), 2u) << problem.identity.name << " by " << strategy;
      for (const FrontMember& member : result.front->members) {
        const ObjectiveVector anew = problem.objectives->evaluate(spans_of(member.state));
        ASSERT_LE(anew.violation, 0) << problem.identity.name << " by " << strategy;
        ASSERT_EQ(anew.values, member.values);
      }
    }
  }
}

TEST(FrontSpaces, SaysThatConstraintsCannotBeMet) {
  const Problem never = on_host(Space::reals(3, 0, 1), 1, [](StateSpan state, Out f, Out g) {
    const auto x = std::get<Reals>(state[0]);
    f[0] = x[0];
    f[1] = 1 - x[1];
    g[0] = 1 + x[2];
  });
  for (const char* strategy : strategies) {
    const Result result = search(never, 100, strategy);
    const Front& front = *result.front;
    EXPECT_TRUE(front.members.empty());
    EXPECT_GT(front.infeasible, 0);
    EXPECT_NEAR(front.min_violation, 1, 0.1) << "infeasible states compete by their violation";
    EXPECT_EQ(result.objective, 0);
    ASSERT_FALSE(result.advice.empty());
    EXPECT_NE(result.advice.front().find("the run found no feasible state"), std::string::npos);
    EXPECT_NE(result.to_json().find("\"hypervolume\":0"), std::string::npos);
  }
}

// Half of the space has no values; the front is f2 = 1 / f1 on the other half.
TEST(FrontSpaces, StatesWithoutNumbersAreCountedAndOnNoFront) {
  for (const char* strategy : strategies) {
    std::atomic<std::uint64_t> without{0};
    const Problem half = on_host(Space::reals(2, 0, 2), 0, [&](StateSpan state, Out f, Out) {
      const auto x = std::get<Reals>(state[0]);
      f[0] = x[0];
      f[1] = (1 + x[1]) / x[0];
      if (x[0] < 1) {
        f[without % 2] = std::numeric_limits<double>::quiet_NaN();
        ++without;
      }
    });
    const Result result = search(half, 100, strategy);
    EXPECT_GT(result.work.not_finite, 5u) << strategy;
    if (strategy != std::string("amosa")) {  // which evaluates its first states twice
      EXPECT_EQ(result.work.not_finite, without) << strategy;
    }
    EXPECT_GT(result.front->members.size(), 20u) << strategy;
    EXPECT_NEAR(ends_of(result).first, 1, 0.05) << strategy;
    for (const FrontMember& member : result.front->members) {
      ASSERT_GE(std::get<std::vector<double>>(member.state[0])[0], 1) << strategy;
    }
  }
}

TEST(FrontSpaces, SaysThatNothingWasANumber) {
  const Problem problem = on_host(Space::reals(2, 0, 1), 0, [](StateSpan, Out f, Out) {
    f[0] = 1;
    f[1] = std::numeric_limits<double>::quiet_NaN();
  });
  const Result result = search(problem, 3);
  EXPECT_TRUE(result.front->members.empty());
  EXPECT_GT(result.work.not_finite, 0u);
  ASSERT_FALSE(result.advice.empty());
  EXPECT_EQ(result.advice.front(), "the run found no state with a finite value of every objective");
}

TEST(FrontSpaces, FindsWholeFrontsOfBits) {
  // As many ones as possible against as few as possible: every number of ones is on the front.
  for (const bool spins : {false, true}) {
    const Space space = spins ? Space::spins(12) : Space::binary(12);
    const Problem problem = on_host(space, 0, [](StateSpan state, Out f, Out) {
      const auto bits = std::get<Bytes>(state[0]);
      f[0] = static_cast<double>(std::ranges::count(bits, 1));
      f[1] = 12 - f[0];
    });
    EXPECT_EQ(search(problem, 150).front->members.size(), 13u);
  }
}

TEST(FrontSpaces, FindsWholeFrontsOfCategories) {
  // Of three values two are wanted, each by one objective; the third helps nobody.
  const Problem problem = on_host(Space::categories(9, 3), 0, [](StateSpan state, Out f, Out) {
    const auto values = std::get<Ints>(state[0]);
    f[0] = static_cast<double>(9 - std::ranges::count(values, 0));
    f[1] = static_cast<double>(9 - std::ranges::count(values, 2));
  });
  const Result result = search(problem, 150);
  EXPECT_EQ(result.front->members.size(), 10u);
  for (const FrontMember& member : result.front->members) {
    EXPECT_EQ(member.values[0] + member.values[1], 9);
  }
}

TEST(FrontSpaces, FindsTheFrontOfIntegers) {
  const Problem problem = on_host(Space::integers(4, -50, 50), 0, [](StateSpan state, Out f, Out) {
    f[0] = f[1] = 0;
    for (const std::int32_t i : std::get<Ints>(state[0])) {
      f[0] += std::abs(i - 3);
      f[1] += std::abs(i + 7);
    }
  });
  const Result result = search(problem, 250);
  for (const FrontMember& member : result.front->members) {
    EXPECT_EQ(member.values[0] + member.values[1], 40) << "all between -7 and 3";
  }
  EXPECT_GT(result.front->members.size(), 30u);
}

TEST(FrontSpaces, FindsTheEndsOfPermutations) {
  // One objective wants things in order, the other one in the reverse order.
  const Problem problem = on_host(Space::permutation(7), 0, [](StateSpan state, Out f, Out) {
    f[0] = f[1] = 0;
    const auto order = std::get<Ints>(state[0]);
    for (int i = 0; i < 7; ++i) {
      f[0] += std::abs(order[static_cast<std::size_t>(i)] - i);
      f[1] += std::abs(order[static_cast<std::size_t>(i)] - (6 - i));
    }
  });
  for (const char* strategy : {"nsga2", "amosa"}) {
    const Result result = search(problem, 400, strategy);
    EXPECT_EQ(ends_of(result), std::pair(0.0, 0.0)) << strategy;
    for (const FrontMember& member : result.front->members) {
      std::vector<std::int32_t> sorted = std::get<std::vector<std::int32_t>>(member.state[0]);
      std::ranges::sort(sorted);
      std::vector<std::int32_t> all(7);
      std::iota(all.begin(), all.end(), 0);
      ASSERT_EQ(sorted, all);
    }
  }
}

// Every kind at once: a distance to one corner and to the opposite one, of all blocks together.
void distances(StateSpan state, Out f, Out g) {
  f[0] = f[1] = 0;
  const auto count = [&](double from_first, double from_last) {
    f[0] += from_first;
    f[1] += from_last;
  };
  for (const std::int8_t s : std::get<Bytes>(state[0])) count(s > 0 ? 1 : 0, s > 0 ? 0 : 1);
  for (const std::int8_t b : std::get<Bytes>(state[1])) count(b, 1 - b);
  for (const std::int32_t c : std::get<Ints>(state[2])) count(c == 0 ? 0 : 1, c == 3 ? 0 : 1);
  for (const std::int32_t i : std::get<Ints>(state[3])) count((i + 20) / 40.0, (20 - i) / 40.0);
  for (const double x : std::get<Reals>(state[4])) count(x * x, (1 - x) * (1 - x));
  const auto order = std::get<Ints>(state[5]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    count(std::abs(order[i] - static_cast<double>(i)) / 4,
          std::abs(order[i] - static_cast<double>(order.size() - 1 - i)) / 4);
  }
  g[0] = std::get<Reals>(state[4])[0] - 0.9;
}

TEST(FrontSpaces, SearchesMixturesOfEveryKind) {
  const Space space({{BlockKind::spin, 3, -1, 1},
                     {BlockKind::binary, 3, 0, 1},
                     {BlockKind::category, 3, 0, 3},
                     {BlockKind::integer, 3, -20, 20},
                     {BlockKind::real, 3, 0, 1},
                     {BlockKind::permutation, 4, 0, 3}});
  const Problem problem = on_host(space, 1, distances, false);
  for (const char* strategy : strategies) {
    const Result result = search(problem, strategy == std::string("amosa") ? 2000 : 300, strategy);
    EXPECT_LT(ends_of(result).first, 2) << strategy << ": 0 is the best";
    EXPECT_LT(ends_of(result).second, 2) << strategy << ": 0.01 is the best";
    EXPECT_GT(result.front->members.size(), 15u) << strategy;
    for (const FrontMember& member : result.front->members) {
      for (const std::int32_t i : std::get<std::vector<std::int32_t>>(member.state[3])) {
        ASSERT_LE(std::abs(i), 20);
      }
      const auto& reals = std::get<std::vector<double>>(member.state[4]);
      ASSERT_LE(reals[0], 0.9);
      for (const double x : reals) ASSERT_TRUE(x >= 0 && x <= 1);
      std::vector<std::int32_t> sorted = std::get<std::vector<std::int32_t>>(member.state[5]);
      std::ranges::sort(sorted);
      ASSERT_EQ(sorted, (std::vector<std::int32_t>{0, 1, 2, 3}));
    }
  }
}

}  // namespace
}  // namespace kiln::front_spaces_test
