// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_counts.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "kernels/information/ksg_jobs.hpp"
#include "kernels/isa.hpp"
#include "launch.hpp"

namespace kiln::cpu {
namespace {

// The counts of one problem. Searches count the point itself and those near in time: they are taken
// off again.
class Problem {
 public:
  Problem(const KsgCounts& kernel, std::int64_t number)
      : kernel_(kernel),
        points_(kernel.points),
        number_(number),
        search_(KILN_VARIANT_FOR_ISA(ksg_search)) {
    const std::int32_t dims = points_.dims();
    all_ = axes_of(points_, points_.rows, number, 0, dims);
    if (points_.theiler > 0) natural_ = axes_of(points_, kernel.natural, number, 0, dims);
    if (points_.z > 0) return;
    block_[0] = axes_of(points_, kernel.search, number, 0, points_.y);
    block_[1] = axes_of(points_, kernel.search, number, points_.y, dims);
  }

  void count(std::int64_t point, std::int32_t counts[3]) const {
    const double radius_y =
        kernel_.by_extents() ? kernel_.extent_y(number_, point) : kernel_.radius(number_, point);
    const double radius_x = kernel_.by_extents() ? kernel_.extent_x(number_, point) : radius_y;
    if (points_.z > 0) {
      KsgConditionJob job{all_, points_.z, points_.y, point, radius_y, {}};
      search_.condition(job);
      for (int i = 0; i < 3; ++i) counts[i] = static_cast<std::int32_t>(job.count[i]);
    } else {
      counts[0] = in_block(point, 0, radius_y);
      counts[1] = in_block(point, 1, radius_x);
    }
    take_off_near(point, radius_y, radius_x, counts);
  }

 private:
  std::int32_t in_block(std::int64_t point, int block, double radius) const {
    KsgBlockJob job;
    job.points = block_[block];
    for (int d = 0; d < job.points.dims; ++d) {
      job.at[d] = all_.axis[block == 0 ? d : points_.y + d][point];
    }
    job.radius = radius;
    job.inclusive = kernel_.by_extents();
    search_.block(job);
    return static_cast<std::int32_t>(job.count);
  }

  bool within(double distance, double radius) const {
    return kernel_.by_extents() ? distance <= radius : distance < radius;
  }

  void take_off(double in_z, double in_y, double in_x, double radius_y, double radius_x,
                std::int32_t counts[3]) const {
    const bool y = within(in_y, radius_y), x = within(in_x, radius_x);
    if (points_.z == 0) {
      counts[0] -= y ? 1 : 0;
      counts[1] -= x ? 1 : 0;
      return;
    }
    if (!within(in_z, radius_y)) return;
    counts[0] -= 1;
    counts[1] -= y ? 1 : 0;
    counts[2] -= x ? 1 : 0;
  }

  double distance(std::int64_t point, std::int64_t place, std::int32_t begin,
                  std::int32_t end) const {
    double most = 0;
    for (std::int32_t d = begin; d < end; ++d) {
      most = std::max(most, std::abs(natural_.axis[d][place] - all_.axis[d][point]));
    }
    return most;
  }

  void take_off_near(std::int64_t point, double radius_y, double radius_x,
                     std::int32_t counts[3]) const {
    if (points_.theiler == 0) return take_off(0, 0, 0, radius_y, radius_x, counts);
    const std::int32_t center = points_.orders(points_.order_of[number_], point);
    const std::int32_t time = points_.times[center], x_begin = points_.z + points_.y;
    const auto take_off_place = [&](std::int64_t place) {
      if (KsgPoints::apart(points_.times[place], time) > points_.theiler) return false;
      take_off(distance(point, place, 0, points_.z), distance(point, place, points_.z, x_begin),
               distance(point, place, x_begin, points_.dims()), radius_y, radius_x, counts);
      return true;
    };
    for (std::int64_t p = center; p >= 0 && take_off_place(p); --p) {
    }
    for (std::int64_t p = center + 1; p < points_.n() && take_off_place(p); ++p) {
    }
  }

  const KsgCounts& kernel_;
  const KsgPoints& points_;
  const std::int64_t number_;
  const KsgSearch& search_;
  KsgAxes all_, natural_, block_[2];
};

}  // namespace

template <>
void launch(const KsgCounts& kernel, Queue& queue) {
  const std::int64_t n = kernel.points.n(), parts = parts_of(n);
  pool_of(queue).for_each(kernel.points.problems() * parts, [&](std::int64_t task) {
    const std::int64_t number = task / parts, begin = task % parts * points_per_part;
    const Problem problem(kernel, number);
    std::int64_t sum = 0, squares = 0;
    for (std::int64_t point = begin; point < std::min(n, begin + points_per_part); ++point) {
      std::int32_t counts[3] = {};
      problem.count(point, counts);
      const std::int64_t value = kernel.value(counts);
      sum += value;
      squares += KsgCounts::square(value);
      for (std::int32_t b = 0; kernel.counts.rows > 0 && b < kernel.blocks(); ++b) {
        kernel.counts(number * kernel.blocks() + b, point) = counts[b];
      }
    }
    std::atomic_ref(kernel.sums(number, 0)).fetch_add(sum, std::memory_order_relaxed);
    std::atomic_ref(kernel.sums(number, 1)).fetch_add(squares, std::memory_order_relaxed);
  });
}

}  // namespace kiln::cpu
