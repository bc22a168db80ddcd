// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What hmc_transition and nuts_transition have in common: they move a state along a trajectory of
// leapfrogs.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kiln/kernels/hamiltonian/hmc_transition.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "densities/chains_cases.hpp"

namespace kiln::test::transitions_test {
namespace {

constexpr ChainLayout nuts_layouts[] = {ChainLayout::lanes, ChainLayout::warp, ChainLayout::block};

/// One of the kernels.
struct Transition {
  const char* name;
  void (*move)(DeviceChains&);
  std::span<const ChainLayout> layouts;
  int on_rungs;     ///< transitions on tempered rungs that two backends are compared over
  int in_box;       ///< likewise between walls
  double box_step;  ///< their step
};

constexpr Transition kernels[] = {
    {"hmc", [](DeviceChains& chains) { chains.transition<HmcTransition>(); }, all_layouts, 3, 5,
     0.7},
    {"nuts", [](DeviceChains& chains) { chains.transition<NutsTransition>(); }, nuts_layouts, 2, 3,
     0.2}};

void PrintTo(const Transition& transition, std::ostream* out) { *out << transition.name; }

class TransitionKernels : public testing::TestWithParam<std::tuple<Device, Transition>> {
 protected:
  void SetUp() override { skip_without(device()); }
  Queue& queue() const { return *open_device(device()).queue; }
  static Queue& cpu_queue() { return *open_device(Device::cpu).queue; }
  static const Transition& kernel() { return std::get<1>(GetParam()); }
  static ChainOutputs run(Queue& queue, const ChainInputs& in, int transitions = 1) {
    DeviceChains chains(queue, in);
    for (int t = 0; t < transitions; ++t) kernel().move(chains);
    return chains.outputs();
  }

 private:
  static Device device() { return std::get<0>(GetParam()); }
};

std::string name_of(const testing::TestParamInfo<std::tuple<Device, Transition>>& info) {
  return std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Cpu, TransitionKernels,
                         testing::Combine(testing::Values(Device::cpu), testing::ValuesIn(kernels)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, TransitionKernels,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(kernels)),
                         name_of);

/// The same with NUTS trees of that depth at most: 2^max_depth - 1 leapfrogs.
ChainInputs limited(ChainInputs in, std::int32_t max_depth) {
  in.tuning[0].max_depth = max_depth;
  return in;
}

TEST_P(TransitionKernels, MatchCpuForEverySizeAndLayout) {
  for (const std::int64_t replicas : {0, 1, 31, 32, 33}) {
    for (auto& [name, chains] : potentials_to_compare(replicas, 20)) {
      ChainInputs in = limited(chains, 5);
      const ChainOutputs expected = run(cpu_queue(), in);
      for (const ChainLayout layout : kernel().layouts) {
        SCOPED_TRACE(name + ", " + std::to_string(replicas) + ", " + to_string(layout));
        in.layout = layout;
        expect_close(run(queue(), in), expected, trajectory_tolerance);
      }
    }
  }
}

TEST_P(TransitionKernels, MatchCpuOnEveryRung) {
  for (auto& [name, chains] : potentials_to_compare(33, 3)) {
    ChainInputs in = limited(chains, 4);
    temper(in);
    const ChainOutputs expected = run(cpu_queue(), in, kernel().on_rungs);
    for (const ChainLayout layout : kernel().layouts) {
      SCOPED_TRACE(name + ", " + to_string(layout));
      in.layout = layout;
      expect_close(run(queue(), in, kernel().on_rungs), expected, trajectory_tolerance);
    }
  }
}

TEST_P(TransitionKernels, RepeatTheirBits) {
  for (auto& [name, chains] : potentials_to_compare(33, 10)) {
    ChainInputs in = limited(chains, 6);
    for (const ChainLayout layout : kernel().layouts) {
      SCOPED_TRACE(name + ", " + to_string(layout));
      in.layout = layout;
      EXPECT_TRUE(same_state(run(queue(), in, 3), run(queue(), in, 3)));
    }
  }
}

// What a chain draws and how its sums are added does not depend on how many others there are.
TEST_P(TransitionKernels, MoveAChainAsIfItWereAlone) {
  for (const ChainLayout layout : kernel().layouts) {
    SCOPED_TRACE(to_string(layout));
    ChainInputs many = spheres(1, 2000, 0.4, 5), few = many;
    many.layout = few.layout = layout;
    few.replicas = 3;
    few.position.resize(3);
    const ChainOutputs all = run(queue(), many, 4), some = run(queue(), few, 4);
    EXPECT_EQ(bits_of({all.position.begin(), all.position.begin() + 3}), bits_of(some.position));
  }
}

TEST_P(TransitionKernels, LeavePartsAndTheWeightedGradient) {
  ChainInputs in = limited(make_chains(EightSchools{}, 32, 1, 0.2, 4), 5);
  temper(in);
  const ChainOutputs out = run(queue(), in, 2);
  for (std::size_t r = 0; r < 32; ++r) {
    const std::size_t rung = idx(in.rung_of[r]);
    std::vector<double> x(10), g(10);
    for (std::size_t i = 0; i < 10; ++i) x[i] = out.position[i * 32 + r];
    const PartWeights w{in.beta[rung], in.beta[rung] * in.lambda[rung]};
    const EnergyParts e =
        EightSchools{}.evaluate<Want::both>(SingleTeam{}, {x.data(), w, g.data(), nullptr});
    EXPECT_NEAR(out.base[r], e.base, 1e-10);
    EXPECT_NEAR(out.term[r], e.term, 1e-10);
    EXPECT_EQ(out.energy[r], out.base[r] + out.term[r]) << "without the weights";
    EXPECT_EQ(out.base_weight[r], w.base);
    EXPECT_EQ(out.term_weight[r], w.term);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(out.gradient[i * 32 + r], g[i], 1e-10) << i;
  }
}

// x = y / 2 at beta 4 with a metric of scale 1/2 is y at beta 1: multiplication by powers of two.
TEST_P(TransitionKernels, ScaleThePotentialByBeta) {
  const ChainInputs plain = spheres(5, 32, 0.3, 7);
  ChainInputs cold = plain;
  cold.beta = {4};
  cold.metric = diagonal_metric(std::vector<double>(5, 0.5));
  for (double& x : cold.position) x /= 2;
  std::vector<double> doubled = run(queue(), cold, 3).position;
  for (double& x : doubled) x *= 2;
  EXPECT_EQ(bits_of(doubled), bits_of(run(queue(), plain, 3).position));
}

TEST_P(TransitionKernels, MakeTheGradientAnewForOtherWeights) {
  const ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 4);
  DeviceChains chains(queue(), in), fresh(queue(), in);
  kernel().move(chains);
  kernel().move(fresh);
  for (DeviceChains* c : {&chains, &fresh}) c->set_beta({0.25});
  fresh.forget_gradients();
  kernel().move(chains);
  kernel().move(fresh);
  const ChainOutputs out = chains.outputs();
  EXPECT_TRUE(same_state(out, fresh.outputs()));
  EXPECT_EQ(out.base_weight, std::vector<double>(33, 0.25));
}

TEST_P(TransitionKernels, AreTheSameByEveryMetricOfTheSameMatrix) {
  for (const ChainLayout layout : kernel().layouts) {
    SCOPED_TRACE(to_string(layout));
    ChainInputs in = spheres(6, 33, 0.2, 6);
    in.layout = layout;
    in.metric = powers_of_two(MetricKind::diagonal, 6);
    const ChainOutputs diagonal = run(queue(), in, 3);
    in.metric = powers_of_two(MetricKind::dense, 6);
    EXPECT_TRUE(same_state(run(queue(), in, 3), diagonal));
    in.metric = powers_of_two(MetricKind::low_rank, 6);
    EXPECT_TRUE(same_state(run(queue(), in, 3), diagonal));
    in.metric = {};
    EXPECT_FALSE(same_state(run(queue(), in, 3), diagonal));
  }
}

TEST_P(TransitionKernels, StayWithinTheirBox) {
  ChainInputs in = limited(spheres(40, 33, kernel().box_step, 10), 4);
  in.bounded = true;
  in.lower = -0.5;
  in.upper = 0.25;
  for (double& x : in.position) x = std::clamp(x, in.lower, in.upper);
  const ChainOutputs expected = run(cpu_queue(), in, kernel().in_box);
  for (const ChainLayout layout : kernel().layouts) {
    in.layout = layout;
    const ChainOutputs out = run(queue(), in, kernel().in_box);
    for (const double x : out.position) ASSERT_TRUE(x >= in.lower && x <= in.upper) << x;
    expect_close(out, expected, trajectory_tolerance);
  }
}

TEST_P(TransitionKernels, DoNotNeedStatistics) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 4);
  const ChainOutputs with = run(queue(), in, 2);
  in.statistics = false;
  const ChainOutputs without = run(queue(), in, 2);
  EXPECT_TRUE(same_state(with, without));
  EXPECT_EQ(without.leapfrogs, std::vector<std::int32_t>(33, 0));
}

TEST_P(TransitionKernels, DoNothingOnceStopped) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.2, 4);
  const ChainOutputs untouched = DeviceChains(queue(), in).outputs();
  in.control.stop = DeviceStop::target;
  EXPECT_TRUE(same_state(run(queue(), in), untouched));
  in.control = {};
  in.control.step_limit = 0;
  EXPECT_TRUE(same_state(run(queue(), in), untouched));
  in.control.step_limit = 1;
  EXPECT_FALSE(same_state(run(queue(), in), untouched));
}

}  // namespace
}  // namespace kiln::test::transitions_test
