// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/objective.hpp"
#include "kiln/observers/ready_made.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/pipeline.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "models/small_models.hpp"

namespace kiln::observers_test {
namespace {

using observers::deadline;
using observers::stagnation;
using observers::trace;
using observers::trace_csv;

RunOptions options() {
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.replicas = 32;
  options.report_interval_s = 0;
  return options;
}

Problem sparse_cut() { return make_maxcut(test::random_graph(90, 1, 3), "sparse"); }

Result anneal(const Budget& budget, const Observers& observers = {}) {
  SimulatedAnnealing schedule;
  return Engine(options()).run(sparse_cut(), schedule, budget, observers);
}

Next when(bool stop) { return stop ? Next::stop : Next::go_on; }

ReportPoint point_at(std::int64_t sweeps, std::int64_t best_sweeps) {
  ReportPoint point;
  point.sweeps = sweeps;
  point.best_sweeps = best_sweeps;
  point.has_best = best_sweeps >= 0;
  return point;
}

TEST(Observer, ThatReturnsNothingLetsTheRunGoOn) {
  int calls = 0;
  const Observer observer = [&](const ReportPoint&) { ++calls; };
  EXPECT_EQ(observer(ReportPoint{}), Next::go_on);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(observer.name(), "");
}

TEST(Observer, WithANameIsTheReasonOfTheEnd) {
  const Observer quiet = [](const ReportPoint& point) { return when(point.sweeps >= 64); };
  const Observer named{"enough", [](const ReportPoint& point) { return when(point.sweeps >= 64); }};
  const Observer later{"more", [](const ReportPoint& point) { return when(point.sweeps >= 64); }};
  const Result result = anneal({.time_limit_s = 100.0}, {named, later});
  EXPECT_EQ(result.stop, Stop::observer);
  EXPECT_EQ(result.stopped_by, "enough") << "the first that wants to stop";
  EXPECT_TRUE(result.verified);
  EXPECT_NE(result.brief_report().find("stopped by enough after"), std::string::npos)
      << result.brief_report();
  const auto json = nlohmann::json::parse(result.to_json());
  EXPECT_EQ(json["stop"], "observer");
  EXPECT_EQ(json["stopped_by"], "enough");
  const Result interrupted = anneal({.time_limit_s = 100.0}, {quiet});
  EXPECT_EQ(interrupted.stop, Stop::interrupted);
  EXPECT_EQ(interrupted.stopped_by, "");
  EXPECT_FALSE(nlohmann::json::parse(interrupted.to_json()).contains("stopped_by"));
}

TEST(Observer, EndsAPipelineInItsFirstStage) {
  Pipeline pipeline{stage<SimulatedAnnealing>({}, {.sweeps = 1000000}), stage<ParallelTempering>()};
  const Observer named{"enough", [](const ReportPoint& point) { return when(point.sweeps >= 64); }};
  const Result result = Engine(options()).run(sparse_cut(), pipeline, {.sweeps = 2000000}, {named});
  EXPECT_EQ(result.stop, Stop::observer);
  EXPECT_EQ(result.stopped_by, "enough");
  EXPECT_LT(result.work.sweeps, 1000000);
}

// What is found must not depend on who looks.
TEST(Observers, DoNotChangeTheBitsOfAnAnswer) {
  const auto far = std::chrono::system_clock::now() + std::chrono::hours(24);
  for (const std::int64_t sweeps : {333, 2000}) {
    std::vector<ReportPoint> points;
    std::ostringstream csv;
    const Observers all{stagnation(1000000), deadline(far), trace(points), trace_csv(csv)};
    const Result alone = anneal({.sweeps = sweeps}), watched = anneal({.sweeps = sweeps}, all);
    EXPECT_EQ(watched.stop, Stop::sweep_limit);
    EXPECT_EQ(watched.stopped_by, "");
    EXPECT_EQ(watched.solution, alone.solution);
    EXPECT_EQ(watched.energy, alone.energy);
    EXPECT_EQ(watched.best_replica, alone.best_replica);
    EXPECT_EQ(watched.work.accepted, alone.work.accepted);
    EXPECT_EQ(watched.incumbents_found, alone.incumbents_found);
    EXPECT_FALSE(points.empty());
  }
}

TEST(Stagnation, CountsSweepsSinceTheBestState) {
  const Observer observer = stagnation(100);
  EXPECT_EQ(observer(point_at(149, 50)), Next::go_on);
  EXPECT_EQ(observer(point_at(150, 50)), Next::stop);
  EXPECT_EQ(observer(point_at(10000, 9950)), Next::go_on) << "it has improved";
  EXPECT_EQ(observer(point_at(10000, -1)), Next::go_on) << "there is no best state";
  EXPECT_EQ(observer(point_at(149, 50)), Next::go_on) << "it keeps nothing of another run";
  EXPECT_EQ(observer.name(), "stagnation for 100 sweeps");
  EXPECT_THROW(stagnation(0), InvalidArgument);
}

TEST(Stagnation, EndsARunThatDoesNotImprove) {
  // Six vertices: the best cut is found at once.
  const Problem problem = make_maxcut(test::random_graph(6, 16, 3), "small");
  ParallelTempering schedule;
  const Result result =
      Engine(options()).run(problem, schedule, {.time_limit_s = 100.0}, {stagnation(5000)});
  EXPECT_EQ(result.stop, Stop::observer);
  EXPECT_EQ(result.stopped_by, "stagnation for 5000 sweeps");
  ASSERT_FALSE(result.incumbents.empty());
  EXPECT_GE(result.work.sweeps - result.incumbents.back().sweeps, 5000);
  EXPECT_LT(result.time.run_s, 50);
}

TEST(ReportPoint, KnowsWhenTheBestStateWasFound) {
  std::vector<ReportPoint> points;
  const Result result = anneal({.sweeps = 4000}, {trace(points)});
  ASSERT_FALSE(points.empty());
  ASSERT_FALSE(result.incumbents.empty());
  EXPECT_EQ(points.back().best_sweeps, result.incumbents.back().sweeps);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_GE(points[i].best_sweeps, 0);
    EXPECT_LE(points[i].best_sweeps, points[i].sweeps);
    if (i > 0 && points[i].improved) {
      EXPECT_GT(points[i].best_sweeps, points[i - 1].best_sweeps);
    }
  }
}

TEST(Deadline, EndsARunAtItsMoment) {
  const auto now = std::chrono::system_clock::now();
  EXPECT_EQ(deadline(now - std::chrono::seconds(1))(ReportPoint{}), Next::stop);
  EXPECT_EQ(deadline(now + std::chrono::hours(1))(ReportPoint{}), Next::go_on);
  const Result result =
      anneal({.time_limit_s = 100.0}, {deadline(now + std::chrono::milliseconds(300))});
  EXPECT_EQ(result.stop, Stop::observer);
  EXPECT_EQ(result.stopped_by, "deadline");
  EXPECT_GE(std::chrono::system_clock::now(), now + std::chrono::milliseconds(300));
  EXPECT_LT(result.time.run_s, 50);
}

TEST(Trace, HasEachReportPointAsTextToo) {
  std::vector<ReportPoint> points;
  std::ostringstream out;
  anneal({.sweeps = 2000}, {trace(points), trace_csv(out)});
  std::istringstream in(out.str());
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(line, "time_s,sweeps,attempts,best,best_energy,mean,acceptance_rate,beta");
  std::size_t row = 0;
  for (; std::getline(in, line); ++row) {
    ASSERT_LT(row, points.size());
    const ReportPoint& point = points[row];
    std::istringstream cells(line);
    std::vector<double> values;
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(std::stod(cell));
    const std::vector<double> expected{point.time_s,          static_cast<double>(point.sweeps),
                                       point.attempts,        point.best,
                                       point.best_energy,     point.mean,
                                       point.acceptance_rate, point.beta};
    EXPECT_EQ(values, expected) << line;
  }
  EXPECT_EQ(row, points.size());
  EXPECT_GE(row, 1U);
}

TEST(Trace, LeavesTheBestEmptyUntilThereIsOne) {
  std::ostringstream out;
  const Observer observer = trace_csv(out);
  ReportPoint point;
  point.sweeps = 8;
  EXPECT_EQ(observer(point), Next::go_on);
  EXPECT_NE(out.str().find("\n0,8,0,,,0,0,0\n"), std::string::npos) << out.str();
}

// Nothing that was found is lost.
TEST(Engine, KeepsWhatWasFoundIfAnObserverThrows) {
  int others = 0;
  const Observers observers{[](const ReportPoint& point) {
                              if (point.sweeps >= 64)
                                throw std::runtime_error("thrown by an observer");
                            },
                            [&](const ReportPoint&) { ++others; }};
  const Result result = anneal({.time_limit_s = 100.0}, observers);
  EXPECT_EQ(result.stop, Stop::failed);
  EXPECT_TRUE(result.verified);
  EXPECT_GE(result.work.sweeps, 64);
  EXPECT_GT(result.objective, 0);
  EXPECT_GE(others, 1) << "every observer is asked";
  ASSERT_TRUE(result.failure);
  try {
    std::rethrow_exception(result.failure);
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "thrown by an observer");
  }
  EXPECT_FALSE(anneal({.sweeps = 8}).failure);
}

TEST(Engine, PassesTheExceptionOnWhereNothingWasFound) {
  const Problem nothing = make_problem(make_host_objective(
      "nothing", Space::reals(2, -1, 1),
      [](std::span<const double>) { return std::numeric_limits<double>::quiet_NaN(); }));
  SimulatedAnnealing schedule;
  EXPECT_THROW(Engine(options()).run(nothing, schedule, {.sweeps = 100000},
                                     {[](const ReportPoint&) { throw std::runtime_error("no"); }}),
               std::runtime_error);
}

// A run can be continued, so it hands the exception to its caller.
TEST(Run, HandsOnTheExceptionOfAnObserverAndGoesOn) {
  const Problem problem = sparse_cut();
  SimulatedAnnealing schedule;
  kiln::Run run(problem, schedule, {.sweeps = 2000}, options(), open_backend("cpu", 1));
  bool thrown = false;
  const Observer once = [&](const ReportPoint& point) {
    if (point.sweeps >= 64 && !std::exchange(thrown, true)) throw std::runtime_error("once");
  };
  EXPECT_THROW(run.advance({once}), std::runtime_error);
  EXPECT_GT(run.result_so_far().objective, 0);
  const Result result = run.advance({once}), whole = anneal({.sweeps = 2000});
  EXPECT_EQ(result.solution, whole.solution);
  EXPECT_EQ(result.work.accepted, whole.work.accepted);
}

}  // namespace
}  // namespace kiln::observers_test
