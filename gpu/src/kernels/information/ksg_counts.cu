// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_counts.hpp"

#include "kernels/information/ksg_walk.cuh"

namespace kiln::cuda {
namespace {

__device__ bool within(const KsgCounts& kernel, double distance, double radius) {
  return kernel.by_extents() ? distance <= radius : distance < radius;
}

// Counts of one point; the point itself and those near in time are among them at first.
struct Counting {
  const KsgCounts& kernel;
  std::int64_t problem, point;
  double radius_y, radius_x;
  std::int32_t counts[3] = {0, 0, 0};

  __device__ Counting(const KsgCounts& kernel_, std::int64_t problem_, std::int64_t point_)
      : kernel(kernel_), problem(problem_), point(point_) {
    radius_y =
        kernel.by_extents() ? kernel.extent_y(problem, point) : kernel.radius(problem, point);
    radius_x = kernel.by_extents() ? kernel.extent_x(problem, point) : radius_y;
  }

  __device__ void take_off(double in_z, double in_y, double in_x) {
    const bool y = within(kernel, in_y, radius_y), x = within(kernel, in_x, radius_x);
    if (kernel.points.z == 0) {
      counts[0] -= y ? 1 : 0;
      counts[1] -= x ? 1 : 0;
    } else if (in_z < radius_y) {
      counts[0] -= 1;
      counts[1] -= y ? 1 : 0;
      counts[2] -= x ? 1 : 0;
    }
  }

  // The largest difference between the point and a place in time.
  __device__ double natural_distance(std::int64_t place, std::int32_t begin,
                                     std::int32_t end) const {
    const KsgPoints& points = kernel.points;
    double most = 0;
    for (std::int32_t d = begin; d < end; ++d) {
      const double there = points.axes(kernel.natural(problem, d), place);
      most = fmax(most, fabs(there - points.axis(problem, d)[point]));
    }
    return most;
  }

  // What one lane of a team takes off.
  template <int team>
  __device__ void take_off_near(int lane) {
    const KsgPoints& points = kernel.points;
    if (points.theiler == 0) {
      if (lane == 0) take_off(0, 0, 0);
      return;
    }
    // Times ascend, so what is near in time is no farther in place.
    const std::int64_t center = points.orders(points.order_of[problem], point);
    const std::int64_t from = center - points.theiler, to = center + points.theiler;
    const std::int32_t time = points.times[center], x_begin = points.z + points.y;
    for (std::int64_t p = (from < 0 ? 0 : from) + lane; p <= to && p < points.n(); p += team) {
      if (KsgPoints::apart(points.times[p], time) > points.theiler) continue;
      take_off(natural_distance(p, 0, points.z), natural_distance(p, points.z, x_begin),
               natural_distance(p, x_begin, points.dims()));
    }
  }
};

// Points of the block begin .. end - 1 of y and x within a radius, in the block's own order: those
// that one lane of a team counts.
template <int team>
__device__ std::int32_t count_block(const KsgCounts& kernel, std::int64_t problem,
                                    std::int64_t point, std::int32_t begin, std::int32_t end,
                                    double radius, int lane) {
  const KsgPoints& points = kernel.points;
  const double* const first = &points.axes(kernel.search(problem, begin), 0);
  const double at = points.axis(problem, begin)[point];
  const Window window(first, static_cast<std::int32_t>(points.n()), at,
                      [&](double apart) { return within(kernel, apart, radius); });
  if (end - begin == 1) return lane == 0 ? window.end - window.begin : 0;
  std::int32_t count = 0;
  for (std::int32_t j = window.begin + lane; j < window.end; j += team) {
    double most = 0;
    for (std::int32_t d = begin + 1; d < end; ++d) {
      const double there = points.axes(kernel.search(problem, d), j);
      most = fmax(most, fabs(there - points.axis(problem, d)[point]));
    }
    count += within(kernel, most, radius) ? 1 : 0;
  }
  return count;
}

__device__ void write(const Counting& counting, std::int64_t& sum, std::int64_t& squares) {
  const KsgCounts& kernel = counting.kernel;
  const std::int64_t value = kernel.value(counting.counts);
  sum += value;
  squares += KsgCounts::square(value);
  if (kernel.counts.rows == 0) return;
  for (std::int32_t b = 0; b < kernel.blocks(); ++b) {
    kernel.counts(counting.problem * kernel.blocks() + b, counting.point) = counting.counts[b];
  }
}

// The points of a warp belong to one problem.
__device__ void add_up(const KsgCounts& kernel, std::int64_t problem, std::int64_t sum,
                       std::int64_t squares) {
  sum = team_sum<warp_size>(sum);
  squares = team_sum<warp_size>(squares);
  if (threadIdx.x % warp_size != 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.sums(problem, 0)),
            static_cast<unsigned long long>(sum));
  atomicAdd(reinterpret_cast<unsigned long long*>(&kernel.sums(problem, 1)),
            static_cast<unsigned long long>(squares));
}

// What one lane of a team counts. z_dims, y_dims, x_dims: of the blocks; 0: as the arguments say.
template <int z_dims, int y_dims, int x_dims, int team>
__device__ void count_with_condition(Counting& counting, int lane) {
  const KsgPoints& points = counting.kernel.points;
  const int z = z_dims > 0 ? z_dims : points.z, y = y_dims > 0 ? y_dims : points.y;
  const int dims = z_dims > 0 ? z_dims + y_dims + x_dims : points.dims();
  constexpr int room = z_dims > 0 ? z_dims + y_dims + x_dims : KsgPoints::max_dims;
  const AxisPointers<room> axes(points, counting.problem);
  const Coordinates<room> place(axes, counting.point);
  const double radius = counting.radius_y;
  const Window window(axes.axis[0], static_cast<std::int32_t>(points.n()), place.at[0],
                      [radius](double apart) { return apart < radius; });
  std::int32_t n_z = 0, n_yz = 0, n_xz = 0;
#pragma unroll 4
  for (std::int32_t j = window.begin + lane; j < window.end; j += team) {
    bool in_z = true, in_y = true, in_x = true;
#pragma unroll
    for (int d = 1; d < room; ++d) {
      if (z_dims == 0 && d >= dims) break;
      const bool near = fabs(axes.axis[d][j] - place.at[d]) < radius;
      in_z = d < z ? in_z && near : in_z;
      in_y = d >= z && d < z + y ? in_y && near : in_y;
      in_x = d >= z + y ? in_x && near : in_x;
    }
    n_z += in_z ? 1 : 0;
    n_yz += in_z && in_y ? 1 : 0;
    n_xz += in_z && in_x ? 1 : 0;
  }
  counting.counts[0] = n_z;
  counting.counts[1] = n_yz;
  counting.counts[2] = n_xz;
}

// Adds up the counts of the lanes of a team, and what its point says.
template <int team>
__device__ void finish(Counting& counting, int lane, bool counts, std::int64_t& sum,
                       std::int64_t& squares) {
  counting.template take_off_near<team>(lane);
  __syncwarp();
#pragma unroll
  for (int b = 0; b < 3; ++b) counting.counts[b] = team_sum<team>(counting.counts[b]);
  if (counts && lane == 0) write(counting, sum, squares);
}

// With a condition; dimensions as for count_with_condition().
template <int z_dims, int y_dims, int x_dims>
struct Conditional {
  template <int team>
  static __device__ void count(Counting& counting, int lane) {
    count_with_condition<z_dims, y_dims, x_dims, team>(counting, lane);
  }
};

// Without: each block in its own order.
struct Separate {
  template <int team>
  static __device__ void count(Counting& counting, int lane) {
    const KsgCounts& kernel = counting.kernel;
    const KsgPoints& points = kernel.points;
    counting.counts[0] = count_block<team>(kernel, counting.problem, counting.point, 0, points.y,
                                           counting.radius_y, lane);
    counting.counts[1] = count_block<team>(kernel, counting.problem, counting.point, points.y,
                                           points.dims(), counting.radius_x, lane);
  }
};

template <class How, int team>
__global__ void __launch_bounds__(walk_threads)
    count_points(const __grid_constant__ KsgCounts kernel) {
  const KsgPoints& points = kernel.points;
  const int lane = static_cast<int>(threadIdx.x) % team;
  for (TeamPoint<team> at(points); at.problem < points.problems(); at.next(points)) {
    const bool counts = at.point < points.n();
    Counting counting(kernel, at.problem, counts ? at.point : points.n() - 1);
    std::int64_t sum = 0, squares = 0;
    How::template count<team>(counting, lane);
    finish<team>(counting, lane, counts, sum, squares);
    add_up(kernel, at.problem, sum, squares);
  }
}

template <int team>
void launch_with(const KsgCounts& kernel, Queue& queue) {
  const KsgPoints& points = kernel.points;
  const unsigned blocks = blocks_of_walk<team>(points);
  const auto stream = stream_of(queue);
  const auto is = [&](int z, int y, int x) {
    return points.z == z && points.y == y && points.x == x;
  };
  if (points.z == 0) {
    count_points<Separate, team><<<blocks, walk_threads, 0, stream>>>(kernel);
  } else if (is(1, 1, 1)) {
    count_points<Conditional<1, 1, 1>, team><<<blocks, walk_threads, 0, stream>>>(kernel);
  } else if (is(2, 1, 1)) {
    count_points<Conditional<2, 1, 1>, team><<<blocks, walk_threads, 0, stream>>>(kernel);
  } else {
    count_points<Conditional<0, 0, 0>, team><<<blocks, walk_threads, 0, stream>>>(kernel);
  }
}

}  // namespace

template <>
void launch(const KsgCounts& kernel, Queue& queue) {
  const KsgPoints& points = kernel.points;
  if (points.n() == 0 || points.problems() == 0) return;
  if (points.dims() == 2) {
    launch_with<1>(kernel, queue);  // nothing but searches by halves
  } else {
    with_team(points, [&]<int team>() { launch_with<team>(kernel, queue); });
  }
  check_launch(KsgCounts::name);
}

}  // namespace kiln::cuda
