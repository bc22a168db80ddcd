// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/errors.hpp"

namespace kiln::bayesian_optimizer_state_test {
namespace {

BayesianOptimizer search_with(std::int64_t studies) {
  BayesianProblem problem;
  problem.space = Space({{BlockKind::real, 2, 0, 1}, {BlockKind::integer, 1, 0, 9}});
  BayesianOptimizationOptions options;
  options.studies = studies;
  return BayesianOptimizer(std::move(problem), options, 3, "cpu");
}

double value_at(const State& state) {
  const auto& reals = std::get<std::vector<double>>(state[0]);
  const int whole = std::get<std::vector<std::int32_t>>(state[1])[0];
  return std::pow(reals[0] - 0.3, 2) + std::abs(reals[1] - 0.6) + 0.1 * std::abs(whole - 4);
}

TEST(BayesianOptimizerState, ContinuesWithPendingPointsOfEachStudy) {
  BayesianOptimizer whole = search_with(2);
  std::vector<Suggestion> pending;
  for (int i = 0; i < 14; ++i) {
    const Suggestion next = whole.ask(1, i % 2).front();
    if (i % 5 == 4) {
      pending.push_back(next);
    } else {
      whole.tell(next.id, value_at(next.state));
    }
  }
  ASSERT_EQ(pending.size(), 2u);

  BayesianOptimizer other = search_with(2);
  other.restore(whole.state());

  // The values of pending points are NaN.
  const auto is_same = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  EXPECT_TRUE(std::ranges::equal(other.state(), whole.state(), is_same));
  for (std::int64_t study = 0; study < 2; ++study) {
    EXPECT_EQ(other.evaluations(study), whole.evaluations(study));
    EXPECT_EQ(other.best_value(study), whole.best_value(study));
  }
  for (const Suggestion& one : pending) {
    whole.tell(one.id, value_at(one.state));
    other.tell(one.id, value_at(one.state));
  }
  for (std::int64_t study = 0; study < 2; ++study) {
    const auto a = whole.ask(2, study), b = other.ask(2, study);
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].id, b[i].id);
      EXPECT_EQ(a[i].state, b[i].state);
    }
  }
}

TEST(BayesianOptimizerState, RefusesNumbersOfNoSearch) {
  const BayesianOptimizer one = search_with(1);
  std::vector<double> state = one.state();
  state.pop_back();
  EXPECT_THROW(search_with(1).restore(state), InvalidArgument);
  EXPECT_THROW(search_with(2).restore(one.state()), InvalidArgument);
  EXPECT_THROW(search_with(1).restore({}), InvalidArgument);
}

}  // namespace
}  // namespace kiln::bayesian_optimizer_state_test
