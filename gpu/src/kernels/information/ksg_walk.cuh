// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/kernels/information/ksg_points.hpp"

#include "kernels/grid.cuh"

/// What the searches among points in the order of their first coordinate share. A team of lanes
/// searches for one point and looks at as many candidates at once. Lanes of a warp go through all
/// steps together, so a warp takes as long as the longest of its searches.
namespace kiln::cuda {

inline constexpr int walk_threads = 128;

/// The point of a team: warps take points of one problem that are next to each other.
template <int team>
struct TeamPoint {
  static constexpr int points_of_warp = warp_size / team;

  std::int64_t warp;
  std::int64_t problem, point;

  __device__ explicit TeamPoint(const KsgPoints& points) : warp(thread_index() / warp_size) {
    place(points);
  }
  __device__ void next(const KsgPoints& points) {
    warp += thread_count() / warp_size;
    place(points);
  }

 private:
  __device__ void place(const KsgPoints& points) {
    const std::int64_t warps = (points.n() + points_of_warp - 1) / points_of_warp;
    problem = warp / warps;
    point = warp % warps * points_of_warp + threadIdx.x % warp_size / team;
  }
};

template <int team>
unsigned blocks_of_walk(const KsgPoints& points) {
  constexpr int points_of_warp = warp_size / team, warps_of_block = walk_threads / warp_size;
  const std::int64_t warps = (points.n() + points_of_warp - 1) / points_of_warp * points.problems();
  const std::int64_t blocks = (warps + warps_of_block - 1) / warps_of_block;
  return static_cast<unsigned>(std::min<std::int64_t>(blocks, std::int64_t{1} << 30));
}

/// Calls launch<team>(): a warp for each point if there are few points, which else leave most of
/// the device idle, or if searches are long; else a lane.
template <class Launch>
void with_team(const KsgPoints& points, Launch&& launch) {
  constexpr std::int64_t few_points = 65536, long_searches = 32768;
  if (points.n() * points.problems() <= few_points || points.n() >= long_searches) {
    return launch.template operator()<warp_size>();
  }
  launch.template operator()<1>();
}

/// Calls launch<D>() with the least D of the compiled ones that is not below `dims`.
template <class Launch>
void with_dims(std::int32_t dims, Launch&& launch) {
  if (dims <= 2) return launch.template operator()<2>();
  if (dims == 3) return launch.template operator()<3>();
  if (dims == 4) return launch.template operator()<4>();
  if (dims <= 6) return launch.template operator()<6>();
  if (dims <= 10) return launch.template operator()<10>();
  launch.template operator()<KsgPoints::max_dims>();
}

/// The coordinates of a problem. Those beyond its own repeat the first, which changes no distance.
template <int dims>
struct AxisPointers {
  const double* axis[dims];

  __device__ AxisPointers(const KsgPoints& points, std::int64_t problem) {
#pragma unroll
    for (int d = 0; d < dims; ++d) axis[d] = points.axis(problem, d < points.dims() ? d : 0);
  }
};

template <int dims>
struct Coordinates {
  double at[dims];

  __device__ Coordinates(const AxisPointers<dims>& axes, std::int64_t point) {
#pragma unroll
    for (int d = 0; d < dims; ++d) at[d] = axes.axis[d][point];
  }
  __device__ double distance(const AxisPointers<dims>& axes, std::int64_t other) const {
    double most = 0;
#pragma unroll
    for (int d = 0; d < dims; ++d) {
      const double apart = fabs(axes.axis[d][other] - at[d]);
      most = most < apart ? apart : most;
    }
    return most;
  }
};

/// A walk of a warp from a point to both sides, as far as the first coordinate is within reach.
/// Where one side has come to its end, all lanes go to the other.
struct WarpWalk {
  const double* first;
  double at;
  std::int32_t n, left, right;
  int lane = static_cast<int>(threadIdx.x) % warp_size;

  __device__ WarpWalk(const double* first_, std::int32_t n_, std::int32_t point)
      : first(first_), at(first_[point]), n(n_), left(point - 1), right(point + 1) {}

  /// The next candidate of this lane, -1 if it has none. @return whether the warp has any
  __device__ bool step(double reach, std::int32_t& candidate) {
    const bool go_left = left >= 0 && at - first[left] < reach;
    const bool go_right = right < n && first[right] - at < reach;
    if (!go_left && !go_right) return false;
    const int of_right = go_right ? (go_left ? warp_size / 2 : warp_size) : 0;
    candidate = lane < of_right ? right + lane : left - (lane - of_right);
    if (candidate >= n) candidate = -1;
    right += of_right;
    left -= warp_size - of_right;
    return true;
  }
};

/// The first of the places low .. high - 1 for which `is_beyond` holds, else `high`; it holds for
/// all that follow.
template <class IsBeyond>
__device__ std::int32_t first_beyond(std::int32_t low, std::int32_t high, IsBeyond&& is_beyond) {
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (is_beyond(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The places of an ascending axis at which the difference to `at` passes a test.
struct Window {
  std::int32_t begin, end;

  template <class Within>
  __device__ Window(const double* axis, std::int32_t n, double at, Within&& within) {
    begin =
        first_beyond(0, n, [&](std::int32_t j) { return axis[j] > at || within(at - axis[j]); });
    end = first_beyond(begin, n,
                       [&](std::int32_t j) { return axis[j] > at && !within(axis[j] - at); });
  }
};

template <int team, class T>
__device__ T team_sum(T value) {
#pragma unroll
  for (int apart = team / 2; apart > 0; apart /= 2) {
    value += __shfl_xor_sync(full_warp, value, apart);
  }
  return value;
}

template <int team>
__device__ double team_max(double value) {
#pragma unroll
  for (int apart = team / 2; apart > 0; apart /= 2) {
    value = fmax(value, __shfl_xor_sync(full_warp, value, apart));
  }
  return value;
}

/// The distance of two points over the coordinates begin .. end - 1.
__device__ inline double block_distance(const KsgPoints& points, std::int64_t problem,
                                        std::int32_t begin, std::int32_t end, std::int64_t a,
                                        std::int64_t b) {
  double most = 0;
  for (std::int32_t d = begin; d < end; ++d) {
    const double* const axis = points.axis(problem, d);
    const double apart = fabs(axis[b] - axis[a]);
    most = most < apart ? apart : most;
  }
  return most;
}

}  // namespace kiln::cuda
