// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/errors.hpp"
#include "kiln/kernels/surrogate/pathwise_samples.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int threads = 128;

// --- Paths of the prior: a block has a path and a tile of points --------------------------------

// A thread has eight features of its points in registers at a time.
constexpr int together = 8, max_width = 32, capacity = 2048;

// Features of a path, made by the block that needs them: as many of them, or as many dimensions of
// eight, as there is room for.
struct FeatureTile {
  double frequency[capacity];  // [dimensions][width]
  double scale[max_width], phase[max_width], weight[max_width];
};
struct TileShape {
  int width, depth;
  __device__ explicit TileShape(std::int64_t dimension) {
    constexpr int deepest = capacity / together;
    depth = dimension < deepest ? static_cast<int>(dimension) : deepest;
    width = capacity / depth / together * together;
    if (width > max_width) width = max_width;
  }
};

__device__ void make_scalars(const PathwiseSamples& kernel, const PathFeatures& of,
                             std::int64_t first, int width, FeatureTile& tile) {
  // By the last warp: the first ones have more frequencies to make.
  const int f = static_cast<int>(threadIdx.x) - (threads - max_width);
  if (f < 0 || f >= width) return;
  const auto feature = static_cast<std::uint32_t>(first + f);
  const bool there = first + f < kernel.features;  // the last tile may have room for more
  tile.scale[f] = there ? of.scale(feature) : 0.0;
  tile.phase[f] = there ? of.phase(feature) : 0.0;
  tile.weight[f] = there ? of.weight(feature) : 0.0;
}

__device__ void make_frequencies(const PathwiseSamples& kernel, const PathFeatures& of,
                                 std::int64_t item, std::int64_t first, std::int64_t k0,
                                 int dimensions, int width, FeatureTile& tile) {
  for (int i = static_cast<int>(threadIdx.x); i < dimensions * width / 4; i += threads) {
    const std::int64_t k = k0 + i / (width / 4);
    if (kernel.axes.is_categorical(k)) continue;
    const auto group = static_cast<std::uint32_t>(first / 4 + i % (width / 4));
    const Features4 z = of.frequencies(group, static_cast<std::uint32_t>(k),
                                       static_cast<std::uint32_t>(kernel.dimension));
    const double unit = kernel.turns_per_unit(k, item);
#pragma unroll
    for (int f = 0; f < 4; ++f) tile.frequency[4 * i + f] = exact::mul(z[f], unit);
  }
}

// The points of a thread.
template <int each>
struct Places {
  std::int64_t item, set, point[each];
  bool there[each];
};

template <int each>
using Turns = double[together][each];

// Not inlined: it is rare, and the registers of the loop around it are needed for turns.
__device__ __noinline__ Features4 category_of(const PathwiseSamples& kernel, const PathFeatures& of,
                                              std::int64_t group, std::int64_t k, double x) {
  return kernel.category(of, static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(k), x);
}

template <int each>
__device__ void add_category(const PathwiseSamples& kernel, const PathFeatures& of,
                             const Places<each>& at, std::int64_t k, std::int64_t first,
                             const double (&x)[each], Turns<each>& turns) {
  const double unit = kernel.turns_per_unit(k, at.item);
#pragma unroll
  for (int c = 0; c < each; ++c) {
#pragma unroll
    for (int half = 0; half < together / 4; ++half) {
      const Features4 z = category_of(kernel, of, first / 4 + half, k, x[c]);
#pragma unroll
      for (int f = 0; f < 4; ++f) {
        double& t = turns[4 * half + f][c];
        t = exact::add(t, exact::mul(z[f], unit));
      }
    }
  }
}

// Adds what dimensions k0, ... contribute to the turns of features first, ...; these are exact, so
// that a frequency far out makes no difference between backends.
template <int each>
__device__ void add_turns(const PathwiseSamples& kernel, const PathFeatures& of,
                          const Places<each>& at, std::int64_t first, std::int64_t k0,
                          int dimensions, const double* frequency, int width, Turns<each>& turns) {
  const PointSets& places = kernel.places();
#pragma unroll 2
  for (int k = 0; k < dimensions; ++k) {
    double x[each];
#pragma unroll
    for (int c = 0; c < each; ++c) {
      x[c] = at.there[c] ? places(at.set, k0 + k, at.point[c]) : 0.0;
    }
    if (kernel.axes.is_categorical(k0 + k)) {
      add_category<each>(kernel, of, at, k0 + k, first, x, turns);
      continue;
    }
#pragma unroll
    for (int f = 0; f < together; ++f) {
      const double z = frequency[k * width + f];
#pragma unroll
      for (int c = 0; c < each; ++c) turns[f][c] = exact::add(turns[f][c], exact::mul(z, x[c]));
    }
  }
}

template <int each>
__device__ void add_cosines(const FeatureTile& tile, int first, const Turns<each>& turns,
                            double (&sum)[each]) {
#pragma unroll
  for (int f = 0; f < together; ++f) {
    const double scale = tile.scale[first + f], phase = tile.phase[first + f];
    const double weight = tile.weight[first + f];
#pragma unroll
    for (int c = 0; c < each; ++c) {
      const double t = exact::add(exact::mul(turns[f][c], scale), phase);
      sum[c] += weight * math::cos_turns(t);
    }
  }
}

template <int each>
__device__ void add_features(const PathwiseSamples& kernel, const PathFeatures& of,
                             const Places<each>& at, FeatureTile& tile, double (&sum)[each]) {
  const TileShape shape(kernel.dimension);
  for (std::int64_t first = 0; first < kernel.features; first += shape.width) {
    Turns<each> turns;
    for (std::int64_t k0 = 0; k0 < kernel.dimension; k0 += shape.depth) {
      const std::int64_t left = kernel.dimension - k0;
      const int dimensions = left < shape.depth ? static_cast<int>(left) : shape.depth;
      __syncthreads();  // the features before these are used
      if (k0 == 0) make_scalars(kernel, of, first, shape.width, tile);
      make_frequencies(kernel, of, at.item, first, k0, dimensions, shape.width, tile);
      __syncthreads();
      // Where there are several parts of the dimensions the width is `together`: turns stay.
      for (int f = 0; f < shape.width; f += together) {
        if (k0 == 0) {
#pragma unroll
          for (int i = 0; i < together * each; ++i) turns[i / each][i % each] = 0;
        }
        add_turns<each>(kernel, of, at, first + f, k0, dimensions, tile.frequency + f, shape.width,
                        turns);
        if (k0 + dimensions == kernel.dimension) add_cosines<each>(tile, f, turns, sum);
      }
    }
  }
}

template <int each>
__global__ void __launch_bounds__(threads, 4)
    draw_prior(const __grid_constant__ PathwiseSamples kernel, std::int64_t tiles) {
  __shared__ FeatureTile tile;
  if (!kernel.active()) return;
  const std::int64_t points = kernel.places().points;
  const std::int64_t total = kernel.items() * kernel.paths * tiles;
  for (std::int64_t index = blockIdx.x; index < total; index += gridDim.x) {
    Places<each> at;
    at.item = index / tiles / kernel.paths;
    at.set = at.item / kernel.items_per_set;
    const PathFeatures of = kernel.features_of(at.item, index / tiles % kernel.paths);
    const std::int64_t count = kernel.places().count(at.set);
    double sum[each];
#pragma unroll
    for (int c = 0; c < each; ++c) {
      at.point[c] = (index % tiles * each + c) * threads + threadIdx.x;
      at.there[c] = at.point[c] < points && at.point[c] < count;
      sum[c] = 0;
    }
    add_features<each>(kernel, of, at, tile, sum);
    const double amplitude = kernel.amplitude(kernel.variance_of(at.item));
#pragma unroll
    for (int c = 0; c < each; ++c) {
      if (at.there[c]) {
        kernel.store(of, at.item, at.point[c], amplitude * sum[c]);
      } else if (at.point[c] < points) {
        kernel.store_missing(of.path, at.item, at.point[c]);
      }
    }
  }
}

// --- The correction: a block has a tile of points and some paths, which share correlations -------

constexpr int near = 16, depth = 32, paths_each = 8;
static_assert(near * paths_each == threads, "a thread loads a weight");

struct TrainingTile {
  double x[depth][near], inverse[depth], weight[near][paths_each];
  bool category[depth];
};

struct CorrectionPlace {
  std::int64_t item, set, path, point;
  bool there;
};

__device__ void load(const PathwiseSamples& kernel, const CorrectionPlace& at, std::int64_t first,
                     std::int64_t k0, int dimensions, TrainingTile& tile) {
  const std::int64_t count = kernel.training.count(at.set);
  const int mine = static_cast<int>(threadIdx.x);
  for (int i = mine; i < dimensions * near; i += threads) {
    const std::int64_t j = first + i % near;
    tile.x[i / near][i % near] = j < count ? kernel.training(at.set, k0 + i / near, j) : 0.0;
  }
  if (mine < dimensions) {
    tile.inverse[mine] = 1.0 / kernel.parameters.length_of(k0 + mine, at.item);
    tile.category[mine] = kernel.axes.is_categorical(k0 + mine);
  }
  if (k0 > 0) return;
  const std::int64_t j = first + mine / paths_each, path = at.path + mine % paths_each;
  tile.weight[mine / paths_each][mine % paths_each] =
      j < count && path < kernel.paths ? kernel.weight[at.item](j, path) : 0.0;
}

__device__ void add_squares(const PathwiseSamples& kernel, const CorrectionPlace& at,
                            std::int64_t k0, int dimensions, const TrainingTile& tile,
                            double (&square)[near]) {
  for (int k = 0; k < dimensions; ++k) {
    const double x = at.there ? kernel.points(at.set, k0 + k, at.point) : 0.0;
    const double inverse = tile.inverse[k];
    const bool category = tile.category[k];
#pragma unroll
    for (int j = 0; j < near; ++j) {
      const double other = tile.x[k][j];
      const double t = (category ? kernel.axes.distance(k0 + k, x, other) : x - other) * inverse;
      square[j] += t * t;
    }
  }
}

template <CovarianceKind kind>
__device__ void add_training(const PathwiseSamples& kernel, const CorrectionPlace& at,
                             TrainingTile& tile, double (&sum)[paths_each]) {
  const double alpha = kernel.alpha_of(at.item);
  const std::int64_t count = kernel.training.count(at.set);
  for (std::int64_t first = 0; first < count; first += near) {
    double square[near] = {};
    for (std::int64_t k0 = 0; k0 < kernel.dimension; k0 += depth) {
      const std::int64_t left = kernel.dimension - k0;
      const int dimensions = left < depth ? static_cast<int>(left) : depth;
      __syncthreads();  // the points before these are used
      load(kernel, at, first, k0, dimensions, tile);
      __syncthreads();
      add_squares(kernel, at, k0, dimensions, tile, square);
    }
#pragma unroll
    for (int j = 0; j < near; ++j) {
      if (first + j >= count) break;
      const double c = correlation<kind>(square[j], alpha);
#pragma unroll
      for (int p = 0; p < paths_each; ++p) sum[p] += c * tile.weight[j][p];
    }
  }
}

template <CovarianceKind kind>
__global__ void __launch_bounds__(threads) correct(const __grid_constant__ PathwiseSamples kernel,
                                                   std::int64_t tiles, std::int64_t groups) {
  __shared__ TrainingTile tile;
  if (!kernel.active()) return;
  const std::int64_t total = kernel.items() * groups * tiles;
  for (std::int64_t index = blockIdx.x; index < total; index += gridDim.x) {
    CorrectionPlace at;
    at.item = index / tiles / groups;
    at.set = at.item / kernel.items_per_set;
    at.path = index / tiles % groups * paths_each;
    at.point = index % tiles * threads + threadIdx.x;
    at.there = at.point < kernel.points.points && at.point < kernel.points.count(at.set);
    double sum[paths_each] = {};
    add_training<kind>(kernel, at, tile, sum);
    if (!at.there) continue;
    const double variance = kernel.variance_of(at.item);
#pragma unroll
    for (int p = 0; p < paths_each; ++p) {
      if (at.path + p < kernel.paths) {
        kernel.value[at.item](at.path + p, at.point) += variance * sum[p];
      }
    }
  }
}

constexpr std::int64_t max_blocks = 1 << 20;

unsigned grid_for(std::int64_t blocks) {
  return static_cast<unsigned>(std::min(blocks, max_blocks));
}

void launch_prior(const PathwiseSamples& kernel, Queue& queue) {
  constexpr int many = 4;
  constexpr std::int64_t enough_blocks = 264;  // two for each multiprocessor
  const std::int64_t each_path = kernel.items() * kernel.paths;
  const std::int64_t points = kernel.places().points;
  const std::int64_t wide = (points + many * threads - 1) / (many * threads);
  const std::int64_t narrow = (points + threads - 1) / threads;
  if (points > threads && each_path * wide >= enough_blocks) {
    draw_prior<many><<<grid_for(each_path * wide), threads, 0, stream_of(queue)>>>(kernel, wide);
  } else {
    draw_prior<1><<<grid_for(each_path * narrow), threads, 0, stream_of(queue)>>>(kernel, narrow);
  }
  check_launch(PathwiseSamples::name);
}

}  // namespace

template <>
void launch(const PathwiseSamples& kernel, Queue& queue) {
  if (!kernel.valid()) {
    throw InvalidArgument("kernel.pathwise_samples", PathwiseSamples::refusal);
  }
  if (kernel.items() <= 0 || kernel.paths <= 0 || kernel.places().points <= 0) return;
  launch_prior(kernel, queue);
  if (!kernel.corrects()) return;
  const std::int64_t tiles = (kernel.points.points + threads - 1) / threads;
  const std::int64_t groups = (kernel.paths + paths_each - 1) / paths_each;
  with_covariance(kernel.kind, [&](auto tag) {
    correct<decltype(tag)::value>
        <<<grid_for(kernel.items() * groups * tiles), threads, 0, stream_of(queue)>>>(kernel, tiles,
                                                                                      groups);
  });
  check_launch(PathwiseSamples::name);
}

}  // namespace kiln::cuda
