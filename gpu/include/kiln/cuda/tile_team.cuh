// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "kiln/cuda/team.cuh"
#include "kiln/device/symmetric_sweep.hpp"

namespace kiln::cuda {

/// The 256 threads of a block as 16 x 16, which hold the lower triangle of a matrix of up to 16
/// `tiles` rows in registers. Thread (y, x) holds the elements (y + 16 a, x + 16 b), b <= a <
/// tiles.
template <int tiles>
struct TileTeam : BlockTeam {
  static constexpr int side = 16;
  static constexpr int threads = side * side;
  static constexpr std::int64_t max_rows = static_cast<std::int64_t>(side) * tiles;
  __device__ static constexpr int size() { return threads; }
};

namespace detail {

template <int tiles>
struct Tiles {
  static constexpr int side = TileTeam<tiles>::side;
  double element[tiles][tiles];
  int y = static_cast<int>(threadIdx.x) / side, x = static_cast<int>(threadIdx.x) % side;

  /// Calls action(i, j, element) for the elements of this thread in the lower triangle.
  template <class Action>
  __device__ void for_each(int n, Action&& action) {
#pragma unroll
    for (int a = 0; a < tiles; ++a) {
#pragma unroll
      for (int b = 0; b <= a; ++b) {
        const int i = y + side * a, j = x + side * b;
        if (i < n && j <= i) action(i, j, element[a][b]);
      }
    }
  }

  /// The column of pivot k = side * kb + kk; the elements above the pivot lie in its row.
  template <int kb>
  __device__ void give_column(int kk, double* column) const {
    if (x == kk) {
#pragma unroll
      for (int a = kb; a < tiles; ++a) {
        if (a > kb || y >= kk) column[y + side * a] = element[a][kb];
      }
    }
    if (y == kk) {
#pragma unroll
      for (int b = 0; b <= kb; ++b) {
        if (b < kb || x < kk) column[x + side * b] = element[kb][b];
      }
    }
  }

  template <int kb>
  __device__ void sweep(int kk, const double* column, double inverse_of) {
    double other[tiles];
#pragma unroll
    for (int b = 0; b < tiles; ++b) other[b] = column[x + side * b];
#pragma unroll
    for (int a = 0; a < tiles; ++a) {
      const double share = column[y + side * a] * inverse_of;
#pragma unroll
      for (int b = 0; b <= a; ++b) {
        double swept = element[a][b] - share * other[b];
        if (b == kb && x == kk) swept = share;
        if (a == kb && y == kk) {
          swept = b == kb && x == kk ? -inverse_of : other[b] * inverse_of;
        }
        element[a][b] = swept;
      }
    }
  }
};

}  // namespace detail

/// As for all teams, in registers. Columns pass through shared memory in two alternating buffers:
/// one barrier per pivot.
template <int tiles>
__device__ bool sweep_all(const TileTeam<tiles>& team, const PackedTriangle& triangle,
                          std::int64_t rows, double least, double* pivot, double*) {
  using Team = TileTeam<tiles>;
  __shared__ double columns[2][Team::max_rows];
  const int n = static_cast<int>(rows);
  detail::Tiles<tiles> mine;
#pragma unroll
  for (int a = 0; a < tiles; ++a) {
#pragma unroll
    for (int b = 0; b <= a; ++b) mine.element[a][b] = 0;
  }
  mine.for_each(n, [&](int i, int j, double& e) { e = triangle.row(i)[j]; });
  bool good = true;
  const auto sweep_block = [&]<int kb>() {
    for (int kk = 0; kk < Team::side && good; ++kk) {
      const int k = Team::side * kb + kk;
      if (k >= n) return;
      double* const column = columns[k % 2];
      mine.template give_column<kb>(kk, column);
      team.sync();
      const double p = column[k];
      good = p > least && p < exact::infinity();
      if (team.rank() == 0) pivot[k] = p;
      mine.template sweep<kb>(kk, column, 1 / p);
    }
  };
  [&]<int... kb>(std::integer_sequence<int, kb...>) {
    (sweep_block.template operator()<kb>(), ...);
  }
  (std::make_integer_sequence<int, tiles>{});
  if (good) mine.for_each(n, [&](int i, int j, double& e) { triangle.row(i)[j] = e; });
  team.sync();
  return good;
}

}  // namespace kiln::cuda
