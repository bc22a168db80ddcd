// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include <string>

#include "bench/kernel_case.hpp"
#include "bench/points_fixture.hpp"

namespace kiln::cli {
namespace nondominated_ranks_bench {

struct RankArrays {
  RankArrays(Queue& queue, std::int64_t groups, std::int64_t size, std::int64_t objectives)
      : points(queue, groups, size, objectives),
        rank(queue, groups * size),
        fronts(queue, groups),
        unranked(queue, groups),
        scratch(queue,
                NondominatedRanks::scratch_bytes(points.groups, points.count(), objectives)) {}
  PointArrays points;
  DeviceArray<std::int32_t> rank, fronts, unranked;
  DeviceArray<std::byte> scratch;
};

KernelCase case_of(std::int64_t groups, std::int64_t size, std::int64_t objectives,
                   std::optional<double> gate_us) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<RankArrays>(queue, groups, size, objectives);
    Launches launches{[data, &queue](std::uint32_t) {
      queue.launch(NondominatedRanks{data->points.points(), data->rank.view(), data->fronts.view(),
                                     data->unranked.view(), data->scratch.view()});
    }};
    launches.most = 50;
    return {launches, data->points.bytes() + static_cast<double>(data->rank.bytes())};
  };
  const std::string of = std::to_string(size) + " points, " + std::to_string(objectives);
  return {(groups > 1 ? std::to_string(groups) + " groups of " : "") + of + " objectives", prepare,
          gate_us};
}

}  // namespace nondominated_ranks_bench

template <>
std::vector<KernelCase> bench_cases<NondominatedRanks>() {
  using namespace nondominated_ranks_bench;
  return {case_of(1, 10000, 5, 1000.0), case_of(1, 100000, 3, 8000.0),
          case_of(1, 100000, 2, 4000.0), case_of(1000, 200, 3, std::nullopt)};
}

}  // namespace kiln::cli
