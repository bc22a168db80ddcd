// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/delay_embedding.hpp"

#include <memory>
#include <numeric>

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace delay_embedding_bench {

constexpr std::int64_t n = 100000, longest = 7, series = 8, axes = 64;

// Each series at each lag, in an order that jumps, without surrogates.
struct EmbeddingArrays {
  explicit EmbeddingArrays(Queue& queue)
      : values(queue, filled(series * (n + longest), 0.5)),
        times(queue, numbers_from(longest)),
        order(queue, PoolArrays::numbers(n, n)),
        embedding(queue, all_lags()),
        out(queue, axes * n) {}
  static std::vector<std::int32_t> numbers_from(std::int64_t first) {
    std::vector<std::int32_t> all(n);
    std::iota(all.begin(), all.end(), static_cast<std::int32_t>(first));
    return all;
  }
  static std::vector<EmbeddedAxis> all_lags() {
    std::vector<EmbeddedAxis> all;
    for (std::int32_t a = 0; a < axes; ++a) all.push_back({a % 8, a / 8, 0, -1});
    return all;
  }
  DeviceArray<double> values;
  DeviceArray<std::int32_t> times, order;
  DeviceArray<EmbeddedAxis> embedding;
  DeviceArray<double> out;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<EmbeddingArrays>(queue);
  const auto launch = [data, &queue](std::uint32_t) {
    DelayEmbedding kernel;
    kernel.series = table_of(data->values, series);
    kernel.times = data->times.view();
    kernel.embedding = data->embedding.view();
    kernel.orders = table_of(data->order, 1);
    kernel.axes = matrix_of(data->out, axes);
    queue.launch(kernel);
  };
  return {{launch},
          static_cast<double>(data->values.bytes() + data->times.bytes() + data->order.bytes() +
                              data->out.bytes())};
}

}  // namespace delay_embedding_bench

template <>
std::vector<KernelCase> bench_cases<DelayEmbedding>() {
  return {{"64 axes of 100000 points", delay_embedding_bench::prepare}};
}

}  // namespace kiln::cli
