// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/space_filling_points.hpp"

#include <memory>
#include <string>

#include "kiln/models/sobol_directions.hpp"

#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace space_filling_points_bench {

constexpr std::int64_t dimension = 20;

struct PointArrays {
  PointArrays(Queue& queue, std::int64_t sets, std::int64_t points)
      : directions(queue, sobol_directions(static_cast<int>(dimension))),
        keys(queue, numbered(sets)),
        data(queue, sets * dimension * points) {}

  static std::vector<std::uint64_t> numbered(std::int64_t sets) {
    std::vector<std::uint64_t> all;
    for (std::int64_t set = 0; set < sets; ++set) all.push_back(static_cast<std::uint64_t>(set));
    return all;
  }

  DeviceArray<std::uint32_t> directions;
  DeviceArray<std::uint64_t> keys;
  DeviceArray<double> data;
};

KernelCase case_of(PointsKind kind, const std::string& name, std::int64_t sets,
                   std::int64_t points) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto arrays = std::make_shared<PointArrays>(queue, sets, points);
    const auto launch = [=, &queue](std::uint32_t) {
      SpaceFillingPoints kernel;
      kernel.kind = kind;
      kernel.dimension = dimension;
      kernel.points = points;
      kernel.directions = {arrays->directions.data(), dimension, 32, 32};
      kernel.keys = arrays->keys.view();
      kernel.data = arrays->data.data();
      kernel.stride = points;
      kernel.set_stride = dimension * points;
      queue.launch(kernel);
    };
    return {{launch}, static_cast<double>(arrays->data.bytes())};
  };
  return {name + ", " + std::to_string(sets) + (sets > 1 ? " sets of " : " set of ") +
              std::to_string(points) + " points in 20 dimensions",
          prepare};
}

}  // namespace space_filling_points_bench

template <>
std::vector<KernelCase> bench_cases<SpaceFillingPoints>() {
  using namespace space_filling_points_bench;
  return {case_of(PointsKind::sobol, "Sobol", 1, 5000),
          case_of(PointsKind::sobol, "Sobol", 64, 5000),
          case_of(PointsKind::latin_hypercube, "Latin hypercube", 64, 5000)};
}

}  // namespace kiln::cli
