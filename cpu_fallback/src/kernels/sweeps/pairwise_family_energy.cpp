// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_energy.hpp"

#include <algorithm>
#include <array>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::size_t lanes = 32;
using Pairs = std::array<FamilyPair, lanes>;

// s (h + local field) of one site in both models, for the slots of a word, added to `sum`.
void add_site(const PairwiseFamilyEnergy& kernel, std::int32_t site, std::int64_t word,
              Pairs& sum) {
  const PairwiseFamilyView& model = kernel.model;
  const std::int32_t variable = model.variable[site];
  if (variable < 0) return;
  const FamilyPair field = model.field[site];
  Pairs local;
  local.fill(field);
  for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
    const FamilyEntry& entry = model.entries[e];
    const std::uint32_t bits = kernel.state(entry.variable, word);
    for (std::size_t l = 0; l < lanes; ++l) {
      const bool down = ((bits >> l) & 1u) != 0;
      local[l].base += down ? -entry.base : entry.base;
      local[l].term += down ? -entry.term : entry.term;
    }
  }
  const std::uint32_t own = kernel.state(variable, word);
  for (std::size_t l = 0; l < lanes; ++l) {
    const bool down = ((own >> l) & 1u) != 0;
    const double base = field.base + local[l].base, term = field.term + local[l].term;
    sum[l].base += down ? -base : base;
    sum[l].term += down ? -term : term;
  }
}

void energies_of_word(const PairwiseFamilyEnergy& kernel, std::int64_t word) {
  const std::int64_t first = word * static_cast<std::int64_t>(lanes);
  bool any = false;
  for (std::size_t l = 0; l < lanes; ++l) {
    any = any || kernel.selects(first + static_cast<std::int64_t>(l));
  }
  if (!any) return;
  Pairs total{};
  constexpr std::int32_t part_sites = PairwiseFamilyEnergy::sites_per_part;
  for (std::int32_t begin = 0; begin < kernel.model.n_sites; begin += part_sites) {
    Pairs part{};
    const std::int32_t end = std::min(begin + part_sites, kernel.model.n_sites);
    for (std::int32_t site = begin; site < end; ++site) add_site(kernel, site, word, part);
    for (std::size_t l = 0; l < lanes; ++l) {
      total[l].base += part[l].base;
      total[l].term += part[l].term;
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::int64_t slot = first + static_cast<std::int64_t>(l);
    if (kernel.selects(slot)) kernel.write(slot, total[l].base, total[l].term);
  }
}

}  // namespace

template <>
void launch(const PairwiseFamilyEnergy& kernel, Queue& queue) {
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  pool_of(queue).for_each(kernel.state.columns,
                          [&](std::int64_t word) { energies_of_word(kernel, word); });
}

}  // namespace kiln::cpu
