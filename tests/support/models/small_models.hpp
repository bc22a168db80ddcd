// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/device/philox.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/space.hpp"

namespace kiln::test {

/// All 2^n states of n spins (-1, +1) or bits (0, 1); bit i of the number of a state is variable i,
/// and a bit that is set is spin -1 or bit 1.
inline std::vector<State> all_states(int n, bool spins) {
  std::vector<State> states;
  for (std::uint32_t number = 0; number < (1u << n); ++number) {
    std::vector<std::int8_t> values;
    for (int i = 0; i < n; ++i) {
      const int bit = static_cast<int>((number >> i) & 1u);
      values.push_back(static_cast<std::int8_t>(spins ? 1 - 2 * bit : bit));
    }
    states.push_back({values});
  }
  return states;
}

inline const std::vector<std::int8_t>& values_of(const State& state) {
  return std::get<std::vector<std::int8_t>>(state.front());
}

/// A random graph on n vertices: each pair is an edge with probability share/16, and has a weight
/// of -range .. range (never 0), times `unit`.
inline Graph random_graph(std::int32_t n, std::uint32_t share, std::int32_t range, double unit = 1,
                          std::uint64_t seed = 7) {
  Graph graph{n, {}};
  std::uint32_t pair = 0;
  for (std::int32_t u = 0; u < n; ++u) {
    for (std::int32_t v = u + 1; v < n; ++v) {
      const Words4 words = philox4x32_10(Words4{{pair++, 0, 0, 0}}, seed);
      if (words[0] % 16 >= share) continue;
      const auto size = 1 + static_cast<std::int32_t>(words[1] % static_cast<std::uint32_t>(range));
      graph.edges.push_back({u, v, unit * ((words[2] & 1u) != 0 ? size : -size)});
    }
  }
  return graph;
}

/// The same with fields of -range .. range, times `unit`.
inline Ising random_ising(std::int32_t n, std::uint32_t share, std::int32_t range, double unit = 1,
                          std::uint64_t seed = 7) {
  Ising model;
  model.n = n;
  model.couplings = random_graph(n, share, range, unit, seed).edges;
  for (std::int32_t i = 0; i < n; ++i) {
    const Words4 words = philox4x32_10(Words4{{static_cast<std::uint32_t>(i), 1, 0, 0}}, seed);
    const auto span = static_cast<std::uint32_t>(2 * range + 1);
    model.fields.push_back(unit * (static_cast<std::int32_t>(words[0] % span) - range));
  }
  return model;
}

}  // namespace kiln::test
