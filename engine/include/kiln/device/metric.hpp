// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/team.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// The storage of the inverse mass matrix.
enum class MetricKind : std::uint8_t {
  diagonal,  ///< M^-1 = diag(s)^2
  low_rank,  ///< M^-1 = diag(s) (I + V (Lambda - I) V^T) diag(s), V orthonormal
  /// M^-1 = L L^T, L lower triangular: for schedules that get a covariance from elsewhere. The
  /// schedule hmc learns low_rank metrics, with all directions for its metric=dense.
  dense,
};

/// The metric of one chain, as a square root S of the inverse mass matrix, M^-1 = S S^T. A chain
/// keeps z = S^T p instead of its momentum, so z ~ N(0, I), the kinetic energy is |z|^2 / 2, a kick
/// is z -= eps S^T g, and a drift x += eps S z. U-turns are scalar products of z, because p^T M^-1
/// p' = z^T z'.
struct Metric {
  MetricKind kind = MetricKind::diagonal;
  int rank = 0;                     ///< columns of V
  const double* scale = nullptr;    ///< [dimension], s; not used by dense
  const double* factor = nullptr;   ///< dense: L [dimension][dimension]; low_rank: V^T [rank][dim]
  const double* stretch = nullptr;  ///< low_rank: [rank], sqrt(Lambda) - 1

  /// out = S z. All of z is visible to the team before the call; the thread that owns i writes
  /// out[i], which others see only after team.sync(). `out` may be z unless the metric is dense.
  template <class Team>
  KILN_HD void apply(const Team& team, int d, const double* z, double* out) const {
    if (kind == MetricKind::diagonal) {
      KILN_UNROLL
      for (int i = team.rank(); i < d; i += team.size()) out[i] = scale[i] * z[i];
    } else if (kind == MetricKind::dense) {
      for (int i = team.rank(); i < d; i += team.size()) {
        double sum = 0;
        for (int j = 0; j <= i; ++j) sum += factor[static_cast<std::int64_t>(i) * d + j] * z[j];
        out[i] = sum;
      }
    } else {
      stretch_directions(team, d, z, out);
      for (int i = team.rank(); i < d; i += team.size()) out[i] *= scale[i];
    }
  }

  /// out = S^T g, under the same rules; `out` is not g.
  template <class Team>
  KILN_HD void apply_transposed(const Team& team, int d, const double* g, double* out) const {
    if (kind == MetricKind::diagonal) {
      KILN_UNROLL
      for (int i = team.rank(); i < d; i += team.size()) out[i] = scale[i] * g[i];
    } else if (kind == MetricKind::dense) {
      for (int j = team.rank(); j < d; j += team.size()) {
        double sum = 0;
        for (int i = j; i < d; ++i) sum += factor[static_cast<std::int64_t>(i) * d + j] * g[i];
        out[j] = sum;
      }
    } else {
      for (int i = team.rank(); i < d; i += team.size()) out[i] = scale[i] * g[i];
      stretch_directions(team, d, out, out);
    }
  }

 private:
  // out = (I + V diag(stretch) V^T) z; every thread reads and writes only the elements that it
  // owns.
  template <class Team>
  KILN_HD void stretch_directions(const Team& team, int d, const double* z, double* out) const {
    if (out != z) {
      for (int i = team.rank(); i < d; i += team.size()) out[i] = z[i];
    }
    // V is orthonormal: the component along one direction does not depend on the others.
    int directions = rank;
    if constexpr (shares_barriers<Team>) directions = team.most(rank);
    for (int k = 0; k < directions; ++k) {
      const double* v = factor + static_cast<std::int64_t>(k) * d;
      double sum = 0;
      for (int i = team.rank(); i < d && k < rank; i += team.size()) sum += v[i] * out[i];
      const double total = team.sum(sum);
      if (k >= rank) continue;  // other threads have this direction
      const double along = stretch[k] * total;
      for (int i = team.rank(); i < d; i += team.size()) out[i] += along * v[i];
    }
  }
};

/// The metrics of all pools of chains that adapt together, in device memory.
struct MetricView {
  MetricKind kind = MetricKind::diagonal;
  int dimension = 0;
  int rank = 0;                 ///< low_rank: capacity in columns
  View1<const double> scale;    ///< [pools * dimension]
  View1<const double> factor;   ///< [pools * dimension * dimension] or [pools * rank * dimension]
  View1<const double> stretch;  ///< [pools * rank]
  View1<const std::int32_t> used;  ///< [pools], columns in use; empty: all

  KILN_HD Metric of_pool(std::int64_t pool) const {
    const std::int64_t d = dimension;
    Metric m;
    m.kind = kind;
    m.rank = used ? used[pool] : rank;
    if (scale) m.scale = scale.data + pool * d;
    if (factor) m.factor = factor.data + pool * d * (kind == MetricKind::dense ? d : rank);
    if (stretch) m.stretch = stretch.data + pool * rank;
    return m;
  }
};

}  // namespace kiln
