// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/density_energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/density_objective.hpp"

#include "backends.hpp"
#include "chains_cases.hpp"
#include "tolerances.hpp"

namespace kiln::test {
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
  DeviceArray<std::uint32_t> only(queue, std::vector<std::uint32_t>{1, 0, 1});
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
  if (in.work_on_some) kernel.only = only.view();
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

}  // namespace
}  // namespace kiln::test
