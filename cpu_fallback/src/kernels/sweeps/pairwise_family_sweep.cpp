// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include <array>

#include "launch.hpp"

// A task is a word of 32 replicas; loops over the lanes are written for the vectoriser.
namespace kiln::cpu {
namespace {

constexpr std::size_t lanes = 32;
using Numbers = std::array<double, lanes>;

struct Tile {
  const PairwiseFamilySweep& kernel;
  std::int64_t word = 0;
  Numbers beta{}, lambda{};
  std::array<bool, lanes> rests{};
  std::array<DrawName, lanes> names{};
  std::array<std::uint64_t, lanes> accepted{};

  std::int64_t slot(std::size_t lane) const {
    return word * static_cast<std::int64_t>(lanes) + static_cast<std::int64_t>(lane);
  }
};

void add_neighbor(const FamilyEntry& entry, std::uint32_t bits, Numbers& base, Numbers& term) {
  for (std::size_t l = 0; l < lanes; ++l) {
    const bool down = ((bits >> l) & 1u) != 0;
    base[l] += down ? -entry.base : entry.base;
    term[l] += down ? -entry.term : entry.term;
  }
}

void update_site(Tile& tile, std::int32_t site, const std::array<Words4, lanes>& words) {
  const PairwiseFamilyView& model = tile.kernel.model;
  Numbers base, term;
  base.fill(model.field[site].base);
  term.fill(model.field[site].term);
  for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
    const FamilyEntry& entry = model.entries[e];
    add_neighbor(entry, tile.kernel.state(entry.variable, tile.word), base, term);
  }
  std::uint32_t& own = tile.kernel.state(model.variable[site], tile.word);
  std::uint32_t flips = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    const bool down = ((own >> l) & 1u) != 0;
    if (tile.rests[l] || !tile.kernel.flips(base[l], term[l], down, tile.beta[l], tile.lambda[l],
                                            words[l].word[site % 4])) {
      continue;
    }
    flips |= 1u << l;
    ++tile.accepted[l];
  }
  own ^= flips;
}

void sweep_word(const PairwiseFamilySweep& kernel, std::int64_t word) {
  Tile tile{kernel, word};
  for (std::size_t l = 0; l < lanes; ++l) {
    tile.beta[l] = kernel.beta_of(tile.slot(l));
    tile.lambda[l] = kernel.parameter_of(tile.slot(l));
    tile.names[l] = kernel.draws(tile.slot(l));
    tile.rests[l] = kernel.rests(tile.slot(l));
  }
  std::array<Words4, lanes> words{};
  for (std::int32_t site = 0; site < kernel.model.n_sites; ++site) {
    if (site % 4 == 0) {
      for (std::size_t l = 0; l < lanes; ++l) {
        words[l] = draw_quad(tile.names[l], static_cast<std::uint32_t>(site / 4));
      }
    }
    if (kernel.model.variable[site] >= 0) update_site(tile, site, words);
  }
  for (std::size_t l = 0; kernel.accepted && l < lanes; ++l) {
    kernel.accepted[tile.slot(l)] += tile.accepted[l];
  }
}

}  // namespace

template <>
void launch(const PairwiseFamilySweep& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  pool_of(queue).for_each(kernel.state.columns,
                          [&](std::int64_t word) { sweep_word(kernel, word); });
}

}  // namespace kiln::cpu
