// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/gather_rows.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/kernel_case.hpp"
#include "bench/kernels/rows/row_numbers.hpp"

namespace kiln::cli {
namespace gather_rows_bench {

struct Arrays {
  Arrays(Queue& queue, std::int64_t rows, std::int64_t columns)
      : table(row_numbers<double>(queue, rows * columns)),
        result(queue, rows * columns),
        id(queue, ids(rows)) {}
  // Each row once, far from its neighbours.
  static std::vector<std::int64_t> ids(std::int64_t rows) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < rows; ++i) all.push_back(i * 104729 % rows);
    return all;
  }
  DeviceArray<double> table, result;
  DeviceArray<std::int64_t> id;
};

KernelCase case_of(const RowSize& size, std::int64_t columns) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t rows = size.bytes / 16 / columns;
    const auto data = std::make_shared<Arrays>(queue, rows, columns);
    GatherRows kernel;
    kernel.table =
        GatherRows::bytes_of_rows(View2<const double>{data->table.data(), rows, columns, columns});
    kernel.id = data->id.view();
    kernel.result =
        GatherRows::bytes_of_rows(View2<double>{data->result.data(), rows, columns, columns});
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  return {fmt::format("{} of rows of {} bytes", size.name, 8 * columns), prepare};
}

}  // namespace gather_rows_bench

template <>
std::vector<KernelCase> bench_cases<GatherRows>() {
  using namespace gather_rows_bench;
  std::vector<KernelCase> cases;
  for (const RowSize& size : row_sizes()) {
    cases.push_back(case_of(size, 64));
    cases.push_back(case_of(size, 8));
  }
  return cases;
}

}  // namespace kiln::cli
