// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/conformance_case.hpp"
#include "population_step_runs.hpp"

// kiln/device/exact_math.hpp only; sums in an order that the header fixes.
KILN_CONFORMANCE_CASE(PopulationStep, exact)

namespace kiln::test::population_step_test {
namespace {

using namespace population_step;

class PopulationStepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PopulationStepKernel);

TEST_P(PopulationStepKernel, TakesTheStepThatKeepsTheOverlap) {
  for (const std::int64_t groups : {1, 3}) {
    for (const std::int64_t replicas : {31, 32, 33, 1000, 1024, 1025, 4096}) {
      SCOPED_TRACE(std::to_string(groups) + " x " + std::to_string(replicas));
      Inputs in = make_inputs(groups, replicas, idx(replicas));
      in.plan.overlap = 0.8;
      in.inverse_scale = 0.5;
      const Outputs out = run(queue(), in);
      for (std::int64_t g = 0; g < groups; ++g) {
        const Population& p = out.populations[idx(g)];
        EXPECT_GE(overlap_of(in, p.beta), 0.8 - 1e-9);
        EXPECT_LT(overlap_of(in, p.beta * 1.02), 0.8);
        EXPECT_EQ(out.beta[idx(g)], p.beta);
        const auto begin = in.energy.begin() + g * replicas;
        EXPECT_EQ(p.lowest, *std::min_element(begin, begin + replicas));
        EXPECT_NEAR(p.mean, std::accumulate(begin, begin + replicas, 0.0) / double(replicas),
                    1e-12 * 40);
        double z = 0;
        for (std::int64_t r = 0; r < replicas; ++r) {
          const double e = in.energy[idx(g * replicas + r)];
          const double w = std::exp(-p.beta * 0.5 * (e - p.lowest));
          EXPECT_NEAR(static_cast<double>(out.weight[idx(g * replicas + r)]), w * 0x1p40, 2);
          z += std::exp(-p.beta * 0.5 * e) / static_cast<double>(replicas);
        }
        EXPECT_NEAR(p.log_z, std::log(z), 1e-10);
        EXPECT_EQ(p.steps, 1);
      }
      EXPECT_EQ(out.begins, std::vector<std::uint32_t>(idx(groups), 0u)) << "seen";
      expect_same(out, run(cpu_queue(), in));
    }
  }
}

TEST_P(PopulationStepKernel, TakesTheStepOfAllReplicasInEveryPopulation) {
  Inputs apart = make_inputs(3, 1024, 4);
  for (std::size_t r = 0; r < 1024; ++r) apart.energy[r] *= 4;  // spreads the batch, too
  Inputs together = apart, first = apart;
  together.groups = 1;
  together.replicas = 3072;
  first.groups = 1;
  first.energy.resize(1024);
  const Outputs all = run(queue(), apart);
  EXPECT_EQ(bits_of(all.beta),
            bits_of(std::vector<double>(3, run(queue(), together).beta.front())));
  EXPECT_GT(run(queue(), first).beta[0], 2 * all.beta[0]) << "alone it takes a longer one";
}

TEST_P(PopulationStepKernel, TakesBlindPopulationsAlong) {
  Inputs in = make_inputs(3, 100, 4), seeing = in;
  std::fill(in.energy.begin() + 100, in.energy.begin() + 200, infinity);
  seeing.groups = 2;
  seeing.energy.erase(seeing.energy.begin() + 100, seeing.energy.begin() + 200);
  const Outputs out = run(queue(), in), without = run(queue(), seeing);
  EXPECT_EQ(bits_of(out.beta), bits_of(std::vector<double>(3, without.beta.front())));
  EXPECT_LT(out.beta[0], 3.0);
  EXPECT_EQ(out.populations[1].log_z, -infinity);
  EXPECT_EQ(out.populations[2].log_z, without.populations[1].log_z);
}

TEST_P(PopulationStepKernel, GoesToTheEndAtOnceWhereEnergiesAreEqual) {
  for (const std::int64_t replicas : {1, 33, 4096}) {
    Inputs in = make_inputs(1, replicas, 1);
    in.energy.assign(in.energy.size(), -7.0);
    in.plan.beta_min = 0.25;
    const Outputs out = run(queue(), in);
    EXPECT_EQ(out.beta[0], 3.0);
    EXPECT_EQ(out.weight, std::vector<std::uint64_t>(idx(replicas), Resample::max_weight));
    EXPECT_DOUBLE_EQ(out.populations[0].log_z, 7 * 2.75);
  }
}

TEST_P(PopulationStepKernel, KeepsToTheLargestStepAndTheLastBeta) {
  Inputs in = make_inputs(1, 100, 2);
  in.plan.step_max = 1e-3;
  EXPECT_EQ(run(queue(), in).beta[0], 1e-3);
  in.plan.step_max = 1e9;
  in.plan.beta_min = 2.999;
  EXPECT_EQ(run(queue(), in).beta[0], 3.0) << "exactly, so that the round ends";
}

TEST_P(PopulationStepKernel, TakesTheShortestStepWhereOneReplicaDominates) {
  Inputs in = make_inputs(1, 1000, 3);
  in.energy.assign(in.energy.size(), 0.0);
  in.energy[500] = -1e30;
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.beta[0], 3 * 0x1p-30);
  EXPECT_EQ(out.weight[500], Resample::max_weight);
  EXPECT_EQ(std::accumulate(out.weight.begin(), out.weight.end(), std::uint64_t{0}),
            Resample::max_weight);
}

TEST_P(PopulationStepKernel, GivesNoWeightToWhatIsNotFinite) {
  Inputs in = make_inputs(2, 1000, 5);
  in.energy[3] = nan;
  in.energy[400] = infinity;
  in.energy[999] = -infinity;
  DevicePopulations populations(queue(), in);
  populations.open();
  populations.tick();
  const Outputs out = populations.outputs();
  for (const std::size_t slot : {3, 400, 999}) EXPECT_EQ(out.weight[slot], 0u);
  EXPECT_EQ(out.populations[0].finite, 997);
  EXPECT_EQ(out.populations[1].finite, 1000);
  EXPECT_GE(overlap_of(in, out.beta[0]), 0.86 - 1e-9);
  double z = 0;
  for (std::size_t r = 0; r < 1000; ++r) {
    if (std::isfinite(in.energy[r])) z += std::exp(-out.beta[0] * in.energy[r]) / 1000;
  }
  EXPECT_NEAR(out.populations[0].log_finite, std::log(0.997), 1e-15);
  EXPECT_NEAR(out.populations[0].log_finite + out.populations[0].log_z, std::log(z), 1e-10)
      << "they count as states of weight 0";
  DevicePopulations there(cpu_queue(), in);
  there.open();
  there.tick();
  expect_same(out, there.outputs());

  Inputs none = make_inputs(1, 40, 5);
  none.energy.assign(40, infinity);
  const Outputs lost = run(queue(), none);
  EXPECT_EQ(lost.beta[0], 3.0);
  EXPECT_EQ(lost.weight, std::vector<std::uint64_t>(40, 0u));
  EXPECT_EQ(lost.populations[0].log_z, -infinity);
}

TEST_P(PopulationStepKernel, DoesNothingWithinATickOrOnceStopped) {
  Inputs in = make_inputs(1, 64, 8);
  in.sweeps_per_tick = 4;
  in.control.step_limit = 3;
  const Outputs cut = run(queue(), in);
  EXPECT_EQ(cut.beta[0], 0.0);
  EXPECT_EQ(cut.weight[0], 4711u);
  EXPECT_EQ(cut.begins[0], 0u) << "the new states were drawn when the tick began";
  in.control.stop = DeviceStop::target;
  const Outputs stopped = run(queue(), in);
  EXPECT_EQ(stopped.begins[0], 1u);
  EXPECT_EQ(stopped.beta[0], 0.0);
}

// More populations than a block has threads, more parts than that, and more parts than fit on a
// device at once.
TEST_P(PopulationStepKernel, MatchesCpuForManyPartsAndPopulations) {
  const std::pair<std::int64_t, std::int64_t> sizes[] = {
      {300, 40}, {40, 2049}, {1, 270'000}, {2, 150'001}, {1, 1'300'000}};
  for (const auto& [groups, replicas] : sizes) {
    SCOPED_TRACE(std::to_string(groups) + " x " + std::to_string(replicas));
    Inputs in = make_inputs(groups, replicas, 10);
    for (std::size_t i = 0; i < in.energy.size(); ++i) in.energy[i] *= 0.37 + 1e-9 * double(i);
    in.energy[in.energy.size() / 2] = infinity;
    expect_same(run(queue(), in, 3), run(cpu_queue(), in, 3));
  }
}

TEST_P(PopulationStepKernel, MatchesCpuOverManyTicks) {
  Inputs in = make_inputs(3, 3000, 9);
  for (double& e : in.energy) e *= 0.37;
  in.plan.polish_ticks = 1;
  for (const int ticks : {1, 5, 20, 200}) {
    expect_same(run(queue(), in, ticks), run(cpu_queue(), in, ticks));
  }
}

}  // namespace
}  // namespace kiln::test::population_step_test
