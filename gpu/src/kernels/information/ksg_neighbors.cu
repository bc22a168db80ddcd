// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_neighbors.hpp"

#include "kernels/information/ksg_walk.cuh"

namespace kiln::cuda {
namespace {

// The k least distances in ascending order, at the end of `room` places: the places before are
// below all distances.
template <int room>
struct Nearest {
  double distance[room];

  __device__ explicit Nearest(int k) {
#pragma unroll
    for (int i = 0; i < room; ++i) distance[i] = i < room - k ? -1.0 : infinity();
  }
  __device__ double worst() const { return distance[room - 1]; }
  __device__ void insert(double value) {
#pragma unroll
    for (int i = 0; i < room; ++i) {
      const bool before = value < distance[i];
      const double larger = before ? distance[i] : value;
      distance[i] = before ? value : distance[i];
      value = larger;
    }
  }
  static __device__ double infinity() { return __longlong_as_double(0x7FF0000000000000ll); }
};

__device__ bool is_near_in_time(const KsgPoints& points, std::int64_t problem, std::int32_t time,
                                std::int64_t other) {
  return points.theiler > 0 &&
         KsgPoints::apart(points.time(problem, other), time) <= points.theiler;
}

// The sides of the rectangle around a point, found by its team.
template <int team>
__device__ void write_extents(const KsgNeighbors& kernel, std::int64_t problem, std::int64_t point,
                              std::int32_t time, double radius) {
  const KsgPoints& points = kernel.points;
  const double* const first = points.axis(problem, 0);
  const Window window(first, static_cast<std::int32_t>(points.n()), first[point],
                      [radius](double apart) { return apart <= radius; });
  const int lane = static_cast<int>(threadIdx.x) % team;
  double extent_y = 0, extent_x = 0;
  for (std::int32_t j = window.begin + lane; j < window.end; j += team) {
    if (j == point || is_near_in_time(points, problem, time, j)) continue;
    const double y = block_distance(points, problem, 0, points.y, point, j);
    const double x = block_distance(points, problem, points.y, points.dims(), point, j);
    if (y > radius || x > radius) continue;
    extent_y = fmax(extent_y, y);
    extent_x = fmax(extent_x, x);
  }
  if constexpr (team > 1) {
    __syncwarp();
    extent_y = team_max<team>(extent_y);
    extent_x = team_max<team>(extent_x);
  }
  if (lane != 0) return;
  kernel.extent_y(problem, point) = extent_y;
  kernel.extent_x(problem, point) = extent_x;
}

// The search of one point.
template <int room, int dims>
struct Search {
  const KsgPoints& points;
  std::int64_t problem;
  AxisPointers<dims> axes;
  Coordinates<dims> place;
  std::int32_t n, point, time;
  Nearest<room> nearest;

  __device__ Search(const KsgNeighbors& kernel, std::int64_t problem_, std::int64_t point_)
      : points(kernel.points),
        problem(problem_),
        axes(points, problem),
        place(axes, point_),
        n(static_cast<std::int32_t>(points.n())),
        point(static_cast<std::int32_t>(point_)),
        time(points.theiler > 0 ? points.time(problem, point) : 0),
        nearest(kernel.k) {}

  __device__ bool takes(double distance, std::int32_t j) const {
    return distance < nearest.worst() && !is_near_in_time(points, problem, time, j);
  }

  // By one lane: some candidates of one side, then some of the other.
  __device__ void walk() {
    std::int32_t left = point - 1, right = point + 1;
    while (true) {
      const bool go_left = left >= 0 && place.at[0] - axes.axis[0][left] < nearest.worst();
      const bool go_right = right < n && axes.axis[0][right] - place.at[0] < nearest.worst();
      if (!go_left && !go_right) break;
      if (go_right) look<1>(right);
      if (go_left) look<-1>(left);
    }
  }

  // By a warp, of which all lanes keep the same nearest distances.
  __device__ void walk_by_warp() {
    WarpWalk walk(axes.axis[0], n, point);
    std::int32_t j = -1;
    while (walk.step(nearest.worst(), j)) {
      const double distance = j < 0 ? Nearest<room>::infinity() : place.distance(axes, j);
      unsigned lanes = __ballot_sync(full_warp, takes(distance, j));
      for (; lanes != 0; lanes &= lanes - 1) {
        nearest.insert(__shfl_sync(full_warp, distance, __ffs(static_cast<int>(lanes)) - 1));
      }
    }
  }

 private:
  static constexpr int at_once = 4;

  template <int direction>
  __device__ void look(std::int32_t& next) {
    double distance[at_once];
    bool any = false;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const std::int32_t j = next + direction * i;
      const bool exists = direction > 0 ? j < n : j >= 0;
      distance[i] = exists ? place.distance(axes, j) : Nearest<room>::infinity();
      any = any || distance[i] < nearest.worst();
    }
    if (any) {
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        if (takes(distance[i], next + direction * i)) nearest.insert(distance[i]);
      }
    }
    next += direction * at_once;
  }
};

template <int room, int dims, int team>
__global__ void __launch_bounds__(walk_threads)
    find_neighbors(const __grid_constant__ KsgNeighbors kernel) {
  const KsgPoints& points = kernel.points;
  for (TeamPoint<team> at(points); at.problem < points.problems(); at.next(points)) {
    if (at.point >= points.n()) continue;
    Search<room, dims> search(kernel, at.problem, at.point);
    if constexpr (team == 1) {
      search.walk();
    } else {
      search.walk_by_warp();
    }
    const double radius = search.nearest.worst();
    if (threadIdx.x % team == 0) kernel.radius(at.problem, at.point) = radius;
    if (kernel.extent_y.rows > 0) {
      write_extents<team>(kernel, at.problem, at.point, search.time, radius);
    }
  }
}

template <int room>
void launch_with(const KsgNeighbors& kernel, Queue& queue) {
  with_team(kernel.points, [&]<int team>() {
    const unsigned blocks = blocks_of_walk<team>(kernel.points);
    with_dims(kernel.points.dims(), [&]<int dims>() {
      find_neighbors<room, dims, team><<<blocks, walk_threads, 0, stream_of(queue)>>>(kernel);
    });
  });
}

}  // namespace

template <>
void launch(const KsgNeighbors& kernel, Queue& queue) {
  if (kernel.points.n() == 0 || kernel.points.problems() == 0) return;
  if (kernel.k <= 4) {
    launch_with<4>(kernel, queue);
  } else if (kernel.k <= 8) {
    launch_with<8>(kernel, queue);
  } else {
    launch_with<16>(kernel, queue);
  }
  check_launch(KsgNeighbors::name);
}

}  // namespace kiln::cuda
