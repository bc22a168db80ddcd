// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/densities/all.hpp"

#include "chains.hpp"

namespace kiln::test {

inline TestFunction test_function(TestFunctionKind kind, int n) {
  TestFunction f;
  f.kind = kind;
  f.n = n;
  return f;
}

/// Chains of a density of the catalogue in random places, one rung, an identity metric.
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
  return in;
}

/// Every kind of potential that short trajectories are compared on: vectors in registers, in
/// memory with fewer coordinates than threads, and with more than a block has.
struct NamedChains {
  std::string name;
  ChainInputs inputs;
};
std::vector<NamedChains> potentials_to_compare(std::int64_t replicas, std::int32_t leapfrogs);

inline constexpr ChainLayout all_layouts[] = {ChainLayout::thread, ChainLayout::warp,
                                              ChainLayout::block};
inline const char* to_string(ChainLayout layout) {
  return layout == ChainLayout::thread ? "thread" : layout == ChainLayout::warp ? "warp" : "block";
}

}  // namespace kiln::test
