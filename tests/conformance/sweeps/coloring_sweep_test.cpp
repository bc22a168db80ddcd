// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "coloring/coloring_bounds.hpp"
#include "models/coloring_graphs.hpp"

// Decisions are made in exact arithmetic; energies are integers.
KILN_CONFORMANCE_CASE(ColoringSweep, exact)

namespace kiln::test::coloring_sweep_test {
namespace {

class ColoringSweepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ColoringSweepKernel);

using Colors = std::vector<std::int32_t>;
constexpr std::uint64_t key = 5;

struct Outcome {
  Colors states;  // [vertex][slot]
  std::vector<double> energies;
  std::vector<std::uint64_t> accepted;
  bool operator==(const Outcome&) const = default;
};

// All slots begin with colour 0 everywhere.
Outcome run(Queue& queue, const Graph& graph, std::int32_t values, std::int64_t slots, double beta,
            std::uint32_t sweeps, DeviceStop stop = DeviceStop::none) {
  ColoringModel model;
  problems::take_graph(graph, model);
  const DeviceArray<std::int64_t> row_begin(queue, model.row_begin);
  const DeviceArray<std::int32_t> neighbor(queue, model.neighbor);
  DeviceArray<std::int32_t> state(queue, Colors(idx(slots * graph.n_vertices), 0));
  DeviceArray<double> energy(
      queue, std::vector<double>(idx(slots), static_cast<double>(graph.edges.size())));
  DeviceArray<std::uint64_t> accepted(queue, std::vector<std::uint64_t>(idx(slots), 0));
  const DeviceArray<double> betas(queue, std::vector<double>{beta});
  const DeviceArray<std::int32_t> rung(queue, Colors(idx(slots), 0));
  const DeviceArray<std::uint64_t> keys(queue, std::vector<std::uint64_t>(idx(slots), key));
  std::vector<std::uint32_t> numbers(idx(slots));
  for (std::size_t r = 0; r < numbers.size(); ++r) numbers[r] = static_cast<std::uint32_t>(r);
  const DeviceArray<std::uint32_t> names(queue, numbers);
  RunControl at_start;
  at_start.stop = stop;
  const DeviceArray<RunControl> control = upload_control(queue, at_start);
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    ColoringSweep kernel;
    kernel.model = {graph.n_vertices, values, false, row_begin.view(), neighbor.view()};
    kernel.state = {state.data(), graph.n_vertices, slots, slots};
    kernel.energy = energy.view();
    kernel.accepted = accepted.view();
    kernel.beta = betas.view();
    kernel.rung_of = rung.view();
    kernel.draw_ids = {keys.view(), names.view()};
    kernel.control = control.data();
    kernel.step_offset = sweep;
    queue.launch(kernel);
  }
  return {state.download(), energy.download(), accepted.download()};
}

// A path of three vertices with 3 colours: by enumeration the chance of no conflict is
// (2 / (2 + e^-beta))^2. All begin with two.
TEST_P(ColoringSweepKernel, LeavesTheBoltzmannLawAsItIs) {
  const Graph path{3, {{0, 1, 1.0}, {1, 2, 1.0}}};
  const double beta = 0.7;
  constexpr std::int64_t slots = 20000;

  const Outcome outcome = run(queue(), path, 3, slots, beta, 60);

  double proper = 0;
  for (std::size_t s = 0; s < idx(slots); ++s) {
    const Colors one{outcome.states[s], outcome.states[s + slots], outcome.states[s + 2 * slots]};
    ASSERT_EQ(outcome.energies[s], static_cast<double>(count_conflicts(path, one)));
    proper += outcome.energies[s] == 0 ? 1 : 0;
  }
  const double share = std::pow(2 / (2 + std::exp(-beta)), 2);
  EXPECT_NEAR(proper / slots, share, 5 * std::sqrt(share * (1 - share) / slots));
}

TEST_P(ColoringSweepKernel, MatchesCpuAndCountsConflicts) {
  const Graph graph = random_edges(120, 0xF0000000u, 3);
  for (const double beta : {0.0, 2.5, std::numeric_limits<double>::infinity()}) {
    const Outcome outcome = run(queue(), graph, 300, 37, beta, 5);
    EXPECT_EQ(outcome, run(cpu_queue(), graph, 300, 37, beta, 5));
    for (std::size_t s = 0; s < 37; ++s) {
      Colors one;
      for (std::size_t v = 0; v < 120; ++v) one.push_back(outcome.states[v * 37 + s]);
      EXPECT_EQ(outcome.energies[s], static_cast<double>(count_conflicts(graph, one)));
    }
  }
}

// Vertices of more neighbours than a warp reads at once, and of none.
TEST_P(ColoringSweepKernel, MatchesCpuOnDenseGraphs) {
  Graph graph = random_edges(600, 0xE0000000u, 4);
  graph.n_vertices = 603;
  for (const std::int32_t values : {3, 400}) {
    EXPECT_EQ(run(queue(), graph, values, 21, 1.5, 3), run(cpu_queue(), graph, values, 21, 1.5, 3));
  }
}

// Colours of a graph that does not fit into shared memory stay in global memory.
TEST_P(ColoringSweepKernel, MatchesCpuOnLargeGraphs) {
  EXPECT_EQ(run(queue(), cycle(130000), 300, 3, 0.7, 2),
            run(cpu_queue(), cycle(130000), 300, 3, 0.7, 2));
}

TEST_P(ColoringSweepKernel, DoesNothingOnceStopped) {
  const Outcome outcome = run(queue(), cycle(9), 300, 8, 0.0, 2, DeviceStop::target);
  EXPECT_EQ(outcome.states, Colors(72, 0));
  EXPECT_EQ(outcome.energies, std::vector<double>(8, 9.0));
}

}  // namespace
}  // namespace kiln::test::coloring_sweep_test
