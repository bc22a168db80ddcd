// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/hamiltonian/generalized_linear.hpp"

namespace kiln::cpu {

/// Likelihood and its gradient for 16 chains side by side, as plain pointers; TileJob gives the
/// reason.
struct GlmTile {
  static constexpr int lanes = 16;

  GlmLink link = GlmLink::logistic;
  double precision = 1;
  std::int64_t rows = 0;
  int columns = 0;
  int width = 0;              // of a row of x; rows of zeros fill up a multiple of 8
  const double* x = nullptr;  // [rows][width]
  const double* y = nullptr;  // [rows]

  const double* weights = nullptr;  // [columns][lanes], aligned to 64 bytes
  double* gradient = nullptr;       // [columns][lanes], likewise; of the negative log likelihood
  double* energy = nullptr;         // [lanes], the negative log likelihood; null: not computed
};

void glm_tile_baseline(const GlmTile& tile);
void glm_tile_avx2(const GlmTile& tile);
void glm_tile_avx512(const GlmTile& tile);

}  // namespace kiln::cpu
