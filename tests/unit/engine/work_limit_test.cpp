// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Limits that count work: every repeat ends at the same sweep, whatever the clock does.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/multi_objective.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/evolutionary.hpp"
#include "kiln/schedules/hmc.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "densities/sampling_fixtures.hpp"
#include "models/small_models.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::work_limit_test {
namespace {

constexpr std::int64_t spins = 60, replicas = 64, sweep = spins * replicas;

RunOptions options(int threads = 1, std::int64_t of_batch = replicas) {
  RunOptions options;
  options.device = "cpu";
  options.threads = threads;
  options.replicas = of_batch;
  return options;
}

Problem ising() { return make_ising(test::random_ising(spins, 4, 3), "ising"); }
Problem schools() { return test::posterior_of("eight schools", EightSchools{}, true); }

Result anneal(const Budget& budget, int threads = 1) {
  SimulatedAnnealing schedule;
  return Engine(options(threads)).run(ising(), schedule, budget);
}

HmcOptions short_chains(const char* sampler = "nuts") {
  HmcOptions o;
  o.sampler = sampler;
  o.warmup = 60;
  o.draws = 400;
  return o;
}

Result draw(const HmcOptions& o, const Budget& budget, int threads = 1) {
  Hmc schedule(o);
  return Engine(options(threads, 6)).run(schools(), schedule, budget);
}

std::int64_t gradients_after(std::int64_t transitions, const HmcOptions& o) {
  return draw(o, {.sweeps = transitions}).work.gradients.value();
}

// A limit that is no multiple of a sweep, or of a tick, is not exceeded.
TEST(WorkLimit, BecomesTheSweepsThatFit) {
  for (const std::int64_t limit : {sweep, 7 * sweep, 50 * sweep + 1, 51 * sweep - 1}) {
    const Result result = anneal({.work_limit = limit});
    EXPECT_EQ(result.stop, Stop::work_limit);
    EXPECT_EQ(result.work.sweeps, limit / sweep);
    EXPECT_LE(result.work.attempts, static_cast<double>(limit));
    EXPECT_EQ(result.work.limit, limit);
    EXPECT_EQ(result.work.kind, WorkKind::attempts);
    EXPECT_TRUE(result.verified);
  }
}

// Rounds of annealing follow from a number of sweeps: without one the first of them has another
// length, and the same seed another path.
TEST(WorkLimit, PlansTheAnnealAsSweepsDo) {
  const Result by_work = anneal({.work_limit = 90 * sweep + 5}), by_sweeps = anneal({.sweeps = 90}),
               by_threads = anneal({.work_limit = 90 * sweep + 5}, 2);
  EXPECT_EQ(by_work.parameters, by_sweeps.parameters);
  EXPECT_EQ(by_work.parameters.at("anneal_sweeps"), "90");
  EXPECT_EQ(by_work.solution, by_sweeps.solution);
  EXPECT_EQ(by_work.work.accepted, by_sweeps.work.accepted);
  EXPECT_EQ(by_threads.work.accepted, by_sweeps.work.accepted);
}

TEST(WorkLimit, StopsAtTheFirstOfSeveralLimits) {
  EXPECT_EQ(anneal({.sweeps = 20, .work_limit = 30 * sweep}).stop, Stop::sweep_limit);
  EXPECT_EQ(anneal({.sweeps = 40, .work_limit = 30 * sweep}).stop, Stop::work_limit);
  EXPECT_EQ(anneal({.sweeps = 40, .work_limit = 30 * sweep}).work.sweeps, 30);
  EXPECT_EQ(anneal({.target = 1e9, .work_limit = 3000 * sweep}).stop, Stop::target_reached);
  EXPECT_EQ(anneal({.time_limit_s = 1e-4, .work_limit = std::int64_t{1} << 60}).stop,
            Stop::time_limit);
}

TEST(WorkLimit, RefusesLessThanASweepAndSaysWhatFits) {
  const Problem problem = ising();
  SimulatedAnnealing schedule;
  try {
    plan_run(problem, schedule, {.work_limit = sweep - 1}, options(), open_backend("cpu", 1));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "budget.work_limit");
    EXPECT_EQ(error.message(), "a work limit of 3839 attempts leaves no sweep of 64 replicas");
    EXPECT_EQ(error.expected(), "at least 3840 attempts");
    EXPECT_EQ(error.fix(), "set Budget::work_limit = 3840, or set RunOptions::replicas = 63");
  }
  EXPECT_THROW(anneal({.work_limit = 0}), InvalidArgument);
  EXPECT_THROW(anneal({.work_limit = -5}), InvalidArgument);
  EXPECT_THROW(anneal({.work_limit = spins - 1}), InvalidArgument);
}

TEST(WorkLimit, GoesOnToALargerOne) {
  const Problem problem = ising();
  SimulatedAnnealing schedule, other;
  const Budget whole{.work_limit = 100 * sweep};
  kiln::Run cut(problem, schedule, whole, options(), open_backend("cpu", 1));
  kiln::Run plain(problem, other, whole, options(), open_backend("cpu", 1));

  const Result first = cut.advance_to({.work_limit = 37 * sweep});
  EXPECT_EQ(first.stop, Stop::work_limit);
  EXPECT_EQ(first.work.sweeps, 37);
  EXPECT_EQ(cut.advance_to({.work_limit = 20 * sweep}).work.sweeps, 32) << "the last whole tick";
  const Result second = cut.advance(), at_once = plain.advance();
  EXPECT_EQ(second.work.sweeps, 100);
  EXPECT_EQ(second.solution, at_once.solution);
  EXPECT_EQ(second.work.accepted, at_once.work.accepted);
}

// The first states are evaluations, too.
TEST(WorkLimit, CountsEvaluationsOfAFront) {
  Evolutionary schedule;
  const Result result =
      Engine(options(1, 100)).run(problems::zdt(4, 5), schedule, {.work_limit = 100 * 12 + 99});
  EXPECT_EQ(result.stop, Stop::work_limit);
  EXPECT_EQ(result.work.kind, WorkKind::evaluations);
  EXPECT_EQ(result.work.evaluations, 100 * 12);
  EXPECT_EQ(result.work.sweeps, 11);
}

// NUTS takes as many gradients as its trajectories need. Runs of s - 1 and of s transitions tell
// where the sum passes the limit: a look by the clock, or at the end of a chunk of ticks, ends
// later.
TEST(WorkLimit, EndsAtTheTransitionThatReachesItsGradients) {
  for (const char* sampler : {"nuts", "chees"}) {
    const HmcOptions o = short_chains(sampler);
    const std::int64_t whole = draw(o, {}).work.gradients.value();
    for (const std::int64_t limit : {whole / 9, whole / 2, whole - 100}) {
      const Result result = draw(o, {.work_limit = limit});
      ASSERT_EQ(result.stop, Stop::work_limit) << sampler;
      EXPECT_EQ(result.work.kind, WorkKind::gradients);
      EXPECT_GE(result.work.gradients.value(), limit);
      EXPECT_EQ(gradients_after(result.work.sweeps, o), result.work.gradients.value());
      ASSERT_GT(result.work.sweeps, 1);
      EXPECT_LT(gradients_after(result.work.sweeps - 1, o), limit);
    }
  }
}

TEST(WorkLimit, CountsTheGradientsThatTheSampleNames) {
  const Result result = draw(short_chains(), {});
  EXPECT_EQ(result.stop, Stop::converged);
  EXPECT_EQ(static_cast<double>(result.work.gradients.value()),
            result.sample->gradients + result.sample->warmup_gradients);

  HmcOptions o = short_chains("chees");
  o.rungs = 3;  // the hot rungs work, too
  const Result ladder = draw(o, {});
  EXPECT_GT(static_cast<double>(ladder.work.gradients.value()),
            1.5 * (ladder.sample->gradients + ladder.sample->warmup_gradients));
}

TEST(WorkLimit, EndsAtTheSameTransitionForAnyNumberOfThreads) {
  const Budget budget{.work_limit = 8000};
  const Result one = draw(short_chains(), budget), two = draw(short_chains(), budget, 2),
               eight = draw(short_chains(), budget, 8);
  for (const Result* other : {&two, &eight}) {
    EXPECT_EQ(other->stop, Stop::work_limit);
    EXPECT_EQ(other->work.sweeps, one.work.sweeps);
    EXPECT_EQ(other->work.gradients, one.work.gradients);
    EXPECT_EQ(other->sample->values, one.sample->values);
  }
}

TEST(WorkLimit, ResumesWithTheGradientsOfBefore) {
  const Problem problem = schools();
  const Result at_once = draw(short_chains(), {.work_limit = 8000});
  Hmc first(short_chains()), second(short_chains());
  const RunOptions of_run = options(1, 6);
  const Budget budget{.work_limit = 8000};
  kiln::Run begun(problem, first, budget, of_run, open_backend("cpu", 1));
  begun.advance_to({.work_limit = 3000});
  Archive archive(begun.queue());
  begun.save(archive);
  kiln::Run resumed(problem, second, budget, of_run, open_backend("cpu", 1));
  resumed.load(archive);
  EXPECT_EQ(resumed.advance_to({.work_limit = 2000}).work.gradients,
            begun.result_so_far().work.gradients)
      << "spent before it begins";
  const Result result = resumed.advance();
  EXPECT_EQ(result.stop, Stop::work_limit);
  EXPECT_EQ(result.work.sweeps, at_once.work.sweeps);
  EXPECT_EQ(result.work.gradients, at_once.work.gradients);
  EXPECT_EQ(result.sample->values, at_once.sample->values);
}

// Draws beyond those that are kept would be work for nothing.
TEST(WorkLimit, EndsWithTheDrawsIfTheyComeFirst) {
  const Result result = draw(short_chains(), {.work_limit = std::int64_t{1} << 50});
  EXPECT_EQ(result.stop, Stop::converged);
  EXPECT_EQ(result.work.sweeps, 460);
}

TEST(WorkLimit, IsToldInTheResult) {
  const std::string json = anneal({.work_limit = 10 * sweep}).to_json();
  EXPECT_NE(json.find("\"stop\":\"work_limit\""), std::string::npos);
  EXPECT_NE(json.find("\"unit\":\"attempts\",\"limit\":38400"), std::string::npos) << json;
  EXPECT_EQ(json.find("\"gradients\""), std::string::npos);
  EXPECT_EQ(anneal({.sweeps = 5}).to_json().find("\"limit\""), std::string::npos);
}

}  // namespace
}  // namespace kiln::work_limit_test
