// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"
#include "kiln/kernels/information/ksg_points.hpp"

namespace kiln {

/// The distance of each point to its k-th nearest neighbour, over all coordinates.
///
/// A point is no neighbour of itself. With `extent_y` and `extent_x` also the largest distances in
/// the block y and in the block x of those points that are not farther than the k-th neighbour: the
/// sides of the rectangle of the second type of estimator.
///
/// Distances are differences of doubles, each rounded once, so they do not depend on how the search
/// goes. Class E. Each point needs k neighbours; the distance is infinite without.
/// @par Source  Kraskov, Stögbauer, Grassberger, Physical Review E 69 (2004) 066138.
struct KILN_API KsgNeighbors {
  static constexpr const char* name = "ksg_neighbors";
  static constexpr const char* summary = "finds the distance of each point to its k-th neighbour";
  static constexpr std::int32_t max_k = 16;

  KsgPoints points;
  std::int32_t k = 4;                ///< 1 .. max_k
  View2<double> radius;              ///< [problem][n], written
  View2<double> extent_y, extent_x;  ///< [problem][n], written; empty: not asked for
};

}  // namespace kiln
