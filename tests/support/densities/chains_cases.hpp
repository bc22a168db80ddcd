// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problems/densities/all.hpp"

#include "densities/chains.hpp"

namespace kiln::test {

inline TestFunction test_function(TestFunctionKind kind, int n) {
  TestFunction f;
  f.kind = kind;
  f.n = n;
  return f;
}

/// Chains of a density of the catalogue in random places, one rung, an identity metric, a step with
/// jitter, ends of trajectories reported.
template <class Density>
ChainInputs make_chains(const Density& density, std::int64_t replicas, double spread,
                        double step_size, std::int32_t leapfrogs) {
  ChainInputs in;
  in.density = DensityRef(density);
  in.dimension = dimension_of(density);
  in.workspace = density.workspace();
  in.replicas = replicas;
  in.position = normal_positions(in.dimension, replicas, spread, 7);
  in.tuning[0].step_size = step_size;
  in.tuning[0].leapfrogs = leapfrogs;
  in.tuning[0].jitter = 0.25;
  in.tuning[0].report_ends = 1;
  return in;
}

/// Chains whose trajectories diverge for `step_size` 1e200, and are exact for 0: U = x^2 each.
ChainInputs spheres(int dimension, std::int64_t replicas, double step_size, std::int32_t leapfrogs);

/// Every kind of potential that short trajectories are compared on: vectors in registers, in
/// memory with fewer coordinates than threads, and with more than a block has.
struct NamedChains {
  std::string name;
  ChainInputs inputs;
};
std::vector<NamedChains> potentials_to_compare(std::int64_t replicas, std::int32_t leapfrogs);

/// Six rungs with beta and lambda of their own, tunings of their own, replicas by turns.
void temper(ChainInputs& in);

/// Eight schools with data that say nothing, at a log tau from which some trajectories come to
/// where tau^2 overflows: gradients are not finite where log tau > 356.5, nor are energies a
/// little further, on every backend.
ChainInputs half_line(std::int64_t replicas);

/// A metric of one kind, by the same matrix as a diagonal one: D = diag(2^a), a = 0, -1, 1, 0 ...
/// Squares and sums are exact, so that paths have the same bits.
HostMetric powers_of_two(MetricKind kind, int dimension);

inline constexpr ChainLayout all_layouts[] = {ChainLayout::thread, ChainLayout::lanes,
                                              ChainLayout::warp, ChainLayout::block};
inline const char* to_string(ChainLayout layout) {
  constexpr const char* names[] = {"thread", "lanes", "warp", "block"};
  return names[static_cast<std::size_t>(layout)];
}

/// Some transitions on a backend.
template <class Kernel>
ChainOutputs run_chains(Queue& queue, const ChainInputs& in, int transitions = 1) {
  DeviceChains chains(queue, in);
  for (int t = 0; t < transitions; ++t) chains.transition<Kernel>();
  return chains.outputs();
}

}  // namespace kiln::test
