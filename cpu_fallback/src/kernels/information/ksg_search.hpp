// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln::cpu {

/// Points of one problem of KsgNeighbors or KsgCounts, or of one of its blocks, as plain pointers:
/// see SliceJob.
struct KsgAxes {
  const double* axis[16] = {};  // [n] each, points in the order of the first
  int dims = 0;
  std::int64_t n = 0;
};

/// Neighbours of the points begin .. end - 1.
struct KsgNeighborsJob {
  KsgAxes points;
  int z = 0, y = 1;  // coordinates of blocks; the rest is x
  int k = 4;
  std::int32_t theiler = 0;
  // With theiler: [n], the place in time of each point, and [n], the time of each place.
  const std::int32_t *place = nullptr, *time = nullptr;
  std::int64_t begin = 0, end = 0;
  double* radius = nullptr;                         // [n]
  double *extent_y = nullptr, *extent_x = nullptr;  // [n] or null
};

/// How many points are within the radius of one point: itself counts.
struct KsgConditionJob {
  KsgAxes points;
  int z = 1, y = 1;
  std::int64_t point = 0;
  double radius = 0;
  std::int64_t count[3] = {};  // n_z, n_yz, n_xz, written
};

/// How many points of a block are within the radius of a place.
struct KsgBlockJob {
  KsgAxes points;
  double at[16] = {};
  double radius = 0;
  bool inclusive = false;  // points at the radius count
  std::int64_t count = 0;  // written
};

/// The searches of an instruction set. All give the same bits.
struct KsgSearch {
  void (*neighbors)(const KsgNeighborsJob& job);
  void (*condition)(KsgConditionJob& job);
  void (*block)(KsgBlockJob& job);
};
extern const KsgSearch ksg_search_baseline, ksg_search_avx2, ksg_search_avx512;

}  // namespace kiln::cpu
