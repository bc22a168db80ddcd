// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/pareto_dominance.hpp"

#include <string>

#include "bench/kernel_case.hpp"
#include "bench/points_fixture.hpp"

namespace kiln::cli {
namespace pareto_dominance_bench {

struct DominanceArrays {
  DominanceArrays(Queue& queue, std::int64_t n, std::int64_t objectives, bool with_matrix)
      : points(queue, 1, n, objectives),
        matrix(queue, with_matrix ? n * n : 0),
        bits(queue, n * ParetoDominance::words_of(n)),
        dominates(queue, n),
        dominated_by(queue, n) {}
  double bytes() const {
    return points.bytes() + static_cast<double>(matrix.bytes() + bits.bytes() + dominates.bytes() +
                                                dominated_by.bytes());
  }
  PointArrays points;
  DeviceArray<std::int8_t> matrix;
  DeviceArray<std::uint32_t> bits;
  DeviceArray<std::int32_t> dominates, dominated_by;
};

KernelCase case_of(std::int64_t n, std::int64_t objectives, bool with_matrix,
                   std::optional<double> gate_us) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<DominanceArrays>(queue, n, objectives, with_matrix);
    const auto launch = [data, n, &queue](std::uint32_t) {
      ParetoDominance kernel;
      kernel.points = data->points.points();
      const std::int64_t words = ParetoDominance::words_of(n);
      kernel.matrix = {data->matrix.data(), n, n, n};
      kernel.bits = {data->bits.data(), n, words, words};
      kernel.dominates = data->dominates.view();
      kernel.dominated_by = data->dominated_by.view();
      queue.launch(kernel);
    };
    return {{launch}, data->bytes()};
  };
  return {std::string(with_matrix ? "matrix, bits and counts of " : "bits and counts of ") +
              std::to_string(n) + " points, " + std::to_string(objectives) + " objectives",
          prepare, gate_us};
}

}  // namespace pareto_dominance_bench

template <>
std::vector<KernelCase> bench_cases<ParetoDominance>() {
  using namespace pareto_dominance_bench;
  return {case_of(1000, 10, true, 20.0), case_of(16384, 3, false, std::nullopt)};
}

}  // namespace kiln::cli
