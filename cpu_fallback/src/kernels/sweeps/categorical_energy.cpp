// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/categorical_energy.hpp"

#include <algorithm>
#include <array>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t lanes = 32;
using Sums = std::array<double, lanes>;

// 2 h(x) + weights of equal neighbours of one site, for the slots of a tile, added to `sum`.
void add_site(const CategoricalEnergy& kernel, std::int32_t site, std::int64_t first_slot,
              std::size_t live, Sums& sum) {
  const CategoricalView& model = kernel.model;
  const std::int32_t variable = model.variable[site];
  if (variable < 0) return;
  const std::int8_t* const own = &kernel.state(variable, first_slot);
  Sums equal{};
  for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
    const double weight = model.weight(e);
    const std::int8_t* const other =
        &kernel.state(model.variable[model.entries[e].site], first_slot);
    for (std::size_t l = 0; l < live; ++l) equal[l] += other[l] == own[l] ? weight : 0.0;
  }
  for (std::size_t l = 0; l < live; ++l) {
    sum[l] += equal[l] + 2 * model.field_of(site, own[l]);
  }
}

void energies_of_tile(const CategoricalEnergy& kernel, std::int64_t first_slot) {
  const auto live =
      static_cast<std::size_t>(std::min<std::int64_t>(lanes, kernel.state.columns - first_slot));
  std::array<bool, lanes> wanted{};
  for (std::size_t l = 0; l < live; ++l) {
    wanted[l] = kernel.selects(first_slot + static_cast<std::int64_t>(l));
  }
  if (std::none_of(wanted.begin(), wanted.end(), [](bool w) { return w; })) return;
  Sums total{};
  constexpr std::int32_t part_sites = CategoricalEnergy::sites_per_part;
  for (std::int32_t begin = 0; begin < kernel.model.n_sites; begin += part_sites) {
    Sums part{};
    const std::int32_t end = std::min(begin + part_sites, kernel.model.n_sites);
    for (std::int32_t site = begin; site < end; ++site) {
      add_site(kernel, site, first_slot, live, part);
    }
    for (std::size_t l = 0; l < live; ++l) total[l] += part[l];
  }
  for (std::size_t l = 0; l < live; ++l) {
    if (wanted[l]) kernel.energy[first_slot + static_cast<std::int64_t>(l)] = total[l] / 2;
  }
}

}  // namespace

template <>
void launch(const CategoricalEnergy& kernel, Queue& queue) {
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  pool_of(queue).for_each((kernel.state.columns + lanes - 1) / lanes,
                          [&](std::int64_t tile) { energies_of_tile(kernel, tile * lanes); });
}

}  // namespace kiln::cpu
