// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Rounds: where they begin, how they go on, and what they record.
#include "population_step_runs.hpp"

namespace kiln::test::population_step_rounds_test {
namespace {

using namespace population_step;

class PopulationStepRounds : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PopulationStepRounds);

// Before the first sweep of a round: equal weights for what is finite, once.
TEST_P(PopulationStepRounds, OpensARoundWithTheStatesOfFiniteEnergy) {
  for (const std::int64_t replicas : {1, 33, 1025}) {
    Inputs in = make_inputs(4, replicas, 3);
    const auto fill = [&](std::int64_t group, std::int64_t from, double energy) {
      std::fill(in.energy.begin() + group * replicas + from,
                in.energy.begin() + (group + 1) * replicas, energy);
    };
    fill(1, replicas / 4, infinity);
    fill(2, replicas - replicas / 4, nan);
    fill(3, 0, -infinity);
    DevicePopulations populations(queue(), in);
    populations.open();
    const Outputs out = populations.outputs();
    for (std::int64_t g = 0; g < 4; ++g) {
      std::int64_t finite = 0;
      for (std::int64_t s = g * replicas; s < (g + 1) * replicas; ++s) {
        const bool counts = std::isfinite(in.energy[idx(s)]);
        finite += counts ? 1 : 0;
        EXPECT_EQ(out.weight[idx(s)], counts ? Resample::max_weight : 0u);
      }
      const Population& p = out.populations[idx(g)];
      const double share = static_cast<double>(finite) / static_cast<double>(replicas);
      EXPECT_EQ(populations.opens()[idx(g)], finite > 0 && finite < replicas ? 1u : 0u);
      EXPECT_EQ(p.opened, 1u);
      EXPECT_EQ(p.log_z, 0.0);
      EXPECT_EQ(p.beta, 0.0);
      if (finite == 0) {
        EXPECT_EQ(p.log_finite, -infinity);
      } else {
        EXPECT_NEAR(p.log_finite, std::log(share), 1e-15);
      }
    }
    EXPECT_EQ(out.begins, std::vector<std::uint32_t>(4, 1u)) << "new families are still to come";
    populations.open();
    EXPECT_EQ(populations.opens(), std::vector<std::uint32_t>(4, 0u)) << "it is open already";
  }
}

TEST_P(PopulationStepRounds, OpensNothingOnceStopped) {
  Inputs in = make_inputs(1, 64, 3);
  in.energy[0] = infinity;
  in.control.stop = DeviceStop::target;
  DevicePopulations populations(queue(), in);
  populations.open();
  EXPECT_EQ(populations.outputs().populations[0].opened, 0u);
  EXPECT_EQ(populations.opens()[0], 9u);
}

// Three ticks to beta_max, one that sees it, two of polish, and the next round.
TEST_P(PopulationStepRounds, GoesThroughItsRound) {
  Inputs in = make_inputs(1, 64, 6);
  in.energy.assign(64, 2.0);
  in.plan.step_max = 1;
  in.plan.polish_ticks = 2;
  DevicePopulations populations(queue(), in);
  for (const double beta : {1.0, 2.0, 3.0, infinity, infinity, 0.0, 1.0}) {
    populations.tick();
    const Outputs out = populations.outputs();
    EXPECT_EQ(out.beta[0], beta);
    const bool moves = beta > 0 && beta < infinity;
    EXPECT_EQ(out.weight[5], moves ? Resample::max_weight : 0u);
    EXPECT_EQ(out.begins[0], beta == 0 ? 1u : 0u);
  }
  const Outputs out = populations.outputs();
  EXPECT_EQ(out.populations[0].rounds, 1);
  EXPECT_DOUBLE_EQ(out.ends[0].log_z, -6.0);
  EXPECT_EQ(out.ends[0].mean, 2.0);
  EXPECT_EQ(out.ends[0].lowest, 2.0);
  EXPECT_EQ(out.ends[0].steps, 3);
  EXPECT_EQ(out.ends[0].totals.families, 2);

  in.plan.polish_ticks = 0;
  const Outputs unpolished = run(queue(), in, 4);
  EXPECT_EQ(unpolished.beta[0], 0.0);
  EXPECT_EQ(unpolished.begins[0], 1u);
}

TEST_P(PopulationStepRounds, RecordsTheFirstPopulationAndThinsItsRecords) {
  Inputs in = make_inputs(2, 64, 7);
  in.energy.assign(128, 0.0);
  in.plan.step_max = 0.25;
  const auto betas_after = [&](int ticks) {
    const Outputs out = run(queue(), in, ticks);
    std::vector<double> betas;
    for (std::int64_t i = 0; i < out.history.size; ++i) betas.push_back(out.records[idx(i)].beta);
    EXPECT_EQ(out.records[0].families, 2);
    EXPECT_EQ(out.records[0].family_squares, 3u);
    return betas;
  };
  EXPECT_EQ(betas_after(8), (std::vector<double>{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(betas_after(9), (std::vector<double>{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(betas_after(13), (std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5, 3}));
  EXPECT_EQ(betas_after(14), (std::vector<double>{0})) << "a new round";
}

}  // namespace
}  // namespace kiln::test::population_step_rounds_test
