// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Reals with an interval each. The least value of a linear function is in a corner of its box, and
// a constant has the volume of the box for its partition function.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/objectives/density_objective.hpp"
#include "kiln/schedules/hmc.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::density_box_test {
namespace {

using test::complaint;
using test::options;
using Reals = std::vector<double>;

struct Linear {
  static constexpr int fixed_dimension = 0;
  double slope[3] = {0, 0, 0};

  int dimension() const { return 3; }
  int workspace() const { return 0; }
  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    double value = 0;
    for (int i = 0; i < 3; ++i) {
      value += slope[i] * at.x[i];
      if constexpr (wants_gradient(want)) at.gradient[i] = at.weights.term * slope[i];
    }
    return {0, value};
  }
};

const std::vector<Bounds> box{{-5, 10}, {0, 0.5}, {20, 26}};

std::shared_ptr<const Objective> linear(double a, double b, double c) {
  return make_density_objective("linear", std::make_shared<HostDensity<Linear>>(Linear{{a, b, c}}),
                                box);
}

Problem on_host() {
  return make_problem(make_host_objective(
      "linear", Space::reals(box), [](std::span<const double> x) { return x[0] - x[1] + x[2]; }));
}

bool inside(const Reals& x) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(x[i] >= box[i].lower && x[i] <= box[i].upper)) return false;
  }
  return true;
}

const Reals& best_of(const Result& result) { return std::get<Reals>(result.solution.front()); }

TEST(DensityBox, EveryDescentEndsInTheCorner) {
  const Problem problem = make_problem(linear(1, -1, 2));
  SimulatedAnnealing annealing;
  EXPECT_EQ(best_of(Engine(options()).run(problem, annealing, {.sweeps = 60})),
            (Reals{-5, 0.5, 20}));
  HmcOptions chosen;
  chosen.mode = "anneal";
  Hmc hmc(chosen);
  EXPECT_EQ(best_of(Engine(options()).run(problem, hmc, {.sweeps = 60})), (Reals{-5, 0.5, 20}));
  const Problem other = make_problem(linear(-1, 1, -2));
  SimulatedAnnealing again;
  EXPECT_EQ(best_of(Engine(options()).run(other, again, {.sweeps = 60})), (Reals{10, 0, 26}));
}

TEST(DensityBox, AllStatesStayInside) {
  for (const Problem& problem : {make_problem(linear(1, -1, 0)), on_host()}) {
    ParallelTempering schedule;
    kiln::Run run(problem, schedule, {.sweeps = 40}, options(64), open_backend("cpu", 1));
    run.advance();
    for (std::int64_t r = 0; r < run.batch().replicas(); ++r) {
      EXPECT_TRUE(inside(std::get<Reals>(run.batch()[r].state().front()))) << r;
      EXPECT_TRUE(inside(std::get<Reals>(run.batch()[r].best_state().front()))) << r;
    }
  }
}

TEST(DensityBox, AConstantHasTheVolumeForItsPartitionFunction) {
  PopulationAnnealingOptions chosen;
  chosen.beta_max = 1;
  PopulationAnnealing schedule(chosen);
  const Result result =
      Engine(options(512)).run(make_problem(linear(0, 0, 0)), schedule, {.sweeps = 100});
  EXPECT_NEAR(result.diagnostics.at("log_z"), std::log(15 * 0.5 * 6), 1e-9);
}

TEST(DensityBox, StatesOutsideAreRefused) {
  const Problem problem = make_problem(linear(1, 1, 1));
  ParallelTempering schedule;
  kiln::Run run(problem, schedule, {.sweeps = 1}, options(), open_backend("cpu", 1));
  run.batch().write_states({State{Reals{10, 0.5, 26}}});
  // Each is inside the least and the greatest bound of all.
  EXPECT_TRUE(complaint([&] {
                run.batch().write_states({State{Reals{11, 0.5, 26}}});
              }).starts_with("state.value"));
  EXPECT_TRUE(complaint([&] {
                run.batch().write_states({State{Reals{0, 0.5, 19}}});
              }).starts_with("state.value"));
}

TEST(DensityBox, HasAnIntervalForEachCoordinate) {
  EXPECT_EQ(complaint([] {
              make_density_objective("linear", std::make_shared<HostDensity<Linear>>(Linear{}),
                                     {{0, 1}, {0, 1}});
            }),
            "space.box: the box of objective 'linear' has 2 intervals");
}

}  // namespace
}  // namespace kiln::density_box_test
