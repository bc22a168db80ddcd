// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/constrained.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::problems::constrained_test {
namespace {

using std::numbers::pi;
using test::complaint;
using Reals = std::vector<double>;

/// A state from plain numbers.
State state_of(const Problem& problem, const Reals& numbers) {
  State state;
  std::size_t at = 0;
  for (const Block& block : problem.objective->space().blocks()) {
    Reals reals;
    std::vector<std::int32_t> integers;
    for (std::int64_t i = 0; i < block.count; ++i, ++at) {
      reals.push_back(numbers[at]);
      integers.push_back(static_cast<std::int32_t>(numbers[at]));
    }
    if (block.kind == BlockKind::real) {
      state.emplace_back(reals);
    } else {
      state.emplace_back(integers);
    }
  }
  return state;
}

double value_at(const Problem& problem, const Reals& x) {
  const State state = state_of(problem, x);
  return problem.solution.verify(spans_of(state));
}

Reals constraints_at(const Problem& problem, const Reals& x) {
  const State state = state_of(problem, x);
  return problem.solution.constraint_values(spans_of(state));
}

// The optima that a search of its own (differential evolution, outside of Kiln) found.
TEST(Constrained, HaveTheirOptimaWhereTheyWereFound) {
  const struct {
    const char* name;
    Reals optimum;
    int active;  // constraints that hold it
  } cases[] = {
      {"ackley-3", {0, 0, 0}, 1},
      {"gramacy", {0.19512268396346, 0.40466536804661}, 1},
      {"pressure-vessel", {13, 7, 42.098445595855, 176.63659584244}, 2},
      {"speed-reducer", {3.5, 0.7, 17, 7.3, 7.8, 3.3502146660964, 5.2866832297579}, 3},
      {"tension-spring", {0.051689061000237, 0.35671773781407, 11.28896586801}, 2},
      {"welded-beam", {0.20572963978608, 3.470488665628, 9.0366239103576, 0.20572963978608}, 4},
  };
  for (const auto& one : cases) {
    const Problem problem = constrained_by_name(one.name);
    const double best = *problem.known.best;
    EXPECT_NEAR(value_at(problem, one.optimum), best, 1e-6 * std::max(1.0, best)) << one.name;
    int active = 0;
    // Relative to the size of what is compared: 1296000 cubic inches, 30000 psi.
    for (const double g : constraints_at(problem, one.optimum)) {
      EXPECT_LE(g, 1e-4) << one.name;
      active += g > -1e-3;
    }
    EXPECT_EQ(active, one.active) << one.name;
  }
}

// Worked out by hand.
TEST(Constrained, HaveTheValuesOfTheirFormulas) {
  EXPECT_EQ(constrained_by_name("ackley").objective->space().variables(), 10);
  EXPECT_EQ(constraints_at(constrained_by_name("ackley-2"), {3, -4}), (Reals{-1, 0}));
  const Reals g = constraints_at(constrained_by_name("gramacy"), {0.5, 0});
  EXPECT_NEAR(g[0], 1.5 - 0.5 - 0.5 * std::sin(pi / 2), 1e-15);
  EXPECT_NEAR(g[1], -1.25, 1e-15);
  const Problem vessel = constrained_by_name("pressure-vessel");
  EXPECT_NEAR(value_at(vessel, {16, 16, 10, 20}),
              0.6224 * 200 + 1.7781 * 100 + 3.1661 * 20 + 19.84 * 10, 1e-9);
  EXPECT_NEAR(constraints_at(vessel, {16, 16, 10, 20})[2],
              1296000 - pi * 2000 - 4.0 / 3 * pi * 1000, 1e-6);
  const Problem spring = constrained_by_name("tension-spring");
  EXPECT_NEAR(value_at(spring, {0.1, 0.5, 10}), 12 * 0.5 * 0.01, 1e-15);
  EXPECT_NEAR(constraints_at(spring, {0.1, 0.5, 10})[0], 1 - 0.125 * 10 / 7.1785, 1e-12);
  EXPECT_EQ(
      constraints_at(constrained_by_name("speed-reducer"), {3, 0.75, 20, 8, 8, 3, 5.2}).size(),
      11u);
  EXPECT_EQ(constraints_at(constrained_by_name("welded-beam"), {1, 2, 3, 1.5})[2], -0.5);
}

// Kannan and Kramer 1994, Ragsdell and Phillips 1976, Belegundu 1982, Golinski 1973.
TEST(Constrained, NameTheirVariablesAsTheLiteratureDoes) {
  const auto names_of = [](const std::string& name) {
    std::vector<std::string> names;
    for (const VariableModel& one : constrained_by_name(name).coordinates)
      names.push_back(one.name);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of("pressure-vessel"),
            (Names{"shell thickness [1/16 in]", "head thickness [1/16 in]", "inner radius [in]",
                   "length [in]"}));
  EXPECT_EQ(names_of("tension-spring"),
            (Names{"wire diameter [in]", "coil diameter [in]", "active coils"}));
  EXPECT_EQ(names_of("welded-beam"), (Names{"weld thickness [in]", "weld length [in]",
                                            "bar height [in]", "bar thickness [in]"}));
  EXPECT_EQ(names_of("speed-reducer").at(2), "pinion teeth");
  EXPECT_EQ(names_of("speed-reducer").size(), 7u);
  EXPECT_EQ(names_of("gramacy"), Names{});
  EXPECT_EQ(constrained_by_name("pressure-vessel").units.value_name, "cost");
}

TEST(Constrained, RefusesOtherNames) {
  const auto refusal = [](const std::string& text) {
    return complaint([&] { constrained_by_name(text); });
  };
  EXPECT_EQ(refusal("gramasy"),
            "problem.unknown: unknown constrained 'gramasy'; the nearest is 'gramacy'");
  EXPECT_EQ(refusal("ackley-0"), "problem.size: 'constrained:ackley-0' has 0 dimensions");
  EXPECT_EQ(refusal("gramacy-3").substr(0, 19), "problem.parameters:");
  EXPECT_EQ(constrained_names().size(), 6u);
}

}  // namespace
}  // namespace kiln::problems::constrained_test
