// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/hypervolume.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "kiln/errors.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// The points of a group that count, in order of their first coordinate.
struct GroupPoints {
  GroupPoints(const Hypervolume& kernel, std::int64_t group) {
    for (std::int64_t p = kernel.groups.begin(group); p < kernel.groups.end(group); ++p) {
      if (kernel.counts(p)) column.push_back(p);
    }
    std::stable_sort(column.begin(), column.end(), [&](std::int64_t a, std::int64_t b) {
      return kernel.value(0, a) < kernel.value(0, b);
    });
    for (std::int64_t k = 0; k < Hypervolume::max_exact; ++k) {
      const bool there = k < kernel.value.rows;
      for (const std::int64_t p : column) coordinate[k].push_back(there ? kernel.value(k, p) : 0);
      view.reference[k] = there ? kernel.reference[k] : 1;
    }
    view.x = coordinate[0].data();
    view.y = coordinate[1].data();
    view.z = coordinate[2].data();
    view.w = coordinate[3].data();
    view.size = static_cast<std::int64_t>(column.size());
  }
  std::vector<std::int64_t> column;
  std::vector<double> coordinate[Hypervolume::max_exact];
  SortedPoints view;
};

// Two coordinates, with the contributions if they are wanted.
double area_of(const Hypervolume& kernel, const GroupPoints& points) {
  const SortedPoints& all = points.view;
  double area = 0, least = all.reference[1];
  for (std::int64_t i = 0; i < all.size; ++i) {
    if (kernel.contribution) {
      kernel.contribution[points.column[static_cast<std::size_t>(i)]] =
          all.exclusive_area(i, least, [](std::int64_t) { return true; });
    }
    if (!(all.y[i] < least)) continue;
    area += (all.reference[0] - all.x[i]) * (least - all.y[i]);
    least = all.y[i];
  }
  return area;
}

// Three coordinates: a sweep in z over the staircase of the points so far, y by x. What a point
// adds in the plane, it adds for all of the way from its z to the reference.
double sweep_volume(const SortedPoints& all) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(all.size));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return all.z[a] < all.z[b]; });
  std::map<double, double> staircase;
  double volume = 0;
  for (const std::int64_t i : order) {
    const double x = all.x[i], y = all.y[i];
    auto next = staircase.upper_bound(x);
    double least = next == staircase.begin() ? all.reference[1] : std::prev(next)->second;
    if (least <= y) continue;
    double area = 0, from = x;
    while (next != staircase.end() && next->second >= y) {
      area += (next->first - from) * (least - y);
      from = next->first;
      least = next->second;
      next = staircase.erase(next);
    }
    area += ((next == staircase.end() ? all.reference[0] : next->first) - from) * (least - y);
    staircase[x] = y;
    volume += area * (all.reference[2] - all.z[i]);
  }
  return volume;
}

void measure_exactly(const Hypervolume& kernel, Queue& queue, std::int64_t group) {
  const GroupPoints points(kernel, group);
  const std::int64_t begin = kernel.groups.begin(group);
  if (kernel.contribution) {
    std::fill_n(kernel.contribution.data + begin, kernel.groups.count(group), 0.0);
  }
  const SortedPoints& all = points.view;
  if (kernel.value.rows <= 2) {
    kernel.volume[group] = area_of(kernel, points);
    return;
  }
  if (kernel.value.rows == 4) {
    std::vector<double> terms(points.column.size());
    pool_of(queue).for_each(
        all.size, [&](std::int64_t i) { terms[static_cast<std::size_t>(i)] = all.term4(i); });
    double sum = 0;
    for (const double term : terms) sum += term;
    kernel.volume[group] = sum;
    return;
  }
  kernel.volume[group] = sweep_volume(all);
  if (!kernel.contribution) return;
  pool_of(queue).for_each(all.size, [&](std::int64_t i) {
    kernel.contribution[points.column[static_cast<std::size_t>(i)]] = all.contribution3(i);
  });
}

std::uint64_t hits_of(const Hypervolume& kernel, std::int64_t group,
                      const std::vector<std::int64_t>& columns, const std::vector<double>& least,
                      int shift) {
  const std::size_t width = least.size();
  const double base = VolumeSamples::base(kernel.value.rows);
  std::vector<std::uint64_t> unit(width), step(width);
  std::vector<double> sample(width);
  for (std::size_t k = 0; k < width; ++k) {
    const auto objective = static_cast<std::int64_t>(k);
    step[k] = VolumeSamples::step(base, objective);
    unit[k] = VolumeSamples::shift(kernel.key, group, shift, objective);
  }
  std::uint64_t hits = 0;
  for (std::uint64_t s = 0; s < kernel.samples_per_shift(); ++s) {
    for (std::size_t k = 0; k < width; ++k) {
      sample[k] =
          VolumeSamples::place(unit[k], least[k], kernel.reference[static_cast<std::int64_t>(k)]);
      unit[k] += step[k];
    }
    hits += std::any_of(columns.begin(), columns.end(), [&](std::int64_t column) {
      for (std::size_t k = 0; k < width; ++k) {
        if (!(kernel.value(static_cast<std::int64_t>(k), column) <= sample[k])) return false;
      }
      return true;
    });
  }
  return hits;
}

void sample(const Hypervolume& kernel, Queue& queue, std::int64_t group) {
  std::vector<std::int64_t> columns;
  for (std::int64_t p = kernel.groups.begin(group); p < kernel.groups.end(group); ++p) {
    if (kernel.counts(p)) columns.push_back(p);
  }
  std::vector<double> least;
  double box = columns.empty() ? 0.0 : 1.0;
  for (std::int64_t k = 0; k < kernel.value.rows; ++k) {
    double smallest = kernel.reference[k];
    for (const std::int64_t p : columns) smallest = std::min(smallest, kernel.value(k, p));
    least.push_back(smallest);
    box = exact::mul(box, exact::sub(kernel.reference[k], smallest));
  }
  std::uint64_t hits[VolumeSamples::shifts] = {};
  pool_of(queue).for_each(VolumeSamples::shifts, [&](std::int64_t s) {
    hits[s] = hits_of(kernel, group, columns, least, static_cast<int>(s));
  });
  const VolumeSamples::Estimate found =
      VolumeSamples::conclude(hits, kernel.samples_per_shift(), box);
  kernel.volume[group] = found.volume;
  if (kernel.half_width) kernel.half_width[group] = found.half_width;
}

}  // namespace

template <>
void launch(const Hypervolume& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.hypervolume", Hypervolume::refusal);
  if (!kernel.active()) return;
  for (std::int64_t group = 0; group < kernel.groups.groups; ++group) {
    if (!kernel.exact_volume()) {
      sample(kernel, queue, group);
      continue;
    }
    measure_exactly(kernel, queue, group);
    if (kernel.half_width) kernel.half_width[group] = 0;
  }
}

}  // namespace kiln::cpu
