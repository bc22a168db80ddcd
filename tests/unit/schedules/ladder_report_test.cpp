// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What runs on ladders tell of themselves: which sweeps count, and log Z with its error.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "models/small_models.hpp"
#include "schedule_fixtures.hpp"
#include "tempering_fixtures.hpp"

namespace kiln::ladder_report_test {
namespace {

using test::ladder;
using test::options;
using test::sparse_cut;
using test::tempered;

// Whatever the rounds of the adaptation leave over, nothing of the burn-in counts.
TEST(LadderReport, CountsTheSweepsAfterTheBurnInAlone) {
  struct Case {
    std::int64_t burn_in, sweeps_per_swap, sweeps, phases;
  };
  for (const Case& one : {Case{1880, 10, 4000, 212},
                          {1885, 10, 4000, 211},
                          {1, 10, 100, 9},
                          {1, 1, 50, 49},
                          {2, 1, 50, 48},
                          {3, 1, 50, 47},
                          {127, 1, 200, 73},
                          {189, 1, 400, 211},
                          {0, 1, 50, 50},
                          {64, 3, 300, 78}}) {
    for (const char* kind : {"adaptive", "geometric"}) {
      ParallelTemperingOptions chosen = ladder(4, 0.1, 1, kind);
      chosen.burn_in = one.burn_in;
      chosen.sweeps_per_swap = one.sweeps_per_swap;
      chosen.cluster_moves = "off";
      const Result result = tempered(sparse_cut(), chosen, 8, one.sweeps);
      EXPECT_EQ(result.diagnostics.at("swap_phases"), static_cast<double>(one.phases))
          << kind << ", burn-in " << one.burn_in << " by " << one.sweeps_per_swap;
      EXPECT_EQ(result.diagnostics.at("adapted"), 1);
    }
  }
}

// Mean energies after s phases times s, less those after s - 1 phases, are the energies of phase s:
// each is the energy of some state. Phases that wait to be added when a run ends would be missed.
TEST(LadderReport, HasTheEnergiesOfEveryPhase) {
  const Problem problem = make_ising(test::random_ising(10, 6, 3, 0.5));
  std::set<double> energies;
  for (const State& state : test::all_states(10, true)) {
    energies.insert(problem.solution.verify(spans_of(state)));
  }
  ParallelTemperingOptions chosen = ladder(4, 0.05, 0.8, "linear");
  chosen.burn_in = 0;
  chosen.cluster_moves = "off";
  std::vector<double> sums(4, 0.0);
  for (std::int64_t phases = 1; phases <= 27; ++phases) {
    const Result result = tempered(problem, chosen, 4, phases);
    for (std::size_t rung = 0; rung < sums.size(); ++rung) {
      const double sum = result.series.at("mean_energy").at(rung) * static_cast<double>(phases);
      const double energy = std::round((sum - sums[rung]) * 1e6) / 1e6;
      EXPECT_TRUE(energies.contains(energy))
          << phases << " phases, rung " << rung << ": " << energy;
      sums[rung] = sum;
    }
  }
}

// 60 runs: the squares of z, of mean 1 for an honest error, lie between 0.5 and 2 on average. Half
// an error would give 4. Where ladders are few, the error is that of calls, else that of ladders.
TEST(LadderReport, IsHonestOfTheErrorOfLogZ) {
  const Ising model = test::random_ising(10, 6, 3, 0.5);
  const Problem problem = make_ising(model);
  double hot = 0, cold = 0, states = 0;
  for (const State& state : test::all_states(10, true)) {
    const double energy = problem.solution.verify(spans_of(state));
    hot += std::exp(-0.05 * energy);
    cold += std::exp(-0.8 * energy);
    states += 1;
  }
  struct Case {
    std::int64_t ladders, sweeps;
    bool linked;
  };
  for (const Case& one : {Case{2, 3000, false}, {64, 250, true}}) {
    constexpr int seeds = 60;
    double squares = 0, absolute = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Result result =
          tempered(problem, ladder(6, 0.05, 0.8, "linear"), 6 * one.ladders, one.sweeps, seed);
      const auto& found = result.diagnostics;
      const double error = found.at("log_z_error");
      EXPECT_LT(error, 0.1);
      EXPECT_EQ(found.contains("log_z"), one.linked);
      const double z = (found.at("log_z_difference") - std::log(cold / hot)) / error;
      squares += z * z / seeds;
      if (!one.linked) continue;
      const double z_absolute = (found.at("log_z") - std::log(cold)) / error;
      absolute += z_absolute * z_absolute / seeds;
    }
    EXPECT_LT(one.linked ? absolute : squares, 2) << one.ladders;
    EXPECT_GT(one.linked ? absolute : squares, 0.5) << one.ladders;
  }
}

// 32 draws of which 0.44 are effective, or 0.61, by enumeration. Draws without heavy weights look
// the most effective: were they asked, half of the runs at 0.44 would tell log Z, 0.08 too low.
TEST(LadderReport, LogZIsNotToldByLuckyDraws) {
  const Problem problem = make_ising(test::random_ising(10, 6, 3, 0.5));
  for (const double hot : {0.15, 0.2}) {
    double at_hot = 0, at_twice = 0, cold = 0;
    for (const State& state : test::all_states(10, true)) {
      const double energy = problem.solution.verify(spans_of(state));
      at_hot += std::exp(-hot * energy);
      at_twice += std::exp(-2 * hot * energy);
      cold += std::exp(-(hot + 0.6) * energy);
    }
    const bool enough = at_hot * at_hot / (1024 * at_twice) > 0.5;
    EXPECT_EQ(enough, hot == 0.15);
    constexpr int seeds = 300;
    double bias = 0;
    int told = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Result result = tempered(problem, ladder(4, hot, hot + 0.6, "linear"), 32, 400, seed);
      if (!result.diagnostics.contains("log_z")) continue;
      ++told;
      bias += result.diagnostics.at("log_z") - std::log(cold);
    }
    EXPECT_EQ(told > seeds / 2, enough) << told;
    EXPECT_TRUE(enough ? told > 0.98 * seeds : told < 0.1 * seeds) << told;
    // The error of a run is 0.14.
    if (enough) {
      EXPECT_LT(std::abs(bias / told), 0.03) << hot;
    }
  }
}

// One state of 256 has nearly all of the weight: draws may miss it, and the first rung holds little
// else, so that its energies hardly differ.
TEST(LadderReport, LogZIsNotToldWhereTheFirstRungHoldsOneState) {
  Ising model{8, std::vector<double>(8, -8.0), {}};
  for (std::int32_t i = 0; i < 8; ++i) {
    for (std::int32_t j = 0; j < i; ++j) model.couplings.push_back({j, i, -1});
  }
  const Problem problem = make_ising(model);
  EXPECT_EQ(problem.solution.verify(spans_of({std::vector<std::int8_t>(8, 1)})), -92);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ParallelTemperingOptions chosen = ladder(4, 0.6, 1, "linear");
    chosen.burn_in = 100;
    const Result result = tempered(problem, chosen, 32, 400, seed);
    EXPECT_LT(result.series.at("energy_deviation").front(), 1);
    EXPECT_FALSE(result.diagnostics.contains("log_z")) << seed;
  }
}

}  // namespace
}  // namespace kiln::ladder_report_test
