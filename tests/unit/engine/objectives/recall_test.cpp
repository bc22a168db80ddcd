// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/recall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/schedules/bayesian_optimization.hpp"

namespace kiln::recall_test {
namespace {

using Reals = std::span<const double>;

/// Counts its calls, and gives another value in each.
struct Program {
  std::atomic<int> calls = 0;
  std::vector<Evaluation> seen;
  std::mutex mutex;

  Problem problem(Sense sense) {
    Problem made = make_problem(make_constrained_host_objective(
        "f", Space::reals(2, 0, 1), 1, [this, sense](StateSpan state, std::span<double> g) {
          const Reals x = std::get<Reals>(state.front());
          g[0] = x[0] - 1.5;  // always met
          const double value = (x[0] - 0.3) * (x[0] - 0.3) + x[1] + 1e-3 * ++calls;
          return sense == Sense::maximize ? -value : value;
        }));
    if (sense == Sense::minimize) return made;
    made.units.sense = sense;
    made.units.objective_of_stored = {0, -1};
    made.solution.verify = [objective = made.objective](StateSpan state) {
      return -objective->reference()(state);
    };
    return made;
  }
  RunOptions options() {
    RunOptions options;
    options.device = "cpu";
    options.threads = 1;
    options.on_evaluation = [this](const Evaluation& one) { seen.push_back(one); };
    return options;
  }
};

BayesianOptimizationOptions search() {
  BayesianOptimizationOptions options;
  options.evaluations = 8;
  options.batch = 4;
  return options;
}

// All that a run has evaluated is known, but for two evaluations.
TEST(WithRecall, CallsOnlyForWhatIsNotKnown) {
  for (const Sense sense : {Sense::minimize, Sense::maximize}) {
    Program first, second;
    const Problem plain = first.problem(sense);
    BayesianOptimization schedule(search());
    // The check of the answer is a call more, and another value: such a run is not verified.
    const Result expected = Engine(first.options()).run(plain, schedule, {});
    ASSERT_EQ(first.seen.size(), 8u);

    // Of the last batch the two worst, so that neither a model nor the answer depends on them.
    std::vector<std::size_t> last{4, 5, 6, 7};
    std::ranges::sort(last, [&](std::size_t a, std::size_t b) {
      return plain.better(first.seen[a].value, first.seen[b].value);
    });
    const auto known = [&](StateSpan state) -> std::optional<RecalledEvaluation> {
      for (std::size_t i = 0; i < first.seen.size(); ++i) {
        if (i == last[2] || i == last[3]) continue;
        const Reals a = std::get<Reals>(state.front()),
                    b = std::get<Reals>(spans_of(first.seen[i].state).front());
        if (a[0] != b[0] || a[1] != b[1]) continue;
        return RecalledEvaluation{first.seen[i].value, first.seen[i].constraints};
      }
      return std::nullopt;
    };
    const Problem recalling = with_recall(second.problem(sense), known);
    BayesianOptimization again(search());
    const Result result = Engine(second.options()).run(recalling, again, {});

    EXPECT_EQ(second.seen.size(), 8u) << "each is told to the watcher";
    EXPECT_EQ(second.calls, 2) << "the answer is one of those that are known";
    for (std::size_t i = 0; i < 8; ++i) {
      if (i == last[2] || i == last[3]) continue;
      EXPECT_EQ(result.evaluations->all[i].value, expected.evaluations->all[i].value);
      EXPECT_EQ(result.evaluations->all[i].constraints, expected.evaluations->all[i].constraints);
    }
  }
}

TEST(WithRecall, AFailureIsRecalledAsOne) {
  Program program;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Problem recalling = with_recall(program.problem(Sense::minimize), [&](StateSpan) {
    return RecalledEvaluation{nan, {nan}};
  });
  BayesianOptimization schedule(search());
  EXPECT_THROW(Engine(program.options()).run(recalling, schedule, {}), ObjectiveError);
  EXPECT_EQ(program.calls, 0);
  ASSERT_EQ(program.seen.size(), 8u);
  EXPECT_TRUE(std::isnan(program.seen.front().value));
}

// In other units a value does not come back bit for bit.
TEST(WithRecall, LeavesOtherUnitsAlone) {
  Program program;
  Problem scaled = program.problem(Sense::minimize);
  scaled.units.objective_of_stored = {0, 3};
  const Problem same = with_recall(scaled, [](StateSpan) { return RecalledEvaluation{0, {0}}; });
  EXPECT_EQ(same.objective, scaled.objective);
}

}  // namespace
}  // namespace kiln::recall_test
