// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

/// What the launchers of sweeps by planes ask of a model.
namespace kiln::cuda {

/// Whether a sweep can be made by planes. Its shape may yet not fit.
inline bool takes_planes(const MetropolisSweep& kernel) {
  const PairwiseView& model = kernel.model;
  if (kernel.state.stride >= (std::int64_t{1} << 30)) return false;
  if (model.n_sites >= 1 << 27) return false;  // a tie has the site above five bits
  if (model.groups.sites.size == 0 || model.half_groups.sites.size == 0) return false;
  if (model.sequential || kernel.rule != SweepRule::metropolis) return false;
  return model.groups.max_sum <= max_sum_of_planes && model.total_sum < 0x1p31;  // 32 bits
}

/// Planes of a number u, at most 2^P - 1.
inline int planes_of_numbers(const PairwiseView& model) {
  const auto sum = model.groups.max_sum;
  return sum < 8 ? 3 : sum < 64 ? 6 : sum < 128 ? 7 : 8;
}

/// Whether rows have at most four couplings -1 or 1 and no fields.
inline bool has_short_rows(const PairwiseView& model) {
  return model.groups.one_plane && !model.has_fields && model.max_neighbors > 0 &&
         model.max_neighbors <= 4;
}

/// Whether all rows are four couplings -1 or 1.
inline bool has_rows_of_four(const PairwiseView& model) {
  return has_short_rows(model) && model.n_sites == model.n_variables &&
         model.entries.size == 4 * std::int64_t{model.n_sites} &&
         model.total_sum == 4.0 * model.n_variables;
}

/// Whether a class has too few sites for two words a lane: one word a lane needs more lanes.
inline bool has_few_sites(const PairwiseView& model, int words, int warps) {
  const std::int64_t sites = model.n_sites / (model.n_classes > 1 ? model.n_classes : 1);
  return sites * words / 2 < std::int64_t{32} * warps;
}

}  // namespace kiln::cuda
