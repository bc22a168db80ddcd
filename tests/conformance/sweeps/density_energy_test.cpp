// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/density_energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "densities/chains_cases.hpp"

// Elementary functions and sums are the backend's own.
KILN_CONFORMANCE_CASE(DensityEnergy, reordered)

namespace kiln::test::density_energy_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double before = 4711;  // what the outputs hold at first

/// Energies of random points; slots in rungs by turns.
struct Inputs {
  ChainInputs chains;
  PartWeights weights;
  bool gradient = true, parts = true, forget = true, work_on_some = false, has_control = true;
};

struct Outputs {
  std::vector<double> energy, base, term, forgotten;  // [slots]
  std::vector<double> gradient;                       // [dimension][slots]
};

Outputs run(Queue& queue, const Inputs& in) {
  const ChainInputs& c = in.chains;
  const std::int64_t slots = (c.replicas + 31) / 32 * 32, d = c.dimension;
  std::vector<double> x(idx(d * slots), nan);
  std::vector<std::int32_t> rungs(idx(slots), 0);
  for (std::int64_t r = 0; r < c.replicas; ++r) {
    for (std::int64_t i = 0; i < d; ++i) {
      x[idx(i * slots + r)] = c.position[idx(i * c.replicas + r)];
    }
    rungs[idx(r)] = static_cast<std::int32_t>(r % 3);
  }
  const std::vector<double> filler(idx(slots), before);
  DeviceArray<double> position(queue, x), energy(queue, filler), base(queue, filler),
      term(queue, filler), forgotten(queue, filler),
      gradient(queue, std::vector<double>(idx(d * slots), before)),
      scratch(queue, slots * DensityEnergy::scratch_size(d, c.workspace));
  DeviceArray<std::int32_t> rung_of(queue, rungs);
  DeviceArray<std::uint32_t> active_rungs(queue, std::vector<std::uint32_t>{1, 0, 1});
  const DeviceArray<RunControl> control = upload_control(queue, c.control);
  DensityEnergy kernel;
  kernel.density = c.density;
  kernel.position = {position.data(), d, slots, slots};
  kernel.replicas = c.replicas;
  kernel.energy = energy.view();
  if (in.parts) kernel.base = base.view(), kernel.term = term.view();
  kernel.weights = in.weights;
  if (in.gradient) kernel.gradient = {gradient.data(), d, slots, slots};
  if (in.forget) kernel.forget_gradient = forgotten.view();
  kernel.rung_of = rung_of.view();
  if (in.work_on_some) kernel.active_rungs = active_rungs.view();
  if (in.has_control) kernel.control = control.data();
  kernel.layout = c.layout;
  kernel.scratch = scratch.view();
  queue.launch(kernel);
  return {energy.download(), base.download(), term.download(), forgotten.download(),
          gradient.download()};
}

class DensityEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DensityEnergyKernel);

TEST_P(DensityEnergyKernel, MatchesCpuForEverySizeAndLayout) {
  for (const std::int64_t replicas : {0, 1, 31, 32, 33}) {
    for (auto& [name, chains] : potentials_to_compare(replicas, 1)) {
      Inputs in{chains, {0.75, 0.25}};
      const Outputs expected = run(cpu_queue(), in);
      for (const ChainLayout layout : all_layouts) {
        SCOPED_TRACE(name + ", " + std::to_string(replicas) + ", " + to_string(layout));
        in.chains.layout = layout;
        const Outputs out = run(queue(), in);
        expect_near("energy", out.energy, expected.energy, double_tolerance);
        expect_near("base", out.base, expected.base, double_tolerance);
        expect_near("term", out.term, expected.term, double_tolerance);
        expect_near("gradient", out.gradient, expected.gradient, 10 * double_tolerance);
        expect_near("forgotten", out.forgotten, expected.forgotten, 0);
      }
    }
  }
}

TEST_P(DensityEnergyKernel, GivesTheValuesOfTheFunctions) {
  using Kind = TestFunctionKind;
  Inputs in;
  const auto value_at = [&](Kind kind, std::vector<double> x) {
    in.chains = make_chains(test_function(kind, static_cast<int>(x.size())), 1, 0, 0, 0);
    in.chains.position = std::move(x);
    return run(queue(), in).energy[0];
  };
  EXPECT_EQ(value_at(Kind::sphere, {3, -4}), 25.0);
  EXPECT_EQ(value_at(Kind::rosenbrock, {1, 1, 1}), 0.0);
  EXPECT_EQ(value_at(Kind::rosenbrock, {2, 3}), 101.0);
  EXPECT_NEAR(value_at(Kind::rastrigin, {0.5, 0}), 20.25, 1e-14 * 40);
  EXPECT_EQ(value_at(Kind::rastrigin, {0, 0}), 0.0);
}

TEST_P(DensityEnergyKernel, WeightsTheGradientButNotTheEnergy) {
  const std::int64_t n = 33;
  Inputs in;
  in.chains = make_chains(EightSchools{}, n, 1, 0, 0);
  const Outputs both = run(queue(), in);
  in.weights = {1, 0};
  const Outputs prior = run(queue(), in);
  in.weights = {0, 2};
  const Outputs likelihood = run(queue(), in);
  EXPECT_EQ(bits_of(prior.energy), bits_of(both.energy));
  EXPECT_EQ(bits_of(likelihood.energy), bits_of(both.energy));
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t r = 0; r < idx(n); ++r) {
      const std::size_t at = i * 64 + r;
      EXPECT_NEAR(both.gradient[at], prior.gradient[at] + likelihood.gradient[at] / 2, 1e-10);
    }
  }
  for (std::size_t r = 0; r < idx(n); ++r) {
    EXPECT_EQ(both.energy[r], both.base[r] + both.term[r]);
    EXPECT_TRUE(std::isnan(both.forgotten[r]));
  }
}

TEST_P(DensityEnergyKernel, LeavesAloneWhatIsNotWanted) {
  for (const ChainLayout layout : all_layouts) {
    SCOPED_TRACE(to_string(layout));
    Inputs in;
    in.chains = make_chains(EightSchools{}, 33, 1, 0, 0);
    in.chains.layout = layout;
    const Outputs all = run(queue(), in);
    for (std::size_t slot = 33; slot < 64; ++slot) EXPECT_EQ(all.energy[slot], before);
    in.gradient = in.parts = in.forget = false;
    const Outputs out = run(queue(), in);
    expect_near("energy", out.energy, all.energy, double_tolerance);
    for (const auto& untouched : {out.base, out.term, out.forgotten, out.gradient}) {
      EXPECT_EQ(untouched, std::vector<double>(untouched.size(), before));
    }
  }
}

TEST_P(DensityEnergyKernel, SkipsRungsThatAreNotFlagged) {
  for (const ChainLayout layout : all_layouts) {
    SCOPED_TRACE(to_string(layout));
    Inputs in;
    in.chains = make_chains(EightSchools{}, 33, 1, 0, 0);
    in.chains.layout = layout;
    const Outputs all = run(queue(), in);
    in.work_on_some = true;
    const Outputs some = run(queue(), in);
    for (std::size_t r = 0; r < 33; ++r) {
      EXPECT_EQ(some.energy[r], r % 3 == 1 ? before : all.energy[r]);
      EXPECT_EQ(some.gradient[r], r % 3 == 1 ? before : all.gradient[r]);
      EXPECT_EQ(std::isnan(some.forgotten[r]), r % 3 != 1);
    }
  }
}

TEST_P(DensityEnergyKernel, DoesNothingOnceStopped) {
  Inputs in;
  in.chains = make_chains(EightSchools{}, 33, 1, 0, 0);
  in.chains.control.stop = DeviceStop::step_limit;
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.energy, std::vector<double>(64, before));
  EXPECT_EQ(out.gradient, std::vector<double>(640, before));
  in.has_control = false;
  EXPECT_NE(run(queue(), in).energy[0], before) << "without a control block it is always active";
}

TEST_P(DensityEnergyKernel, StoresNoEnergyThatIsNotANumber) {
  Inputs in;
  in.chains = spheres(2, 3, 0, 0);
  in.chains.position = {nan, 1e200, 3, 0, 1, 4};
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.energy[0], infinity) << "so that it is never best";
  EXPECT_TRUE(std::isnan(out.term[0])) << "the part as it came";
  EXPECT_EQ(out.energy[1], infinity);
  EXPECT_EQ(out.energy[2], 25.0);
}

}  // namespace
}  // namespace kiln::test::density_energy_test
