// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/advance_tick.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace advance_tick_bench {

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto control =
      std::make_shared<DeviceArray<RunControl>>(queue, std::vector<RunControl>{{}});
  const auto launch = [control, &queue](std::uint32_t) {
    queue.launch(AdvanceTick{control->data(), 16});
  };
  return {{launch}, 2 * sizeof(RunControl)};
}

}  // namespace advance_tick_bench

template <>
std::vector<KernelCase> bench_cases<AdvanceTick>() {
  using namespace advance_tick_bench;
  return {{"1 run", prepare}};
}

}  // namespace kiln::cli
