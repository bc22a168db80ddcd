// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Flow between the rungs of ladders: known transfer entropies, and a tempering of spins with and
// without exchange that shares no code with the engine.
#include "analysis/run/ladder_analysis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "kiln/backend.hpp"

#include "series.hpp"

namespace kiln::cli::ladder_analysis_test {
namespace {

ReplicaSeries empty_series(std::int64_t ladders, std::int64_t rungs, std::int64_t epochs) {
  ReplicaSeries series;
  series.groups = ladders;
  series.size = rungs;
  series.epochs = epochs;
  series.sweeps_apart = 2;
  const auto replicas = static_cast<std::size_t>(ladders * rungs);
  series.energy.assign(replicas, std::vector<double>(static_cast<std::size_t>(epochs)));
  series.rung.assign(replicas, std::vector<std::int32_t>(static_cast<std::size_t>(epochs)));
  for (std::size_t r = 0; r < replicas; ++r) {
    for (auto& rung : series.rung[r])
      rung = static_cast<std::int32_t>(static_cast<std::int64_t>(r) % series.size);
  }
  return series;
}

LadderAnalysis analyze(const ReplicaSeries& series) {
  RunAnalysisOptions options;
  options.surrogates = 20;
  return analyze_ladder(series, options, *open_backend("cpu", 2).backend);
}

// x1[t] = 0.5 x1[t - 1] + 0.5 x0[t - 1] + noise, x0 white: rung 0 says ln(1.25) / 2 nats of rung 1.
ReplicaSeries one_way(double coupling, double offset) {
  ReplicaSeries series = empty_series(4, 3, 400);
  std::mt19937_64 words(3);
  for (std::size_t g = 0; g < 4; ++g) {
    double x0 = 0, x1 = 0;
    for (std::size_t t = 0; t < 400; ++t) {
      x1 = 0.5 * x1 + coupling * x0 + test::next_normal(words);
      x0 = test::next_normal(words);
      const double own = offset * static_cast<double>(g % 2);
      series.energy[3 * g][t] = x0 + own;
      series.energy[3 * g + 1][t] = x1 + own;
      series.energy[3 * g + 2][t] = test::next_normal(words) + own;
    }
  }
  return series;
}

TEST(LadderAnalysis, FlowHasItsDirectionAndItsSize) {
  const LadderAnalysis ladder = analyze(one_way(0.5, 0));
  ASSERT_EQ(ladder.up.size(), 2u);
  EXPECT_EQ(ladder.ladders, 4);
  EXPECT_TRUE(ladder.up[0].significant);
  EXPECT_FALSE(ladder.down[0].significant);
  EXPECT_FALSE(ladder.up[1].significant);
  EXPECT_FALSE(ladder.down[1].significant);
  EXPECT_NEAR(ladder.up[0].estimate.effective, 0.5 * std::log(1.25), 0.04);
  EXPECT_EQ(ladder.up[0].estimate.points, 4 * 399) << "no delay vector crosses two ladders";
  EXPECT_EQ(ladder.significant_links(), 1);
  EXPECT_LT(ladder.p_value, 0.01);
}

// Ladders at rest in valleys of their own have other energies on all rungs.
TEST(LadderAnalysis, DifferencesBetweenLaddersAreNoFlow) {
  const LadderAnalysis ladder = analyze(one_way(0, 3));
  EXPECT_EQ(ladder.significant_links(), 0);
  EXPECT_GT(ladder.p_value, 0.01);
}

TEST(LadderAnalysis, MemoryIsTheAutocorrelationTimeInSweeps) {
  const LadderAnalysis ladder = analyze(one_way(0, 0));
  EXPECT_NEAR(ladder.memory[0].sweeps, 2, 0.6) << "white";
  EXPECT_NEAR(ladder.memory[1].sweeps, 6, 1.5) << "(1 + 0.5) / (1 - 0.5) epochs of 2 sweeps";
  EXPECT_LT(ladder.memory[1].storage.p_value, 1e-3);
  EXPECT_GT(ladder.memory[0].storage.p_value, 1e-2);
  EXPECT_NEAR(ladder.memory[1].storage.effective, -0.5 * std::log(0.75), 0.04);
}

// A glass of 10 x 10 spins on a torus with couplings -1 and +1, by Metropolis sweeps.
class Glass {
 public:
  using State = std::vector<int>;

  explicit Glass(std::uint64_t seed) : words_(seed) {
    std::mt19937_64 couplings(1);
    right_ = signs(couplings);
    down_ = signs(couplings);
  }
  State random_state() { return signs(words_); }
  void sweep(State& spins, double beta) {
    for (std::size_t i = 0; i < n; ++i) {
      const double rise = 2.0 * spins[i] * field(spins, i);
      if (rise <= 0 || uniform() < std::exp(-beta * rise)) spins[i] *= -1;
    }
  }
  double energy(const State& spins) const {
    int twice = 0;
    for (std::size_t i = 0; i < n; ++i) twice -= spins[i] * field(spins, i);
    return twice / 2.0;
  }
  double uniform() { return static_cast<double>(words_() >> 11) * 0x1p-53; }

 private:
  static constexpr std::size_t side = 10, n = side * side;

  static State signs(std::mt19937_64& words) {
    State all;
    for (std::size_t i = 0; i < n; ++i) all.push_back((words() >> 33) % 2 == 0 ? 1 : -1);
    return all;
  }
  int field(const State& spins, std::size_t i) const {
    const std::size_t row = i / side * side;
    const std::size_t right = row + (i + 1) % side, left = row + (i + side - 1) % side;
    const std::size_t below = (i + side) % n, above = (i + n - side) % n;
    return right_[i] * spins[right] + right_[left] * spins[left] + down_[i] * spins[below] +
           down_[above] * spins[above];
  }

  std::mt19937_64 words_;
  State right_, down_;
};

// Four ladders of four rungs; neighbours are exchanged after each sweep, or never.
ReplicaSeries tempered(bool exchange, std::uint64_t seed) {
  constexpr std::size_t rungs = 4, epochs = 400, burn_in = 200;
  constexpr double betas[rungs] = {0.9, 0.95, 1.0, 1.05};
  ReplicaSeries series = empty_series(4, rungs, epochs);
  Glass glass(seed);
  for (std::size_t g = 0; g < 4; ++g) {
    std::vector<std::vector<int>> states;
    for (std::size_t r = 0; r < rungs; ++r) states.push_back(glass.random_state());
    for (std::size_t t = 0; t < burn_in + epochs; ++t) {
      for (std::size_t r = 0; r < rungs; ++r) glass.sweep(states[r], betas[r]);
      for (std::size_t r = t % 2; exchange && r + 1 < rungs; r += 2) {
        const double gain =
            (betas[r + 1] - betas[r]) * (glass.energy(states[r + 1]) - glass.energy(states[r]));
        if (gain >= 0 || glass.uniform() < std::exp(gain)) std::swap(states[r], states[r + 1]);
      }
      for (std::size_t r = 0; t >= burn_in && r < rungs; ++r)
        series.energy[rungs * g + r][t - burn_in] = glass.energy(states[r]);
    }
  }
  return series;
}

TEST(LadderAnalysis, ExchangeMakesFlowBetweenNeighboursAndNothingElseDoes) {
  const LadderAnalysis with = analyze(tempered(true, 11)), without = analyze(tempered(false, 11));
  for (std::size_t gap = 0; gap < with.up.size(); ++gap) {
    EXPECT_TRUE(with.up[gap].significant || with.down[gap].significant) << gap;
  }
  EXPECT_LT(with.p_value, 1e-6);
  EXPECT_EQ(without.significant_links(), 0);
  EXPECT_GT(without.p_value, 0.05);
}

}  // namespace
}  // namespace kiln::cli::ladder_analysis_test
