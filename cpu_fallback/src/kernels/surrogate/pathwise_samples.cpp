// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/pathwise_samples.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kiln/errors.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// A task has some points for some paths, so that a correlation serves several paths and a feature
// many points.
constexpr std::int64_t tile = 256, paths_per_task = 8;
using Lane = std::array<double, tile>;

struct Part {
  std::int64_t item = 0, set = 0;
  std::int64_t path = 0, path_end = 0;
  std::int64_t begin = 0, end = 0;       // of the points
  std::int64_t there = 0;                // end of those that are there
  std::array<Lane, paths_per_task> sum;  // over features, then values

  std::int64_t size() const { return std::max<std::int64_t>(0, there - begin); }
};

// Turns of four features at the points of a part.
void add_turns(const PathwiseSamples& kernel, const Part& part, const PathFeatures& of,
               std::uint32_t group, std::array<Lane, 4>& turns) {
  for (Lane& lane : turns) lane.fill(0);
  const auto dimension = static_cast<std::uint32_t>(kernel.dimension);
  for (std::uint32_t k = 0; k < dimension; ++k) {
    const double unit = kernel.turns_per_unit(k, part.item);
    const PointSets& places = kernel.places();
    if (kernel.axes.is_categorical(k)) {
      for (std::int64_t i = 0; i < part.size(); ++i) {
        const Features4 z = kernel.category(of, group, k, places(part.set, k, part.begin + i));
        for (std::size_t f = 0; f < 4; ++f) {
          turns[f][static_cast<std::size_t>(i)] += z.value[f] * unit;
        }
      }
      continue;
    }
    const Features4 z = of.frequencies(group, k, dimension);
    const double* x = &places.data[part.set * places.set_stride + k * places.stride + part.begin];
    for (std::size_t f = 0; f < 4; ++f) {
      const double frequency = z.value[f] * unit;
      for (std::int64_t i = 0; i < part.size(); ++i) {
        turns[f][static_cast<std::size_t>(i)] += frequency * x[i];
      }
    }
  }
}

void add_features(const PathwiseSamples& kernel, const Part& part, const PathFeatures& of,
                  Lane& sum) {
  std::array<Lane, 4> turns;
  for (std::int64_t first = 0; first < kernel.features; first += 4) {
    add_turns(kernel, part, of, static_cast<std::uint32_t>(first / 4), turns);
    const std::int64_t count = std::min<std::int64_t>(4, kernel.features - first);
    for (std::int64_t f = 0; f < count; ++f) {
      const auto feature = static_cast<std::uint32_t>(first + f);
      const double scale = of.scale(feature), phase = of.phase(feature);
      const double weight = of.weight(feature);
      const Lane& mine = turns[static_cast<std::size_t>(f)];
      for (std::size_t i = 0; i < static_cast<std::size_t>(part.size()); ++i) {
        sum[i] += weight * math::cos_turns(mine[i] * scale + phase);
      }
    }
  }
}

template <CovarianceKind kind>
void correct(const PathwiseSamples& kernel, Part& part, double variance) {
  const double alpha = kernel.alpha_of(part.item);
  const auto size = static_cast<std::size_t>(part.size());
  std::array<Lane, paths_per_task> sum{};
  Lane square;
  for (std::int64_t j = 0; j < kernel.training.count(part.set); ++j) {
    square.fill(0);
    for (std::int64_t k = 0; k < kernel.dimension; ++k) {
      const double inverse = 1.0 / kernel.parameters.length_of(k, part.item);
      const double other = kernel.training(part.set, k, j);
      const bool category = kernel.axes.is_categorical(k);
      for (std::size_t i = 0; i < size; ++i) {
        const double x = kernel.points(part.set, k, part.begin + static_cast<std::int64_t>(i));
        const double t = (category ? kernel.axes.distance(k, x, other) : x - other) * inverse;
        square[i] += t * t;
      }
    }
    for (std::size_t i = 0; i < size; ++i) square[i] = correlation<kind>(square[i], alpha);
    for (std::int64_t path = part.path; path < part.path_end; ++path) {
      const double weight = kernel.weight[part.item](j, path);
      Lane& of_path = sum[static_cast<std::size_t>(path - part.path)];
      for (std::size_t i = 0; i < size; ++i) of_path[i] += weight * square[i];
    }
  }
  for (std::size_t p = 0; p < paths_per_task; ++p) {
    for (std::size_t i = 0; i < size; ++i) part.sum[p][i] += variance * sum[p][i];
  }
}

void fill(const PathwiseSamples& kernel, Part& part) {
  const double variance = kernel.variance_of(part.item);
  const double amplitude = kernel.amplitude(variance);
  for (std::int64_t path = part.path; path < part.path_end; ++path) {
    Lane& sum = part.sum[static_cast<std::size_t>(path - part.path)];
    sum.fill(0);
    add_features(kernel, part, kernel.features_of(part.item, path), sum);
    for (double& x : sum) x *= amplitude;
  }
  if (kernel.corrects()) {
    with_covariance(kernel.kind,
                    [&](auto tag) { correct<decltype(tag)::value>(kernel, part, variance); });
  }
  for (std::int64_t path = part.path; path < part.path_end; ++path) {
    const PathFeatures of = kernel.features_of(part.item, path);
    const Lane& sum = part.sum[static_cast<std::size_t>(path - part.path)];
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      if (i < part.there) {
        kernel.store(of, part.item, i, sum[static_cast<std::size_t>(i - part.begin)]);
      } else {
        kernel.store_missing(path, part.item, i);
      }
    }
  }
}

}  // namespace

template <>
void launch(const PathwiseSamples& kernel, Queue& queue) {
  if (!kernel.valid()) {
    throw InvalidArgument("kernel.pathwise_samples", PathwiseSamples::refusal);
  }
  if (!kernel.active()) return;
  const std::int64_t points = kernel.places().points;
  const std::int64_t tiles = (points + tile - 1) / tile;
  const std::int64_t groups = (kernel.paths + paths_per_task - 1) / paths_per_task;
  pool_of(queue).for_each(kernel.items() * groups * tiles, [&](std::int64_t task) {
    Part part;
    part.item = task / tiles / groups;
    part.set = part.item / kernel.items_per_set;
    part.path = task / tiles % groups * paths_per_task;
    part.path_end = std::min(kernel.paths, part.path + paths_per_task);
    part.begin = task % tiles * tile;
    part.end = std::min(points, part.begin + tile);
    part.there = std::min(part.end, kernel.places().count(part.set));
    fill(kernel, part);
  });
}

}  // namespace kiln::cpu
