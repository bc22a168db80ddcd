// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inputs of sweeps by planes: words of one key and one temperature, on sparse models.
#include <cstdint>
#include <utility>
#include <vector>

#include "models/models_sweep.hpp"

namespace kiln::test {

// Groups of whole words, each with a key and a temperature: the betas in turn.
inline SweepInputs grouped(Ising model, std::int64_t words, std::int64_t group_words,
                           const std::vector<double>& betas, std::uint64_t seed = 40) {
  const std::int64_t groups = (words + group_words - 1) / group_words;
  SweepInputs inputs = make_sweep(std::move(model), 32 * words, 1, seed);
  inputs.naming = DrawNaming::planes;
  inputs.names = make_names(32 * words, groups, seed);
  TestRandom random(seed + 1);
  std::uint64_t key = 0;
  inputs.beta.clear();
  for (std::int64_t g = 0; g < groups; ++g) inputs.beta.push_back(betas[idx(g) % betas.size()]);
  for (std::int64_t slot = 0; slot < 32 * words; ++slot) {
    const std::int64_t in_group = slot % (32 * group_words);
    if (in_group == 0) key = random.word();
    inputs.names.key[idx(slot)] = key;
    inputs.names.replica[idx(slot)] = static_cast<std::uint32_t>(in_group);
    inputs.rung[idx(slot)] = static_cast<std::int32_t>(slot / (32 * group_words));
  }
  inputs.sweeps = 3;
  return inputs;
}

inline Ising glass(std::int32_t n, std::int32_t degree) {
  return sparse(n, degree, one_of({-1, 1}, 41), one_of({-1, 0, 0, 1}, 42), 43);
}

// Blocks of ladders: a key for each `rungs` words, and a temperature for each word of them.
inline SweepInputs laddered(Ising model, std::int64_t words, std::int64_t rungs,
                            const std::vector<double>& betas) {
  SweepInputs inputs = grouped(std::move(model), words, rungs, {0.0});
  inputs.beta.clear();
  for (std::int64_t r = 0; r < rungs; ++r) {
    inputs.beta.push_back(betas[idx(r) % betas.size()] * (1 + 0.03 * static_cast<double>(r)));
  }
  for (std::int64_t slot = 0; slot < 32 * words; ++slot) {
    inputs.rung[idx(slot)] = static_cast<std::int32_t>(slot / 32 % rungs);
  }
  return inputs;
}

// Sites of zero to four couplings -1 or 1, in more than two classes.
inline Ising short_rows() {
  Ising model;
  model.n = 61;
  model.fields.assign(61, 0.0);
  const auto weight = one_of({-1, 1}, 60);
  const auto couple = [&](std::int32_t a, std::int32_t b) {
    model.couplings.push_back({a, b, weight()});
  };
  for (std::int32_t i = 0; i < 50; ++i) couple(i, i + 1);          // a chain
  for (std::int32_t i = 0; i < 20; ++i) couple(2 * i, 2 * i + 2);  // triangles
  for (std::int32_t i = 52; i < 55; ++i) couple(51, i);            // a star of three
  return model;
}

}  // namespace kiln::test
