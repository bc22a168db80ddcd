// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/standardize.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/kernel_case.hpp"
#include "bench/kernels/rows/row_numbers.hpp"

namespace kiln::cli {
namespace standardize_bench {

struct Arrays {
  Arrays(Queue& queue, std::int64_t rows, std::int64_t columns)
      : value(row_numbers<double>(queue, rows * columns)),
        result(queue, rows * columns),
        statistics(queue, 3 * rows),
        room(queue, Standardize::room_bytes(rows, columns)) {}
  DeviceArray<double> value, result, statistics;
  DeviceArray<std::byte> room;
};

KernelCase case_of(const RowSize& size, std::int64_t columns) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t rows = size.bytes / 16 / columns;
    const auto data = std::make_shared<Arrays>(queue, rows, columns);
    Standardize kernel;
    kernel.value = View2<const double>{data->value.data(), rows, columns, columns};
    kernel.result = {data->result.data(), rows, columns, columns};
    kernel.statistics = {data->statistics.data(), rows, 3, 3};
    kernel.room = data->room.view();
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  return {fmt::format("{} of rows of {}", size.name, columns), prepare};
}

}  // namespace standardize_bench

template <>
std::vector<KernelCase> bench_cases<Standardize>() {
  using namespace standardize_bench;
  std::vector<KernelCase> cases;
  for (const RowSize& size : row_sizes()) cases.push_back(case_of(size, 4096));
  cases.push_back(case_of(row_sizes()[1], 1 << 20));
  return cases;
}

}  // namespace kiln::cli
