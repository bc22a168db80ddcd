// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_energy.hpp"

#include <gtest/gtest.h>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "coloring/coloring_bounds.hpp"
#include "energy_runs.hpp"
#include "models/coloring_graphs.hpp"

// Sums of integers.
KILN_CONFORMANCE_CASE(ColoringEnergy, exact)

namespace kiln::test::coloring_energy_test {
namespace {

class ColoringEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ColoringEnergyKernel);

struct Inputs {
  Graph graph;
  std::vector<std::vector<std::int32_t>> colorings;  // of each slot
  bool fewest = false;
  energies::Request asked = energies::all_of(static_cast<std::int64_t>(colorings.size()), 2);
};

std::vector<double> run(Queue& queue, const Inputs& inputs) {
  ColoringModel model;
  problems::take_graph(inputs.graph, model);
  std::vector<std::int32_t> states;
  for (std::size_t v = 0; v < idx(inputs.graph.n_vertices); ++v) {
    for (const auto& coloring : inputs.colorings) states.push_back(coloring[v]);
  }
  const DeviceArray<std::int64_t> row_begin(queue, model.row_begin);
  const DeviceArray<std::int32_t> neighbor(queue, model.neighbor);
  const DeviceArray<std::int32_t> state(queue, states);
  const energies::DeviceRequest asked(queue, inputs.asked);
  DeviceArray<double> energy = energies::untouched(queue, inputs.asked);
  const std::int64_t slots = inputs.asked.slots;
  ColoringEnergy kernel;
  kernel.model = {inputs.graph.n_vertices, 70000, inputs.fewest, row_begin.view(), neighbor.view()};
  kernel.state = {state.data(), inputs.graph.n_vertices, slots, slots};
  kernel.energy = energy.view();
  kernel.rung_of = asked.rung();
  kernel.active_rungs = asked.active_rungs();
  kernel.control = asked.control();
  queue.launch(kernel);
  return energy.download();
}

// Colours beyond 255 and 32,767 among them: as many as 16 bits have.
Inputs random_inputs(std::int32_t n, std::int32_t slots, bool fewest) {
  std::vector<std::vector<std::int32_t>> colorings;
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    std::vector<std::int32_t> coloring;
    for (std::int32_t v = 0; v < n; ++v) {
      coloring.push_back(slot % 3 == 0 ? 65534 - v : (v * (slot + 3)) % (3 + 7 * slot));
    }
    colorings.push_back(coloring);
  }
  return {random_edges(n, 1u << 30, 7), colorings, fewest};
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
  const auto on_device = [&](const Inputs& some) { return run(queue(), some); };
  energies::expect_nothing_once_stopped(inputs, expected(inputs), on_device);
  inputs.asked.active_rungs = {0, 1};
  energies::expect_only_what_is_asked_for(inputs, expected(inputs), on_device);
}

}  // namespace
}  // namespace kiln::test::coloring_energy_test
