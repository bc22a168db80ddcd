// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/top_k.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/kernel_case.hpp"
#include "bench/kernels/rows/row_numbers.hpp"

namespace kiln::cli {
namespace top_k_bench {

struct Arrays {
  Arrays(Queue& queue, std::int64_t rows, std::int64_t columns, std::int64_t k)
      : value(row_numbers<double>(queue, rows * columns)),
        largest(queue, rows * k),
        column(queue, rows * k),
        room(queue, TopK::room_bytes(rows, columns, k)) {}
  DeviceArray<double> value, largest;
  DeviceArray<std::int64_t> column;
  DeviceArray<std::byte> room;
};

// @param columns  of a row; 0: one row
KernelCase case_of(const RowSize& size, std::int64_t columns_of_row, std::int64_t k) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t columns = columns_of_row > 0 ? columns_of_row : size.bytes / 8;
    const std::int64_t rows = size.bytes / 8 / columns;
    const auto data = std::make_shared<Arrays>(queue, rows, columns, k);
    TopK kernel;
    kernel.value = View2<const double>{data->value.data(), rows, columns, columns};
    kernel.largest = {data->largest.data(), rows, k, k};
    kernel.column = {data->column.data(), rows, k, k};
    kernel.room = data->room.view();
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  const std::string rows =
      columns_of_row > 0 ? fmt::format("rows of {}", columns_of_row) : "one row";
  return {fmt::format("{} of {}, k = {}", size.name, rows, k), prepare};
}

}  // namespace top_k_bench

template <>
std::vector<KernelCase> bench_cases<TopK>() {
  using namespace top_k_bench;
  std::vector<KernelCase> cases;
  for (const RowSize& size : row_sizes()) {
    cases.push_back(case_of(size, 4096, 128));
    cases.push_back(case_of(size, 0, 128));
  }
  return cases;
}

}  // namespace kiln::cli
