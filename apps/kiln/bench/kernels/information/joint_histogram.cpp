// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/joint_histogram.hpp"

#include <memory>

#include "kiln/device/rng_domains.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace joint_histogram_bench {

constexpr std::int64_t n = 10000, columns = 64;
constexpr std::int32_t codes = 16;

// Each column with each.
struct HistogramArrays {
  explicit HistogramArrays(Queue& queue)
      : coded(queue, random_codes()),
        pairs(queue, all_pairs()),
        counts(queue, columns * columns * codes * codes) {}
  static std::vector<std::uint8_t> random_codes() {
    std::vector<std::uint8_t> all;
    for (std::uint32_t i = 0; i < columns * n; ++i) {
      const std::uint32_t word = draw_word({1, 0, 0, RngDomain::initial_state, 0}, i);
      all.push_back(static_cast<std::uint8_t>(below(word, codes)));
    }
    return all;
  }
  static std::vector<JointHistogram::Pair> all_pairs() {
    std::vector<JointHistogram::Pair> all;
    for (std::int32_t y = 0; y < columns; ++y) {
      for (std::int32_t x = 0; x < columns; ++x) all.push_back({y, x, -1});
    }
    return all;
  }
  DeviceArray<std::uint8_t> coded;
  DeviceArray<JointHistogram::Pair> pairs;
  DeviceArray<std::int32_t> counts;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<HistogramArrays>(queue);
  Launches launches{[data, &queue](std::uint32_t) {
    JointHistogram kernel;
    kernel.codes = table_of(data->coded, columns);
    kernel.pairs = data->pairs.view();
    kernel.y_codes = kernel.x_codes = codes;
    kernel.counts = matrix_of(data->counts, columns * columns);
    queue.launch(kernel);
  }};
  launches.most = 50;
  return {launches, static_cast<double>(data->coded.bytes() + data->counts.bytes())};
}

}  // namespace joint_histogram_bench

template <>
std::vector<KernelCase> bench_cases<JointHistogram>() {
  return {{"64 x 64 pairs of 10000 codes below 16", joint_histogram_bench::prepare}};
}

}  // namespace kiln::cli
