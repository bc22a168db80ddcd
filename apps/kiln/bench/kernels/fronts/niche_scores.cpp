// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/niche_scores.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace niche_scores_bench {

struct NicheArrays {
  NicheArrays(Queue& queue, std::int64_t groups, std::int64_t size, std::int64_t n_lines)
      : pool(queue, groups, size, 2),
        lines(n_lines),
        rank(queue, halves(groups * size)),
        line(queue, PoolArrays::numbers(groups * size, lines)),
        taken(queue, groups * lines),
        left(queue, groups * lines) {}
  // A quarter of the points is on the first front, the others on the second.
  static std::vector<std::int32_t> halves(std::int64_t count) {
    std::vector<std::int32_t> all = PoolArrays::numbers(count, 4);
    for (std::int32_t& rank : all) rank = rank > 0 ? 1 : 0;
    return all;
  }
  PoolArrays pool;
  std::int64_t lines;
  DeviceArray<std::int32_t> rank, line, taken, left;
};

KernelCase case_of(std::int64_t groups, std::int64_t size, std::int64_t lines) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<NicheArrays>(queue, groups, size, lines);
    const auto launch = [data, size, &queue](std::uint32_t index) {
      NicheScores kernel;
      kernel.groups = data->pool.groups();
      kernel.keep = size / 2;
      kernel.rank = data->rank.view();
      kernel.line = data->line.view();
      kernel.distance = data->pool.violation.view();
      kernel.lines = data->lines;
      kernel.score = data->pool.score.view();
      kernel.taken = data->taken.view();
      kernel.left = data->left.view();
      kernel.key = data->pool.key.view();
      kernel.group_slots = size;
      kernel.control = data->pool.control.data();
      kernel.step_offset = index;
      queue.launch(kernel);
    };
    return {{launch},
            static_cast<double>(data->rank.bytes() + data->line.bytes() +
                                data->pool.violation.bytes() + data->pool.score.bytes())};
  };
  return {shape_of_pools(groups, size) + " points, " + std::to_string(lines) + " reference lines",
          prepare};
}

}  // namespace niche_scores_bench

template <>
std::vector<KernelCase> bench_cases<NicheScores>() {
  using namespace niche_scores_bench;
  return {case_of(64, 184, 91), case_of(1, 1000, 300)};
}

}  // namespace kiln::cli
