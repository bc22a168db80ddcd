// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/views.hpp"

#include "grid.cuh"

/// Where a block keeps a matrix while it is factored, panel by panel.
namespace kiln::cuda {

inline constexpr int panel_width = 16;

/// The lower triangle in shared memory, row after row without gaps. Rows i, i + 1, ... of a column
/// are triangular numbers apart, which lie in 16 different places from any multiple of 16 on.
struct ResidentTriangle {
  static constexpr int blocks_each = 3;  // to a multiprocessor
  double* values = nullptr;
  int n = 0, first = 0;

  KILN_HD static constexpr std::int64_t doubles(std::int64_t n) { return n * (n + 1) / 2; }

  __device__ double& at(int i, int j) const { return values[i * (i + 1) / 2 + j]; }
  __device__ double& panel(int i, int k) const { return at(i, first + k); }
  /// Column k of the panel at rows i, ..., i + 3; of what lies beyond the end anything.
  __device__ void four(int i, int k, double (&out)[4]) const {
#pragma unroll
    for (int r = 0; r < 4; ++r) out[r] = panel(min(i + r, n - 1), k);
  }
  __device__ void begin_panel(int column, int) { first = column; }
  __device__ void end_panel(int) const {}
};

/// The lower triangle in device memory, in place of the factor, and the panel in shared memory
/// column by column.
struct StreamedTriangle {
  static constexpr int blocks_each = 1;
  double* columns = nullptr;
  int n = 0, first = 0;
  View2<double> factor;

  KILN_HD static constexpr std::int64_t pitch(std::int64_t n) { return (n + 3) / 4 * 4; }
  KILN_HD static constexpr std::int64_t doubles(std::int64_t n) { return pitch(n) * panel_width; }

  __device__ double& at(int i, int j) const { return factor(i, j); }
  __device__ double& panel(int i, int k) const {
    return columns[k * static_cast<int>(pitch(n)) + i - first];
  }
  __device__ void four(int i, int k, double (&out)[4]) const {
    const double2* const pairs = reinterpret_cast<const double2*>(&panel(i, k));
    const double2 upper = pairs[0], lower = pairs[1];
    out[0] = upper.x, out[1] = upper.y, out[2] = lower.x, out[3] = lower.y;
  }
  __device__ void begin_panel(int column, int width) {
    first = column;
    visit(width, [&](int i, int k) { panel(i, k) = at(i, first + k); });
  }
  __device__ void end_panel(int width) const {
    visit(width, [&](int i, int k) { at(i, first + k) = panel(i, k); });
  }

 private:
  template <class Action>
  __device__ void visit(int width, Action action) const {
    for (int e = static_cast<int>(threadIdx.x); e < (n - first) * panel_width; e += block_size) {
      const int i = first + e / panel_width, k = e % panel_width;
      if (k < width && first + k <= i) action(i, k);
    }
  }
};

}  // namespace kiln::cuda
