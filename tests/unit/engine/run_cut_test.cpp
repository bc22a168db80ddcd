// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run goes on from when something ended it: the end of its last whole tick.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::run_cut_test {
namespace {

using test::complaint;

RunOptions options(int threads = 1) {
  RunOptions options;
  options.device = "cpu";
  options.threads = threads;
  options.replicas = 64;
  options.report_interval_s = 0;
  return options;
}

Problem ising() { return make_ising(test::random_ising(60, 4, 3), "ising"); }

// So hot that only a descent finds low energies.
SimulatedAnnealing hot() {
  SimulatedAnnealingOptions options;
  options.cooling = LinearCooling{};
  options.beta_min = options.beta_max = 1e-6;
  options.anneal_sweeps = 80;
  options.polish_sweeps = 0;
  return SimulatedAnnealing(options);
}

double lowest(const std::vector<double>& energies) {
  return *std::min_element(energies.begin(), energies.end());
}

TEST(RunCut, ADescentCountsForTheResultAndNotForTheRun) {
  const Problem problem = ising();
  SimulatedAnnealing schedule = hot(), other = hot();
  const Budget whole{.sweeps = 80};
  kiln::Run cut(problem, schedule, whole, options(), open_backend("cpu", 1));
  kiln::Run plain(problem, other, whole, options(), open_backend("cpu", 1));
  std::stop_source stop;
  stop.request_stop();

  const Result result = cut.advance({}, stop.get_token());

  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_TRUE(result.verified);
  EXPECT_LT(result.energy, lowest(cut.batch().read_energies(true)) - 20);
  plain.advance_to({.sweeps = 8});
  EXPECT_EQ(cut.batch().read_energies(true), plain.batch().read_energies(true));
  EXPECT_EQ(cut.batch().read_energies(false), plain.batch().read_energies(false));
}

TEST(RunCut, ThePartOfATickCountsForTheResultAndNotForTheRun) {
  const Problem problem = ising();
  SimulatedAnnealing schedule = hot(), other = hot();
  kiln::Run cut(problem, schedule, {.sweeps = 80}, options(), open_backend("cpu", 1));
  kiln::Run plain(problem, other, {.sweeps = 80}, options(), open_backend("cpu", 1));

  const Result result = cut.advance_to({.sweeps = 15});

  EXPECT_EQ(result.work.sweeps, 15);
  EXPECT_EQ(result.work.ticks, 2);
  const Result whole = plain.advance_to({.sweeps = 8});
  EXPECT_GT(result.work.accepted, whole.work.accepted);
  EXPECT_LE(result.energy, whole.energy);
  EXPECT_EQ(cut.batch().read_accepted(), plain.batch().read_accepted());
  EXPECT_EQ(cut.batch().read_energies(true), plain.batch().read_energies(true));
}

// Observers see a run that goes forward: what a copy found is reported once, and again when the run
// finds it itself.
TEST(RunCut, ReportsGoOnFromTheWholeTick) {
  const Problem problem = ising();
  SimulatedAnnealing schedule = hot();
  kiln::Run run(problem, schedule, {.sweeps = 80}, options(), open_backend("cpu", 1));
  run.advance_to({.sweeps = 15});
  bool plausible = true;
  run.advance({[&](const ReportPoint& point) {
    plausible = plausible && point.acceptance_rate <= 1 && point.sweeps <= 80;
    return Next::go_on;
  }});
  EXPECT_TRUE(plausible);
}

TEST(RunCut, AnObserverThatThrowsEndsTheCallAndNotTheRun) {
  const Problem problem = ising();
  SimulatedAnnealing schedule, other;
  const Budget whole{.sweeps = 400};
  kiln::Run run(problem, schedule, whole, options(), open_backend("cpu", 1));
  kiln::Run plain(problem, other, whole, options(), open_backend("cpu", 1));
  for (int calls = 1; calls < 4; ++calls) {
    int left = calls;
    const Observers observers{[&](const ReportPoint&) -> Next {
      if (--left == 0) throw std::runtime_error("no more");
      return Next::go_on;
    }};
    EXPECT_THROW(run.advance(observers), std::runtime_error);
  }
  EXPECT_EQ(run.advance().objective, plain.advance().objective);
  Archive one, two;
  run.save(one);
  plain.save(two);
  test::expect_same_archives(one, two);
}

// The function fails once, in the middle of a sweep: after that the run is the one without failure.
TEST(RunCut, AHostObjectiveThatThrowsLeavesTheLastWholeTick) {
  const auto make = [](std::shared_ptr<std::atomic<int>> calls, int fatal) {
    return make_problem(make_host_objective(
        "parabola", Space::reals(3, -1, 2),
        std::function<double(std::span<const double>)>([=](std::span<const double> x) {
          if (++*calls == fatal) throw std::runtime_error("boom");
          return x[0] * x[0] + x[1] * x[1] + x[2];
        })));
  };
  const Budget whole{.sweeps = 100};
  const Problem sound = make(std::make_shared<std::atomic<int>>(0), -1);
  SimulatedAnnealing reference;
  kiln::Run plain(sound, reference, whole, options(), open_backend("cpu", 1));
  const Result expected = plain.advance();
  Archive right;
  plain.save(right);
  for (const int fatal : {64 + 7, 5000, 12345}) {
    for (const int threads : {1, 3}) {
      const Problem problem = make(std::make_shared<std::atomic<int>>(0), fatal);
      SimulatedAnnealing schedule;
      kiln::Run run(problem, schedule, whole, options(threads), open_backend("cpu", threads));
      EXPECT_THROW(run.advance(), ObjectiveError);
      const Result result = run.advance();
      EXPECT_TRUE(result.verified);
      EXPECT_EQ(result.solution, expected.solution);
      Archive saved;
      run.save(saved);
      test::expect_same_archives(saved, right);
    }
  }
}

// A schedule of a user that runs on the device alone and throws in the middle of a tick.
class Thrower : public SimulatedAnnealing {
 public:
  void enqueue(kiln::TickContext& run) override {
    SimulatedAnnealing::enqueue(run);
    if (++ticks_ == 3) throw std::runtime_error("boom");
  }

 private:
  int ticks_ = 0;
};

TEST(RunCut, RefusesToGoOnFromTheMiddleOfATick) {
  const Problem problem = ising();
  Thrower schedule;
  const Budget whole{.sweeps = 400};
  kiln::Run run(problem, schedule, whole, options(), open_backend("cpu", 1));
  Archive start, saved;
  run.save(start);
  EXPECT_THROW(run.advance(), std::runtime_error);
  EXPECT_TRUE(complaint([&] { run.advance(); }).starts_with("run.broken: "));
  EXPECT_TRUE(complaint([&] { run.save(saved); }).starts_with("run.broken: "));

  run.load(start);
  EXPECT_TRUE(run.advance().verified);
}

// Another schedule's archive fits in part: what was overwritten must not go on.
TEST(RunCut, RefusesToGoOnAfterAnArchiveThatWasRefusedHalfway) {
  const Problem problem = ising();
  SimulatedAnnealing schedule = hot(), other = hot();
  PopulationAnnealing foreign;
  const Budget budget{.sweeps = 80};
  kiln::Run run(problem, schedule, budget, options(), open_backend("cpu", 1));
  kiln::Run plain(problem, other, budget, options(), open_backend("cpu", 1));
  kiln::Run stranger(problem, foreign, budget, options(), open_backend("cpu", 1));
  Archive start, strange;
  plain.save(start);
  stranger.save(strange);

  EXPECT_THROW(run.load(strange), InvalidArgument);
  EXPECT_EQ(complaint([&] { run.advance(); }).substr(0, 10), "run.broken");
  run.load(start);
  run.advance();
  plain.advance();
  EXPECT_EQ(run.batch().read_energies(false), plain.batch().read_energies(false));
}

TEST(RunCut, ReportsAfterALoadCountFromTheArchive) {
  const Problem problem = ising();
  SimulatedAnnealing schedule = hot();
  kiln::Run run(problem, schedule, {.sweeps = 8000}, options(), open_backend("cpu", 1));
  Archive early;
  run.advance_to({.sweeps = 80});
  run.save(early);
  run.advance();
  run.load(early);
  std::vector<ReportPoint> points;
  run.advance_to({.sweeps = 800}, {[&](const ReportPoint& point) {
                   points.push_back(point);
                   return Next::go_on;
                 }});
  ASSERT_FALSE(points.empty());
  for (const ReportPoint& point : points) {
    EXPECT_LE(point.acceptance_rate, 1);
    EXPECT_LT(point.attempts_per_ns, 1e3);
  }
  EXPECT_GT(points.back().acceptance_rate, 0.9);  // next to no field: every move is taken
}

TEST(RunCut, AScheduleThatServesARunIsRefusedToOthers) {
  const Problem problem = ising();
  SimulatedAnnealing schedule = hot();
  const Budget budget{.sweeps = 80};
  {
    kiln::Run run(problem, schedule, budget, options(), open_backend("cpu", 1));
    const auto plan = [&] {
      plan_run(problem, schedule, budget, options(), open_backend("cpu", 1));
    };
    EXPECT_EQ(complaint(plan).substr(0, 15), "schedule.in_use");
    EXPECT_TRUE(run.advance().verified);
  }
  EXPECT_TRUE(plan_run(problem, schedule, budget, options(), open_backend("cpu", 1)).fits());
}

}  // namespace
}  // namespace kiln::run_cut_test
