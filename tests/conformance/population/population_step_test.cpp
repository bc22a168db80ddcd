// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/population_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends.hpp"

namespace kiln::test::population_step_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Inputs {
  std::int64_t groups = 1, replicas = 1;
  std::vector<double> energy;
  PopulationPlan plan;
  RunControl control;
  std::uint32_t sweeps_per_tick = 1;
  double inverse_scale = 1;
  std::int64_t most_records = 8;
};

struct Outputs {
  std::vector<Population> populations;
  std::vector<double> beta;
  std::vector<std::uint32_t> begins;
  std::vector<std::uint64_t> weight;
  std::vector<PopulationEnd> ends;
  std::vector<PopulationRecord> records;
  PopulationHistory history;
};

Inputs make_inputs(std::int64_t groups, std::int64_t replicas, std::uint64_t seed) {
  TestRandom random(seed);
  Inputs in;
  in.groups = groups;
  in.replicas = replicas;
  in.plan.beta_max = 3;
  for (std::int64_t i = 0; i < groups * replicas; ++i) {
    in.energy.push_back(std::floor(10 * (random.unit() + random.unit() + random.unit())) - 40);
  }
  return in;
}

/// Keeps what a population annealing run keeps, so that ticks can follow each other.
class DevicePopulations {
 public:
  DevicePopulations(Queue& queue, const Inputs& in)
      : queue_(queue),
        in_(in),
        energy_(queue, in.energy),
        populations_(queue, std::vector<Population>(idx(in.groups), begun(in))),
        choice_(queue, std::vector<PopulationChoice>(1)),
        beta_(queue, std::vector<double>(idx(in.groups), in.plan.beta_min)),
        begins_(queue, std::vector<std::uint32_t>(idx(in.groups), 1u)),
        opens_(queue, std::vector<std::uint32_t>(idx(in.groups), 9u)),
        weight_(queue, std::vector<std::uint64_t>(in.energy.size(), 4711)),
        parts_(queue, in.groups * PopulationStep::parts_of(in.replicas)),
        ends_(queue, std::vector<PopulationEnd>(idx(in.groups * PopulationStep::kept_ends))),
        records_(queue, std::vector<PopulationRecord>(idx(in.most_records))),
        history_(queue, std::vector<PopulationHistory>(1)),
        totals_(queue, std::vector<ResampleTotals>(idx(in.groups), ResampleTotals{1, 2, 3, 4})),
        control_(upload_control(queue, in.control)) {}

  void tick() { queue_.launch(kernel()); }
  void open() {
    PopulationStep opening = kernel();
    opening.opening = true;
    opening.opens = opens_.view();
    queue_.launch(opening);
  }
  std::vector<std::uint32_t> opens() const { return opens_.download(); }
  Outputs outputs() const {
    return {populations_.download(),    beta_.download(), begins_.download(),
            weight_.download(),         ends_.download(), records_.download(),
            history_.download().front()};
  }

 private:
  PopulationStep kernel() {
    PopulationStep kernel;
    kernel.energy = energy_.view();
    kernel.populations = populations_.view();
    kernel.choice = choice_.view();
    kernel.beta = beta_.view();
    kernel.begins = begins_.view();
    kernel.weight = weight_.view();
    kernel.parts = parts_.view();
    kernel.ends = ends_.view();
    kernel.records = records_.view();
    kernel.history = history_.view();
    kernel.totals = totals_.view();
    kernel.group_size = in_.replicas;
    kernel.plan = in_.plan;
    kernel.control = control_.data();
    kernel.sweeps_per_tick = in_.sweeps_per_tick;
    kernel.inverse_scale = in_.inverse_scale;
    return kernel;
  }
  static Population begun(const Inputs& in) {
    Population p;
    p.beta = in.plan.beta_min;
    return p;
  }

  Queue& queue_;
  const Inputs& in_;
  DeviceArray<double> energy_;
  DeviceArray<Population> populations_;
  DeviceArray<PopulationChoice> choice_;
  DeviceArray<double> beta_;
  DeviceArray<std::uint32_t> begins_, opens_;
  DeviceArray<std::uint64_t> weight_;
  DeviceArray<PopulationStep::Part> parts_;
  DeviceArray<PopulationEnd> ends_;
  DeviceArray<PopulationRecord> records_;
  DeviceArray<PopulationHistory> history_;
  DeviceArray<ResampleTotals> totals_;
  DeviceArray<RunControl> control_;
};

Outputs run(Queue& queue, const Inputs& in, int ticks = 1) {
  DevicePopulations populations(queue, in);
  for (int tick = 0; tick < ticks; ++tick) populations.tick();
  return populations.outputs();
}

void expect_same(const Outputs& a, const Outputs& b) {
  EXPECT_EQ(bits_of(a.beta), bits_of(b.beta));
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.begins, b.begins);
  for (std::size_t g = 0; g < a.populations.size(); ++g) {
    const Population &p = a.populations[g], &q = b.populations[g];
    EXPECT_EQ(bits_of({p.beta, p.log_z, p.lowest, p.mean}),
              bits_of({q.beta, q.log_z, q.lowest, q.mean}));
    EXPECT_EQ(bits_of({p.log_finite}), bits_of({q.log_finite}));
    EXPECT_EQ(p.finite, q.finite);
    EXPECT_EQ(p.steps, q.steps);
  }
}

/// Effective fraction of the weights exp(-step (E - least)) of the finite energies of a batch.
double overlap_of(const Inputs& in, double step) {
  double sum = 0, squares = 0, n = 0, least = infinity;
  const auto each = [&](auto&& action) {
    for (const double e : in.energy) {
      if (std::isfinite(e)) action(e);
    }
  };
  each([&](double e) { least = std::min(least, e); });
  each([&](double e) {
    const double w = std::exp(-step * in.inverse_scale * (e - least));
    sum += w, squares += w * w, n += 1;
  });
  return sum * sum / (n * squares);
}

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

// Before the first sweep of a round: equal weights for what is finite, once.
TEST_P(PopulationStepKernel, OpensARoundWithTheStatesOfFiniteEnergy) {
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

TEST_P(PopulationStepKernel, OpensNothingOnceStopped) {
  Inputs in = make_inputs(1, 64, 3);
  in.energy[0] = infinity;
  in.control.stop = DeviceStop::target;
  DevicePopulations populations(queue(), in);
  populations.open();
  EXPECT_EQ(populations.outputs().populations[0].opened, 0u);
  EXPECT_EQ(populations.opens()[0], 9u);
}

// Three ticks to beta_max, one that sees it, two of polish, and the next round.
TEST_P(PopulationStepKernel, GoesThroughItsRound) {
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

TEST_P(PopulationStepKernel, RecordsTheFirstPopulationAndThinsItsRecords) {
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
