// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "models/models_sweep.hpp"

namespace kiln::test {

/// A model of nine spins whose 512 states are enumerated, and how it is sampled.
struct SmallSystem {
  const char* name;
  Ising (*model)();     ///< nine spins
  std::int32_t copies;  ///< sampled side by side: several give colour classes, one is sequential
  std::array<double, 3> betas;  ///< hot, middle, cold
};

inline constexpr std::int32_t small_spins = 9;
inline constexpr std::size_t small_states = 512;

/// 3 x 3 torus with real weights and fields; degree 4 everywhere.
inline Ising real_glass() {
  Ising model;
  model.n = small_spins;
  model.fields = {0.31, -0.12, 0.05, 0.44, -0.27, 0.18, -0.39, 0.08, 0.23};
  constexpr std::array right = {0.83, -1.12, 0.47, -0.65, 1.31, -0.29, 0.94, -0.58, 0.71};
  constexpr std::array below = {-0.92, 0.36, 1.07, -0.44, 0.61, -1.23, 0.52, 0.88, -0.75};
  for (std::int32_t v = 0; v < small_spins; ++v) {
    const std::int32_t to_right = v / 3 * 3 + (v + 1) % 3, to_below = (v + 3) % small_spins;
    const auto i = static_cast<std::size_t>(v);
    model.couplings.push_back({std::min(v, to_right), std::max(v, to_right), right[i]});
    model.couplings.push_back({std::min(v, to_below), std::max(v, to_below), below[i]});
  }
  return model;
}

/// Integers, degrees 1 to 4, some moves with dE = 0; three colours.
inline Ising mixed_integers() {
  Ising model;
  model.n = small_spins;
  model.fields = {0, 1, 0, -1, 0, 2, 0, 0, -1};
  model.couplings = {{0, 1, 1}, {0, 2, -2}, {0, 3, 1}, {0, 4, 2}, {1, 2, 1}, {2, 5, -1},
                     {3, 4, 3}, {4, 6, -1}, {5, 6, 1}, {6, 7, 2}, {7, 8, -3}};
  return model;
}

/// A tree: degrees 1, 2 and 3, all couplings 1 or -1.
inline Ising odd_degrees() {
  Ising model;
  model.n = small_spins;
  model.fields.assign(small_spins, 0.0);
  model.couplings = {{0, 1, 1},  {0, 2, -1}, {0, 3, 1}, {1, 4, 1},
                     {1, 5, -1}, {2, 6, 1},  {2, 7, 1}, {3, 8, -1}};
  return model;
}

/// A 3 x 3 torus: degree 4 everywhere.
inline Ising even_degrees() {
  Ising model = real_glass();
  model.fields.assign(small_spins, 0.0);
  for (std::size_t k = 0; k < model.couplings.size(); ++k) {
    model.couplings[k].weight = k % 3 == 0 ? -1 : 1;
  }
  return model;
}

/// Every pair coupled by an integer.
inline Ising dense_integers() {
  std::uint32_t i = 0;
  const auto weight = [&i] {
    constexpr std::array weights = {1, -2, 3, -1, 2, -3, 1, 1, -2, 2, -1};
    return static_cast<double>(weights[i++ % weights.size()]);
  };
  return dense(small_spins, weight, constant(1));
}

/// Bit v of the number of a state is 1 where s_v = -1.
inline std::vector<std::int8_t> spins_of_state(std::size_t state) {
  std::vector<std::int8_t> spins;
  for (std::size_t v = 0; v < std::size_t{small_spins}; ++v) {
    spins.push_back(((state >> v) & 1u) != 0 ? std::int8_t{-1} : std::int8_t{1});
  }
  return spins;
}

}  // namespace kiln::test
