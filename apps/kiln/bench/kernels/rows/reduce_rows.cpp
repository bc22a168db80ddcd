// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/reduce_rows.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/kernel_case.hpp"
#include "bench/kernels/rows/row_numbers.hpp"

namespace kiln::cli {
namespace reduce_rows_bench {

struct Shape {
  const char* name;
  RowReduction reduction = RowReduction::sum;
  std::int64_t columns = 0;  // 0: one row
};

struct Arrays {
  Arrays(Queue& queue, std::int64_t rows, std::int64_t columns, std::int64_t width)
      : value(row_numbers<double>(queue, rows * columns)),
        result(queue, rows * width),
        room(queue, ReduceRows::room_bytes(rows, columns)) {}
  DeviceArray<double> value, result;
  DeviceArray<std::byte> room;
};

KernelCase case_of(const Shape& shape, const RowSize& size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const bool rewrites = shape.reduction == RowReduction::softmax;
    const std::int64_t values = size.bytes / (rewrites ? 16 : 8);
    const std::int64_t columns = shape.columns > 0 ? shape.columns : values;
    const std::int64_t rows = values / columns;
    const std::int64_t width = rewrites                                   ? columns
                               : shape.reduction == RowReduction::moments ? 2
                                                                          : 1;
    const auto data = std::make_shared<Arrays>(queue, rows, columns, width);
    ReduceRows kernel;
    kernel.reduction = shape.reduction;
    kernel.value = View2<const double>{data->value.data(), rows, columns, columns};
    kernel.result = {data->result.data(), rows, width, width};
    kernel.room = data->room.view();
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  const std::string rows = shape.columns > 0 ? fmt::format("rows of {}", shape.columns) : "one row";
  return {fmt::format("{}, {} of {}", shape.name, size.name, rows), prepare};
}

}  // namespace reduce_rows_bench

template <>
std::vector<KernelCase> bench_cases<ReduceRows>() {
  using namespace reduce_rows_bench;
  std::vector<KernelCase> cases;
  for (const RowSize& size : row_sizes()) {
    for (const Shape& shape :
         {Shape{"sum"}, Shape{"sum", RowReduction::sum, 1024}, Shape{"norm", RowReduction::norm},
          Shape{"moments", RowReduction::moments, 4096},
          Shape{"softmax", RowReduction::softmax, 4096}}) {
      cases.push_back(case_of(shape, size));
    }
  }
  return cases;
}

}  // namespace kiln::cli
