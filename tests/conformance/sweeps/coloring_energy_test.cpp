// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_energy.hpp"

#include <gtest/gtest.h>

#include "backends/backends.hpp"
#include "backends/tolerances.hpp"
#include "coloring/coloring_bounds.hpp"
#include "models/coloring_graphs.hpp"

namespace kiln::test::coloring_energy_test {
namespace {

class ColoringEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ColoringEnergyKernel);

constexpr double before = -99;

struct Inputs {
  Graph graph;
  std::vector<std::vector<std::int32_t>> colorings;  // of each slot
  bool fewest = false;
  std::vector<std::uint32_t> only = {};
  RunControl control = {};
};

std::vector<double> run(Queue& queue, const Inputs& inputs) {
  ColoringModel model;
  problems::take_graph(inputs.graph, model);
  const auto slots = static_cast<std::int64_t>(inputs.colorings.size());
  std::vector<std::int32_t> states;
  for (std::size_t v = 0; v < idx(inputs.graph.n_vertices); ++v) {
    for (const auto& coloring : inputs.colorings) states.push_back(coloring[v]);
  }
  const DeviceArray<std::int64_t> row_begin(queue, model.row_begin);
  const DeviceArray<std::int32_t> neighbor(queue, model.neighbor);
  const DeviceArray<std::int32_t> state(queue, states);
  std::vector<std::int32_t> rungs;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    rungs.push_back(static_cast<std::int32_t>(slot % 2));
  }
  const DeviceArray<std::int32_t> rung(queue, rungs);
  const DeviceArray<std::uint32_t> only(queue, inputs.only);
  const DeviceArray<RunControl> control = upload_control(queue, inputs.control);
  DeviceArray<double> energy(queue, std::vector<double>(idx(slots), before));
  ColoringEnergy kernel;
  kernel.model = {inputs.graph.n_vertices, 70000, inputs.fewest, row_begin.view(), neighbor.view()};
  kernel.state = {state.data(), inputs.graph.n_vertices, slots, slots};
  kernel.energy = energy.view();
  kernel.rung_of = rung.view();
  kernel.only = only.view();
  kernel.control = control.data();
  queue.launch(kernel);
  return energy.download();
}

// Colours beyond 255 and 32,767 among them: as many as 16 bits have.
Inputs random_inputs(std::int32_t n, std::int32_t slots, bool fewest) {
  Inputs inputs{random_edges(n, 1u << 30, 7), {}, fewest};
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    std::vector<std::int32_t> coloring;
    for (std::int32_t v = 0; v < n; ++v) {
      coloring.push_back(slot % 3 == 0 ? 65534 - v : (v * (slot + 3)) % (3 + 7 * slot));
    }
    inputs.colorings.push_back(coloring);
  }
  return inputs;
}

std::vector<double> expected(const Inputs& inputs) {
  std::vector<double> energies;
  for (const auto& coloring : inputs.colorings) {
    const auto conflicts = static_cast<double>(count_conflicts(inputs.graph, coloring));
    const double highest = 1 + *std::ranges::max_element(coloring);
    const double fewest = conflicts > 0 ? inputs.graph.n_vertices + conflicts : highest;
    energies.push_back(inputs.fewest ? fewest : conflicts);
  }
  return energies;
}

TEST_P(ColoringEnergyKernel, CountsConflictsAndColors) {
  for (const bool fewest : {false, true}) {
    // A path of three: 0 1 0 is proper, 0 0 1 has a conflict.
    const Inputs path{{3, {{0, 1, 1.0}, {1, 2, 1.0}}}, {{0, 1, 0}, {0, 0, 1}, {4, 2, 0}}, fewest};
    EXPECT_EQ(run(queue(), path),
              fewest ? (std::vector<double>{2, 4, 5}) : (std::vector<double>{0, 1, 0}));
    for (const std::int32_t n : {1, 31, 33, 200}) {
      const Inputs inputs = random_inputs(n, 33, fewest);
      EXPECT_EQ(run(queue(), inputs), expected(inputs)) << n;
    }
  }
}

TEST_P(ColoringEnergyKernel, MatchesCpu) {
  const Inputs inputs = random_inputs(300, 64, true);
  EXPECT_EQ(run(queue(), inputs), run(cpu_queue(), inputs));
}

TEST_P(ColoringEnergyKernel, WritesOnlyWhatIsAskedForAndNothingOnceStopped) {
  Inputs inputs = random_inputs(20, 8, false);
  const std::vector<double> all = expected(inputs);
  inputs.only = {0, 1};
  const std::vector<double> got = run(queue(), inputs);
  for (std::size_t slot = 0; slot < 8; ++slot) {
    EXPECT_EQ(got[slot], slot % 2 == 1 ? all[slot] : before) << slot;
  }
  inputs.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), inputs), std::vector<double>(8, before));
}

}  // namespace
}  // namespace kiln::test::coloring_energy_test
