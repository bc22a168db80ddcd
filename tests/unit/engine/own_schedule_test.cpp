// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What somebody meets who writes a schedule: moves of single values on spins and bits, which lie 32
// to a word unless the schedule asks for a place for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kiln/kernels/run/accept_move.hpp"
#include "kiln/kernels/run/propose_move.hpp"
#include "kiln/kiln.hpp"
#include "kiln/plan.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"

namespace kiln::own_schedule_test {
namespace {

using test::complaint;

/// Takes what is no worse: by its own proposals, or by the sweep of the run at beta infinity.
class Greedy final : public Schedule {
 public:
  enum class By { proposals, sweeps };
  explicit Greedy(bool unpacked, By by = By::proposals) : unpacked_(unpacked), by_(by) {}
  std::string name() const override { return "greedy"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override {
    Needs needs;
    needs.default_sweeps = 30;
    needs.pacing = Pacing::host;
    needs.unpacked = unpacked_;
    return needs;
  }
  void allocate(AllocateContext& run) override {
    const std::int64_t slots = run.batch().slots();
    undo_ = {run.scratch_zeros<std::int32_t>("first", slots),
             run.scratch_zeros<std::int32_t>("second", slots),
             run.scratch_zeros<double>("before", slots)};
    trial_ = run.scratch_zeros<double>("trial", slots);
    beta_ = run.scratch("beta", std::vector<double>{exact::infinity()});
  }
  void enqueue(TickContext& run) override {
    if (!run.control()->active(0)) return;
    if (by_ == By::sweeps) {
      run.sweep(beta_, 0, true);
    } else {
      const std::int64_t variables = run.batch().state(0).variables;
      for (std::int64_t v = 0; v < variables; ++v) move(run, v);
    }
    run.track_best();
  }

 private:
  void move(WorkContext& run, std::int64_t v) {
    ReplicaBatch& batch = run.batch();
    const StateBlock block = batch.state(0);
    run.queue().launch(ProposeMove{block, v, static_cast<std::uint32_t>(v), undo_, batch.draw_ids(),
                                   run.control(), 0});
    run.evaluate(trial_, {});
    for (std::int64_t slot = 0; slot < batch.replicas(); ++slot) {
      if (trial_[slot] <= batch.energy()[slot]) {
        batch.energy()[slot] = trial_[slot];
      } else {
        block.set(v, slot, undo_.value[slot]);
      }
    }
  }
  bool unpacked_;
  By by_;
  MoveUndo undo_;
  View1<double> trial_, beta_;
};

/// Changes the layout once the run has begun.
struct Converts final : Schedule {
  std::string name() const override { return "converts"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override { return {}; }
  void allocate(AllocateContext& run) override { run.batch().convert(0, Layout::i8); }
  void enqueue(TickContext& run) override { run.evaluate(run.batch().energy(), {}); }
};

Result solve(const Problem& problem, Schedule& schedule, std::int64_t replicas = 64) {
  return Engine({.device = "cpu", .replicas = replicas, .seed = 1}).run(problem, schedule, {});
}

double best_of_all_states(const Problem& problem, int n, bool spins) {
  double best = problem.units.sense == Sense::maximize ? -1e300 : 1e300;
  for (const State& state : test::all_states(n, spins)) {
    const double value = problem.solution.verify(spans_of(state));
    if (problem.better(value, best)) best = value;
  }
  return best;
}

TEST(OwnSchedule, MovesSpinsAndBitsOneByOneWhereTheyAreUnpacked) {
  const Problem cut = make_maxcut(test::random_graph(12, 8, 5), "cut");
  const Problem ising = make_ising(test::random_ising(12, 8, 3, 0.37), "ising");
  Qubo q;
  q.n = 12;
  for (int i = 0; i < 12; ++i) q.linear.push_back(i % 3 - 1.5);
  for (const Edge& e : test::random_graph(12, 8, 4, 1, 11).edges) {
    q.quadratic.push_back({e.u, e.v, e.weight});
  }
  const Problem bits = make_qubo(q, Sense::maximize, "bits");
  for (const Problem& problem : {cut, ising, bits}) {
    for (const Greedy::By by : {Greedy::By::proposals, Greedy::By::sweeps}) {
      Greedy schedule(true, by);
      const Result result = solve(problem, schedule);
      EXPECT_TRUE(result.verified) << problem.identity.name;
      const bool spins = problem.identity.name != "bits";
      EXPECT_NEAR(result.objective, best_of_all_states(problem, 12, spins), 1e-9)
          << problem.identity.name;
    }
  }
}

TEST(OwnSchedule, IsRefusedWhereItWritesIntoPackedStates) {
  const Problem cut = make_maxcut(test::random_graph(12, 8, 5), "cut");
  Greedy schedule(false);
  try {
    solve(cut, schedule);
    FAIL() << "moves that do nothing were taken for moves";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "kernel.packed");
    EXPECT_NE(error.message().find("propose_move"), std::string::npos);
    EXPECT_NE(error.fix().find("Needs::unpacked"), std::string::npos);
  }
}

TEST(OwnSchedule, MayNotChangeTheLayoutBehindTheObjective) {
  const Problem cut = make_maxcut(test::random_graph(12, 8, 5), "cut");
  Converts schedule;
  EXPECT_EQ(complaint([&] { solve(cut, schedule); }),
            "objective.layout: the energy of spins or bits needs layout packed32; the states have "
            "layout i8");
}

TEST(OwnSchedule, IsPlannedWithTheMemoryOfUnpackedStates) {
  const Problem cut = make_maxcut(test::random_graph(200, 2, 5), "cut");
  Greedy packed(false), unpacked(true);
  const auto bytes = [&](Schedule& schedule) {
    return plan_run(cut, schedule, {}, {.device = "cpu", .replicas = 1024}, open_backend("cpu", 1));
  };
  // States and best states: a byte instead of a bit; and one copy in bits.
  EXPECT_EQ(bytes(unpacked).batch_bytes - bytes(packed).batch_bytes, 2u * 200 * 1024 * 7 / 8);
  EXPECT_EQ(bytes(unpacked).objective_bytes - bytes(packed).objective_bytes, 200u * 1024 / 8);
}

}  // namespace
}  // namespace kiln::own_schedule_test
