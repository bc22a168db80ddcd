// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by one translation unit per instruction set; everything is in an unnamed namespace, see
// SliceJob.
#include <cstdint>
#include <initializer_list>

#include "kernels/information/ksg_search.hpp"

namespace kiln::cpu {
namespace {

// Candidates that are looked at together.
constexpr int wide = 16;

inline double magnitude(double x) { return x < 0 ? -x : x; }

// The distances of `count` points from `first` on to a place, over the coordinates begin .. end
// - 1.
inline void distances(const KsgAxes& points, int begin, int end, const double* at,
                      std::int64_t first, int count, double* distance) {
  for (int w = 0; w < count; ++w) distance[w] = 0;
  for (int d = begin; d < end; ++d) {
    const double* const axis = points.axis[d] + first;
    const double place = at[d];
    for (int w = 0; w < count; ++w) {
      const double apart = magnitude(axis[w] - place);
      distance[w] = distance[w] < apart ? apart : distance[w];
    }
  }
}

// Calls look(first, count) with the points on one side of `point` in steps of at most `wide`, as
// long as the first coordinate of the nearest is at most, or nearer than, reach(). Sides: -1, 1.
struct Side {
  const KsgAxes& points;
  double at;
  std::int64_t next;  // the nearest that was not looked at
  int direction;

  template <bool inclusive>
  bool within(double reach) const {
    if (next < 0 || next >= points.n) return false;
    const double apart = magnitude(points.axis[0][next] - at);
    return inclusive ? apart <= reach : apart < reach;
  }
  // The points of the next step: the first of them and their number.
  std::int64_t take(int& count) {
    const std::int64_t left = direction > 0 ? points.n - next : next + 1;
    count = left < wide ? static_cast<int>(left) : wide;
    const std::int64_t first = direction > 0 ? next : next - count + 1;
    next += direction * count;
    return first;
  }
};

// The k least distances, in ascending order.
struct Nearest {
  double distance[16];
  int k;
  explicit Nearest(int k_) : k(k_) {
    for (int i = 0; i < k; ++i) distance[i] = __builtin_inf();
  }
  double worst() const { return distance[k - 1]; }
  void insert(double value) {
    int i = k - 1;
    for (; i > 0 && distance[i - 1] > value; --i) distance[i] = distance[i - 1];
    distance[i] = value;
  }
};

inline bool is_near_in_time(const KsgNeighborsJob& job, std::int64_t a, std::int64_t b) {
  if (job.theiler == 0) return false;
  const std::int32_t s = job.time[job.place[a]], t = job.time[job.place[b]];
  return (s < t ? t - s : s - t) <= job.theiler;
}

inline void look(const KsgNeighborsJob& job, std::int64_t point, const double* at, Side& side,
                 Nearest& nearest) {
  double distance[wide];
  int count = 0;
  const std::int64_t first = side.take(count);
  if (count == wide) {
    distances(job.points, 0, job.points.dims, at, first, wide, distance);
  } else {
    distances(job.points, 0, job.points.dims, at, first, count, distance);
  }
  const double worst = nearest.worst();
  int any = 0;
  for (int w = 0; w < count; ++w) any |= distance[w] < worst ? 1 : 0;
  if (any == 0) return;
  for (int w = 0; w < count; ++w) {
    if (distance[w] < nearest.worst() && !is_near_in_time(job, first + w, point)) {
      nearest.insert(distance[w]);
    }
  }
}

inline void widen(const KsgNeighborsJob& job, std::int64_t point, const double* at, double radius,
                  Side& side, double& extent_y, double& extent_x) {
  double all[wide], in_y[wide], in_x[wide];
  const int x_begin = job.z + job.y;
  while (side.within<true>(radius)) {
    int count = 0;
    const std::int64_t first = side.take(count);
    distances(job.points, 0, job.points.dims, at, first, count, all);
    distances(job.points, job.z, x_begin, at, first, count, in_y);
    distances(job.points, x_begin, job.points.dims, at, first, count, in_x);
    for (int w = 0; w < count; ++w) {
      if (all[w] > radius || is_near_in_time(job, first + w, point)) continue;
      extent_y = in_y[w] > extent_y ? in_y[w] : extent_y;
      extent_x = in_x[w] > extent_x ? in_x[w] : extent_x;
    }
  }
}

inline void neighbors(const KsgNeighborsJob& job) {
  double at[16];
  for (std::int64_t point = job.begin; point < job.end; ++point) {
    for (int d = 0; d < job.points.dims; ++d) at[d] = job.points.axis[d][point];
    Nearest nearest(job.k);
    Side left{job.points, at[0], point - 1, -1}, right{job.points, at[0], point + 1, 1};
    bool more = true;
    while (more) {
      more = false;
      for (Side* side : {&left, &right}) {
        if (!side->within<false>(nearest.worst())) continue;
        look(job, point, at, *side, nearest);
        more = true;
      }
    }
    const double radius = nearest.worst();
    job.radius[point] = radius;
    if (job.extent_y == nullptr) continue;
    double extent_y = 0, extent_x = 0;
    left.next = point - 1;
    right.next = point + 1;
    widen(job, point, at, radius, left, extent_y, extent_x);
    widen(job, point, at, radius, right, extent_y, extent_x);
    job.extent_y[point] = extent_y;
    job.extent_x[point] = extent_x;
  }
}

inline void condition(KsgConditionJob& job) {
  double at[16], in_z[wide], in_y[wide], in_x[wide];
  const KsgAxes& points = job.points;
  for (int d = 0; d < points.dims; ++d) at[d] = points.axis[d][job.point];
  const int x_begin = job.z + job.y;
  std::int64_t n_z = 0, n_yz = 0, n_xz = 0;
  for (const int direction : {-1, 1}) {
    Side side{points, at[0], direction > 0 ? job.point : job.point - 1, direction};
    while (side.within<false>(job.radius)) {
      int count = 0;
      const std::int64_t first = side.take(count);
      distances(points, 0, job.z, at, first, count, in_z);
      distances(points, job.z, x_begin, at, first, count, in_y);
      distances(points, x_begin, points.dims, at, first, count, in_x);
      for (int w = 0; w < count; ++w) {
        const std::int64_t z = in_z[w] < job.radius ? 1 : 0;
        const std::int64_t y = in_y[w] < job.radius ? 1 : 0;
        const std::int64_t x = in_x[w] < job.radius ? 1 : 0;
        n_z += z;
        n_yz += z & y;
        n_xz += z & x;
      }
    }
  }
  job.count[0] = n_z;
  job.count[1] = n_yz;
  job.count[2] = n_xz;
}

// The first point from `low` on for which `is_beyond` holds; it holds for all that follow.
template <class IsBeyond>
inline std::int64_t first_beyond(std::int64_t low, std::int64_t high, IsBeyond&& is_beyond) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (is_beyond(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

inline void block(KsgBlockJob& job) {
  const KsgAxes& points = job.points;
  const double* const first = points.axis[0];
  const double at = job.at[0], radius = job.radius;
  const auto within = [&](double apart) {
    return job.inclusive ? apart <= radius : apart < radius;
  };
  const std::int64_t begin = first_beyond(
      0, points.n, [&](std::int64_t j) { return first[j] > at || within(at - first[j]); });
  const std::int64_t end = first_beyond(
      begin, points.n, [&](std::int64_t j) { return first[j] > at && !within(first[j] - at); });
  job.count = end - begin;
  if (points.dims == 1) return;
  job.count = 0;
  double distance[wide];
  for (std::int64_t j = begin; j < end; j += wide) {
    const int count = end - j < wide ? static_cast<int>(end - j) : wide;
    distances(points, 1, points.dims, job.at, j, count, distance);
    for (int w = 0; w < count; ++w) job.count += within(distance[w]) ? 1 : 0;
  }
}

}  // namespace
}  // namespace kiln::cpu
