// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/axpby.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/kernel_case.hpp"
#include "bench/kernels/rows/row_numbers.hpp"

namespace kiln::cli {
namespace axpby_bench {

template <class T>
struct Arrays {
  Arrays(Queue& queue, std::int64_t rows, std::int64_t columns, std::int64_t of_x)
      : a(row_numbers<T>(queue, rows * columns)),
        x(row_numbers<double>(queue, of_x)),
        y(row_numbers<double>(queue, rows)),
        room(queue, Axpby::room_bytes(rows, columns)) {}
  DeviceArray<T> a;
  DeviceArray<double> x, y;
  DeviceArray<std::byte> room;
};

// With a square matrix, nearly.
template <class T>
KernelCase case_of(const char* type, const RowSize& size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    std::int64_t columns = 256;
    while (columns * columns * static_cast<std::int64_t>(sizeof(T)) < size.bytes) columns *= 2;
    const std::int64_t rows = size.bytes / static_cast<std::int64_t>(sizeof(T)) / columns;
    const auto data = std::make_shared<Arrays<T>>(queue, rows, columns, columns);
    Axpby kernel;
    kernel.a = View2<const T>{data->a.data(), rows, columns, columns};
    kernel.x = data->x.view();
    kernel.y = data->y.view();
    kernel.room = data->room.view();
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  return {fmt::format("matrix of {}, {}", type, size.name), prepare};
}

KernelCase columns_of(const RowSize& size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t n = size.bytes / 24;
    const auto data = std::make_shared<Arrays<double>>(queue, n, 0, n);
    Axpby kernel;
    kernel.x = data->x.view();
    kernel.y = data->y.view();
    kernel.alpha = kernel.beta = 0.5;
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  return {fmt::format("two columns, {}", size.name), prepare};
}

}  // namespace axpby_bench

template <>
std::vector<KernelCase> bench_cases<Axpby>() {
  using namespace axpby_bench;
  std::vector<KernelCase> cases;
  for (const RowSize& size : row_sizes()) {
    cases.push_back(case_of<double>("doubles", size));
    cases.push_back(case_of<float>("floats", size));
    cases.push_back(columns_of(size));
  }
  return cases;
}

}  // namespace kiln::cli
