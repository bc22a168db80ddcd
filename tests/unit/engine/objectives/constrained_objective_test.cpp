// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Objectives with constraints, and schedules that choose their own states.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kiln/device/vector_function.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/run/random_state.hpp"
#include "kiln/plan.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::constrained_objective_test {
namespace {

using test::complaint;
using test::options;

constexpr double infinity = std::numeric_limits<double>::infinity();

double first_of(StateSpan state) { return std::get<std::span<const double>>(state[0])[0]; }

// Minimises x on 0 .. 1 with x >= bound and x <= 2.
Problem right_of(double bound) {
  return make_problem(make_constrained_host_objective(
      "line", Space::reals(1, 0, 1), 2, [bound](StateSpan state, std::span<double> g) {
        const double x = first_of(state);
        g[0] = bound - x;
        g[1] = x - 2;
        return x;
      }));
}

// Random search that forgets what is not feasible.
class Search : public Schedule {
 public:
  explicit Search(bool takes_constraints = true, bool keeps_all = false)
      : takes_(takes_constraints), keeps_all_(keeps_all) {}
  std::string name() const override { return "search"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override {
    Needs needs;
    needs.constraints = takes_;
    needs.pacing = Pacing::host;
    needs.own_states = true;
    return needs;
  }
  void allocate(AllocateContext& run) override {
    const auto rows = run.problem().objective->constraints();
    const std::int64_t slots = run.batch().slots();
    g_ = run.scratch_zeros<double>("g", rows * slots);
    constraint_ = {g_.data, rows, slots, slots};
    at_start = run.batch().read_energies(false);
    states_at_start = run.batch().read_states({0, 1}, false);
  }
  void initialize(InitializeContext& run) override { draw(run); }
  void enqueue(TickContext& run) override {
    draw(run);
    run.track_best();
  }

  std::vector<double> at_start;
  std::vector<State> states_at_start;

 private:
  void draw(WorkContext& run) {
    run.queue().launch(RandomState{
        run.batch().state(0), 0, run.batch().rung_of(), {}, run.batch().draw_ids(), run.control()});
    run.evaluate(run.batch().energy(), {}, constraint_);
    std::vector<double> energy = run.batch().read_energies(false), g(run.read(g_));
    const auto slots = static_cast<std::size_t>(run.batch().slots());
    for (std::size_t i = 0; i < static_cast<std::size_t>(run.batch().replicas()); ++i) {
      for (std::size_t j = 0; j * slots < g.size() && !keeps_all_; ++j) {
        if (!(g[j * slots + i] <= 0)) energy[i] = infinity;
      }
    }
    run.queue().upload(run.batch().energy().data, energy.data(), energy.size() * sizeof(double));
  }
  bool takes_, keeps_all_;
  View1<double> g_;
  View2<double> constraint_;
};

// Two rungs, of which the first is left out.
void check_values(Backend& backend, bool thread_safe) {
  const auto queue = backend.make_queue();
  const auto objective = make_constrained_host_objective(
      "f", Space::reals(2, 0, 9), 1,
      [](StateSpan state, std::span<double> g) {
        const auto x = std::get<std::span<const double>>(state[0]);
        if (x[0] == 3) return std::numeric_limits<double>::quiet_NaN();
        g[0] = x[0] - x[1];
        return 10 * x[0] + x[1];
      },
      thread_safe);
  ReplicaBatch batch(*queue, objective->space(), objective->execution().layouts, {40, 2, 1});
  std::vector<State> states;
  for (int i = 0; i < 40; ++i) {
    states.push_back({std::vector<double>{static_cast<double>(i % 5), i / 10.0}});
  }
  batch.write_states(states);
  DeviceArray<double> g(*queue, std::vector<double>(64, -7.0));
  const DeviceArray<std::uint32_t> second(*queue, std::vector<std::uint32_t>{0, 1});
  objective->bind(*queue)->as<Evaluates>()->evaluate(
      EvaluateArgs{batch, batch.energy(), second.view(), nullptr, {g.data(), 1, 64, 64}}, *queue);
  const std::vector<double> energy = batch.read_energies(false), constraint = g.download();
  for (std::size_t i = 0; i < 40; ++i) {
    const double x = static_cast<double>(i % 5), y = static_cast<double>(i) / 10;
    if (i < 20) {
      EXPECT_EQ(energy[i], infinity);
      EXPECT_EQ(constraint[i], -7);
    } else if (x == 3) {
      EXPECT_EQ(energy[i], infinity);
      EXPECT_TRUE(std::isnan(constraint[i]));
    } else {
      EXPECT_EQ(energy[i], 10 * x + y);
      EXPECT_EQ(constraint[i], x - y);
    }
  }
}

TEST(ConstrainedObjective, GivesValuesAndConstraintsOnEveryBackend) {
  for (const bool thread_safe : {true, false}) {
    check_values(*open_backend("cpu", 2).backend, thread_safe);
    if (list_devices().size() > 1) check_values(*open_backend("cuda", 0).backend, thread_safe);
  }
}

TEST(ConstrainedObjective, IsVerifiedWhereItIsFeasible) {
  Search schedule;
  const Result result = Engine(options()).run(right_of(0.5), schedule, {.sweeps = 20});
  EXPECT_TRUE(result.verified);
  EXPECT_TRUE(result.feasible());
  EXPECT_GE(result.reals()[0], 0.5);
  EXPECT_LT(result.objective, 0.55) << "the best of 640 uniform draws";
  ASSERT_EQ(result.constraints.size(), 2u);
  EXPECT_EQ(result.constraints[0], 0.5 - result.objective);
  EXPECT_NE(result.to_json().find(R"("constraints":{"feasible":true,"violation":0.0)"),
            std::string::npos);
}

TEST(ConstrainedObjective, IsNotVerifiedWhereItIsNot) {
  Search schedule(true, true);
  const Result result = Engine(options()).run(right_of(0.5), schedule, {.sweeps = 20});
  EXPECT_FALSE(result.verified);
  EXPECT_FALSE(result.feasible());
  EXPECT_EQ(result.violation(), 0.5 - result.objective);
  EXPECT_NE(result.brief_report().find("NOT FEASIBLE by 0.4"), std::string::npos);
  EXPECT_NE(result.to_json().find(R"("constraints":{"feasible":false)"), std::string::npos);
}

TEST(ConstrainedObjective, SaysWhereNothingFeasibleWasFound) {
  Search schedule;
  EXPECT_EQ(test::code_of([&] { Engine(options()).run(right_of(1.5), schedule, {.sweeps = 3}); }),
            "result.infeasible");
}

TEST(ConstrainedObjective, IsRefusedForSchedulesThatDoNotTakeConstraints) {
  SimulatedAnnealing annealing;
  Search search(false);
  for (Schedule* schedule : {static_cast<Schedule*>(&annealing), static_cast<Schedule*>(&search)}) {
    EXPECT_EQ(complaint([&] { Engine(options()).run(right_of(0.5), *schedule, {.sweeps = 2}); }),
              "objective.constraints: objective 'line' has 2 constraints, which schedule '" +
                  schedule->name() + "' does not support");
  }
  const auto with = [](int constraints) {
    return complaint([&] {
      make_constrained_host_objective("f", Space::reals(1, 0, 1), constraints,
                                      [](StateSpan, std::span<double>) { return 0.0; });
    });
  };
  EXPECT_EQ(with(max_constraints), "accepted");
  EXPECT_EQ(with(max_constraints + 1), "objective.constraints: objective 'f' has 17 constraints");
  EXPECT_EQ(with(-1), "objective.constraints: objective 'f' has -1 constraints");
}

TEST(OwnStates, NothingIsDrawnOrEvaluatedBeforeTheScheduleBegins) {
  std::atomic<int> calls{0};
  const Problem problem = make_problem(make_host_objective(
      "count", Space::reals(1, 1, 2), [&](StateSpan state) { return ++calls, first_of(state); }));
  Search schedule;
  RunOptions chosen = options();
  { const kiln::Run run(problem, schedule, {}, chosen, open_backend("cpu", 1)); }
  EXPECT_EQ(calls, 32) << "by begin() alone";
  for (const double energy : schedule.at_start) EXPECT_EQ(energy, infinity);

  chosen.initial_states = {{std::vector<double>{1.25}}, {std::vector<double>{1.5}}};
  { const kiln::Run run(problem, schedule, {}, chosen, open_backend("cpu", 1)); }
  EXPECT_EQ(schedule.states_at_start, chosen.initial_states);
  EXPECT_EQ(calls, 64);
}

TEST(WatchStop, IsGivenTheTokenOfEachRun) {
  Problem problem = right_of(0.1);
  std::stop_source source;
  std::vector<bool> possible;
  std::stop_token seen;
  problem.experiment.emplace().watch_stop = [&](std::stop_token token) {
    possible.push_back(token.stop_possible());
    seen = std::move(token);
  };
  Search schedule;
  kiln::Run run(problem, schedule, {}, options(), open_backend("cpu", 1));
  run.advance_to({.sweeps = 1}, {}, source.get_token());
  source.request_stop();
  EXPECT_TRUE(seen.stop_requested());
  run.advance_to({.sweeps = 2});
  EXPECT_EQ(possible, (std::vector<bool>{true, false}));
}

// Runs on a queue of no backend of Kiln use threads of their own.
TEST(ForEachOnHost, OfOtherBackendsCallsEachOnceAndPassesTheFirstExceptionOn) {
  const auto queue = open_backend("cpu", 1).backend->make_queue();
  std::vector<std::atomic<int>> count(1000);
  queue->Queue::for_each_on_host(1000,
                                 [&](std::int64_t i) { ++count[static_cast<std::size_t>(i)]; });
  for (const auto& n : count) EXPECT_EQ(n, 1);
  EXPECT_THROW(queue->Queue::for_each_on_host(100,
                                              [](std::int64_t i) {
                                                if (i == 7) throw std::runtime_error("7");
                                              }),
               std::runtime_error);
  queue->Queue::for_each_on_host(0, [](std::int64_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace kiln::constrained_objective_test
