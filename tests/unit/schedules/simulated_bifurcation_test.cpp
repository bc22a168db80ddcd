// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/simulated_bifurcation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kiln/problems/pairwise.hpp"

#include "backends/cpu_queue.hpp"
#include "models/models.hpp"
#include "models/small_models.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::test::simulated_bifurcation_test {
namespace {

struct BifurcationTraits : SweepingTraits {
  static constexpr std::int64_t sweeps = 40;
  static constexpr bool moves = false;  // those of greedy sweeps alone
  static ScheduleEntry entry() { return builtin_registry().schedule("simulated-bifurcation"); }
  static Problem problem() { return make_maxcut(random_graph(300, 16, 40), "dense"); }
  static std::vector<Texts> variants() {
    return {{},
            {{"variant", "discrete"}, {"steps", "20"}},
            {{"variant", "ballistic"}, {"polish_sweeps", "0"}, {"steps", "10"}, {"growth", "2"}},
            {{"groups", "3"}, {"xi_last", "1.5"}, {"gamma", "0"}, {"steps", "40"}},
            {{"time_step", "0.5"}, {"xi", "0.3"}, {"polish_sweeps", "5"}}};
  }
  static std::vector<Refused> refused() {
    return {
        {{{"variant", "thermal"}, {"xi", "0"}, {"time_step", "-1"}},
         {"variant: 'thermal' is not ", "xi: 0 is out of range", "time_step: -1 is out of range"}},
        {{{"gamma", "-1"},
          {"steps", "-1"},
          {"growth", "3"},
          {"groups", "0"},
          {"polish_sweeps", "-1"},
          {"xi_last", "-1"}},
         {"gamma: -1 is out of range", "steps: -1 is out of range", "growth: 3 is out of range",
          "groups: 0 is out of range", "polish_sweeps: -1 is out of range",
          "xi_last: -1 is out of range"}},
        {{{"xi_last", "1.5"}}, {"xi_last needs groups, for example groups=16"}},
        {{{"groups", "4"}, {"xi_last", "1e-300"}},
         {"xi_last: 1e-300 is out of range: 0, or 1e-6 .. 1000"}}};
  }
  static std::vector<Unsuitable> unsuitable() {
    std::vector<Unsuitable> all = SweepingTraits::unsuitable();
    all.push_back({make_problem(make_host_objective(
                       "sphere", Space::reals(3, -1, 1),
                       [](std::span<const double> x) { return x[0] * x[0] + x[1] + x[2]; })),
                   {"sphere", "pairwise model"}});
    return all;
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(SimulatedBifurcation, ScheduleSuite, BifurcationTraits);

constexpr const char* variants[] = {"heated-discrete", "discrete", "ballistic"};

RunOptions options(std::int64_t replicas, std::uint64_t seed = 1) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 2;
  options.replicas = replicas;
  options.seed = seed;
  return options;
}

Result solve(const Problem& problem, const SimulatedBifurcationOptions& chosen,
             std::int64_t steps = 1000, std::int64_t replicas = 64) {
  SimulatedBifurcation schedule(chosen);
  return Engine(options(replicas)).run(problem, schedule, {.sweeps = steps});
}

double ground_energy_of(const Ising& model) {
  double least = std::numeric_limits<double>::infinity();
  for (const State& state : all_states(model.n, true)) {
    least = std::min(least, direct_energy(model, values_of(state)));
  }
  return least;
}

// Without greedy sweeps, so that it is the dynamics that leads there.
TEST(SimulatedBifurcation, ReachesTheGroundStatesOfSmallModels) {
  for (const char* variant : variants) {
    for (const std::int32_t n : {2, 3, 7, 12, 16}) {
      for (const std::uint32_t share : {4u, 16u}) {
        for (const double unit : {1.0, 0.37}) {
          const Ising model = random_ising(n, share, 5, unit, static_cast<std::uint64_t>(n));
          SimulatedBifurcationOptions chosen;
          chosen.variant = variant;
          chosen.polish_sweeps = 0;
          chosen.steps = 200;  // many rounds, of several xi
          chosen.groups = 4;
          chosen.xi_last = 3;
          const Result result = solve(make_ising(model), chosen, 2000, 128);
          EXPECT_NEAR(result.objective, ground_energy_of(model), 1e-9)
              << variant << n << " " << share;
          EXPECT_TRUE(result.verified);
        }
      }
    }
  }
}

TEST(SimulatedBifurcation, FollowsFieldsWhereThereAreNoCouplings) {
  const Ising model = isolated_spins({1, -2, 3, 0, -4});
  for (const char* variant : variants) {
    SimulatedBifurcationOptions chosen;
    chosen.variant = variant;
    chosen.polish_sweeps = 0;
    const Result result = solve(make_ising(model), chosen);
    EXPECT_EQ(result.objective, -10) << variant;
    // The root mean square of the fields is sqrt(30 / 5).
    EXPECT_NEAR(result.diagnostics.at("coupling_strength"), 0.65 / std::sqrt(6.0), 1e-12);
  }
}

// All couplings are -1: rms 1, and the largest eigenvalue of the matrix is n - 1.
TEST(SimulatedBifurcation, LimitsTheTimeStepByTheLargestEigenvalue) {
  constexpr std::int32_t n = 50;
  const Problem problem = make_ising(dense(n, constant(-1), constant(0)));
  SimulatedBifurcationOptions chosen;
  chosen.xi = 0.8;
  const Result result = solve(problem, chosen, 100);
  const double c0 = 0.8 / std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(result.diagnostics.at("coupling_strength"), c0, 1e-12);
  const double limit = std::sqrt(2.2 / (1 + c0 * (n - 1)));
  EXPECT_NEAR(result.diagnostics.at("time_step_limit"), limit, 1e-6);
  EXPECT_NEAR(std::stod(result.parameters.at("time_step")), limit, 1e-5);
  EXPECT_TRUE(result.advice.empty());

  chosen.time_step = 1.25;
  const Result user = solve(problem, chosen, 100);
  EXPECT_EQ(user.parameters.at("time_step"), "1.25");
  ASSERT_EQ(user.advice.size(), 1u);
  EXPECT_NE(user.advice.front().find("time_step=1.25 may be unstable"), std::string::npos);
}

// Two in a unit of the weights: c0 changes by the inverse, and the search not at all.
TEST(SimulatedBifurcation, DoesNotDependOnTheUnitOfTheWeights) {
  const Ising model = random_ising(30, 8, 5);
  Ising twice = model;
  for (Edge& e : twice.couplings) e.weight *= 2;
  for (double& h : twice.fields) h *= 2;
  SimulatedBifurcationOptions chosen;
  const Result one = solve(make_ising(model), chosen, 300, 32);
  const Result other = solve(make_ising(twice), chosen, 300, 32);
  EXPECT_EQ(one.solution, other.solution);
  EXPECT_EQ(2 * one.objective, other.objective);
}

TEST(SimulatedBifurcation, MakesOneRoundOfAShortBudgetAndGrowingOnesElse) {
  const Problem problem = sparse_cut();
  const auto rounds = [&](std::int64_t steps, std::int64_t of_round = 0, std::int64_t growth = 0) {
    SimulatedBifurcationOptions chosen;
    chosen.steps = of_round;
    chosen.growth = growth;
    return solve(problem, chosen, steps, 32);
  };
  EXPECT_EQ(rounds(300).parameters.at("steps"), "300");
  EXPECT_EQ(rounds(300).diagnostics.at("rounds"), 1);
  EXPECT_EQ(rounds(1009).parameters.at("steps"), "1050") << "whole ticks of 50";
  EXPECT_EQ(rounds(9000).parameters.at("steps"), "1000");
  EXPECT_EQ(rounds(9000).diagnostics.at("rounds"), 4) << "1000, 2000, 4000, 8000";
  EXPECT_EQ(rounds(1000, 100).diagnostics.at("rounds"), 10);
  EXPECT_EQ(rounds(1600, 100, 2).diagnostics.at("rounds"), 5) << "100, 200, 400, 800, 800";
}

TEST(SimulatedBifurcation, SpreadsXiOverGroups) {
  SimulatedBifurcationOptions chosen;
  chosen.groups = 3;
  chosen.xi = 0.4;
  chosen.xi_last = 1.6;
  const Result result = solve(sparse_cut(), chosen, 200, 96);
  const std::vector<double>& xi = result.series.at("group_xi");
  ASSERT_EQ(xi.size(), 3u);
  EXPECT_EQ(xi[0], 0.4);
  EXPECT_NEAR(xi[1], 0.8, 1e-12);
  EXPECT_EQ(xi[2], 1.6);
  EXPECT_EQ(*std::ranges::max_element(result.series.at("group_best")), result.objective);
}

// A checkpoint has the oscillators; the matrix follows from the problem.
TEST(SimulatedBifurcation, SavesOscillatorsAndNoMatrix) {
  const Problem problem = BifurcationTraits::problem();
  SimulatedBifurcation schedule;
  kiln::Run run(problem, schedule, {.sweeps = 80}, options(32), open_backend("cpu", 1));
  EXPECT_EQ(run.advance_to({.sweeps = 40}).diagnostics.at("matrix_product"), 1);
  Archive archive;
  run.save(archive);
  EXPECT_TRUE(archive.has("scratch.position"));
  EXPECT_TRUE(archive.has("scratch.momentum"));
  EXPECT_FALSE(archive.has("scratch.matrix"));
}

TEST(SimulatedBifurcation, RefusesGroupsThatCannotShareABatch) {
  EXPECT_EQ(complaint([] { SimulatedBifurcation(std::vector<SimulatedBifurcationOptions>{}); }),
            "config.option: no group was given");
  std::vector<SimulatedBifurcationOptions> groups(2);
  groups[1].variant = "ballistic";
  groups[1].gamma = -1;
  const std::string refused = complaint([&] { SimulatedBifurcation{groups}; });
  EXPECT_NE(refused.find("group 1: gamma: -1 is out of range"), std::string::npos) << refused;
  EXPECT_NE(refused.find("group 1: variant, steps, growth and polish_sweeps must equal those of "
                         "group 0"),
            std::string::npos)
      << refused;
}

// Each message names the limit that is exceeded, and a model just within it runs.
TEST(SimulatedBifurcation, RefusesForcesBeyondSinglePrecision) {
  const auto answer = [](double coupling, double field) -> std::string {
    Ising model{3, {field, 0, 0}, {{0, 1, coupling}, {1, 2, 1.5 * coupling}}, 0};
    const Problem problem = make_ising(std::move(model));
    SimulatedBifurcation schedule;
    try {
      return Engine(options(32)).run(problem, schedule, {.sweeps = 100}).verified ? "verified" : "";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.code(), "schedule.weights");
      return error.message() + "; " + error.expected();
    }
  };
  const std::string large =
      "the weights are too large for forces in single precision: the magnitudes of fields and "
      "couplings of all variables add up to ";
  EXPECT_EQ(answer(1.5e27, 0), "verified");
  EXPECT_EQ(answer(1.6e27, 0), large + "8e+27; a sum of at most 7.8e+27");
  EXPECT_EQ(answer(1, 9e27), large + "9e+27; a sum of at most 7.8e+27");
  EXPECT_EQ(answer(1e40, 0), large + "5e+40; a sum of at most 7.8e+27");
  EXPECT_TRUE(answer(1e-300, 0).starts_with(
      "the weights are too small for forces in single precision: random spins have forces of "
      "about "))
      << answer(1e-300, 0);
}

// No usual tick divides the round; ticks of a few steps cost as much as those of ten.
TEST(SimulatedBifurcation, MakesTicksOfTenStepsOrMore) {
  for (const std::int64_t steps : {101, 37, 23}) {
    SimulatedBifurcationOptions chosen;
    chosen.steps = steps;
    const Result result = solve(sparse_cut(), chosen, 1000, 32);
    EXPECT_LE(result.work.ticks, 100) << steps;
  }
}

// A time limit ends a run with greedy sweeps, which are no steps.
TEST(SimulatedBifurcation, CountsNoStepsForItsDescent) {
  SimulatedBifurcation schedule{SimulatedBifurcationOptions{}};
  const Problem problem = sparse_cut();
  kiln::Run run(problem, schedule, {.time_limit_s = 0.05}, options(32), open_backend("cpu", 1));
  const Result ended = run.advance_to({.time_limit_s = 0.05});
  ASSERT_EQ(ended.stop, Stop::time_limit);
  const Result more = run.advance_to({.sweeps = 1});  // no step more
  EXPECT_EQ(ended.work.sweeps, more.work.sweeps);
}

TEST(SimulatedBifurcation, ShowsRoundAndPumpInPlaceOfTemperatures) {
  SimulatedBifurcationOptions chosen;
  chosen.steps = 100;
  chosen.growth = 2;
  SimulatedBifurcation schedule(chosen);
  const Problem problem = sparse_cut();
  kiln::Run run(problem, schedule, {.sweeps = 300}, options(32), open_backend("cpu", 1));
  run.advance_to({.sweeps = 300});
  using Notes = decltype(ReportPoint::notes);
  const auto notes_at = [&](std::int64_t steps) {
    ReportPoint point;
    point.sweeps = steps;
    schedule.annotate(point);
    return point.notes;
  };
  EXPECT_EQ(notes_at(0), (Notes{{"round", 1}, {"pump", 0}}));
  EXPECT_EQ(notes_at(50), (Notes{{"round", 1}, {"pump", 50}}));
  EXPECT_EQ(notes_at(100), (Notes{{"round", 1}, {"pump", 100}}));
  EXPECT_EQ(notes_at(150), (Notes{{"round", 2}, {"pump", 25}}));
  EXPECT_EQ(notes_at(300), (Notes{{"round", 2}, {"pump", 100}}));
}

}  // namespace
}  // namespace kiln::test::simulated_bifurcation_test
