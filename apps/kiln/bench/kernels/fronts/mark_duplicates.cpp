// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/mark_duplicates.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace mark_duplicates_bench {

struct DuplicateArrays {
  DuplicateArrays(Queue& queue, std::int64_t groups, std::int64_t size)
      : pool(queue, groups, size, 2),
        scratch(queue, MarkDuplicates::scratch_bytes(pool.groups())) {}
  PoolArrays pool;
  DeviceArray<std::byte> scratch;
};

// No two points are equal, so that every launch has all of them.
KernelCase case_of(std::int64_t groups, std::int64_t size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<DuplicateArrays>(queue, groups, size);
    Launches launches{[data, &queue](std::uint32_t) {
      queue.launch(
          MarkDuplicates{data->pool.points.points(), data->pool.rank.view(), data->scratch.view()});
    }};
    launches.most = 50;
    return {launches, data->pool.points.bytes() + static_cast<double>(data->pool.rank.bytes())};
  };
  return {shape_of_pools(groups, size) + " points, 2 objectives", prepare};
}

}  // namespace mark_duplicates_bench

template <>
std::vector<KernelCase> bench_cases<MarkDuplicates>() {
  using namespace mark_duplicates_bench;
  return {case_of(1, 200000), case_of(64, 200)};
}

}  // namespace kiln::cli
