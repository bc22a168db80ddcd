// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/elementwise.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/kernel_case.hpp"
#include "bench/kernels/rows/row_numbers.hpp"

namespace kiln::cli {
namespace elementwise_bench {

struct Arrays {
  Arrays(Queue& queue, std::int64_t n) : value(row_numbers<double>(queue, n)), result(queue, n) {}
  DeviceArray<double> value, result;
};

// x 0.5 + 1: what posterior means of a process go through.
KernelCase chain_of(const RowSize& size) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<Arrays>(queue, size.bytes / 16);
    Elementwise kernel(std::as_const(data->value).view(), data->result.view());
    kernel.multiply(0.5).add(1);
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  return {fmt::format("two stages, {}", size.name), prepare};
}

struct Narrow {
  Narrow(Queue& queue, std::int64_t n) : value(row_numbers<float>(queue, n)), result(queue, n) {}
  DeviceArray<float> value;
  DeviceArray<std::uint16_t> result;
};

KernelCase conversion_of(const RowSize& size, ElementType to, const char* name) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t n = size.bytes / 6;
    const auto data = std::make_shared<Narrow>(queue, n);
    const Elementwise kernel({data->value.data(), ElementType::float32, 1, n, n},
                             {data->result.data(), to, 1, n, n});
    return {{[data, kernel, &queue](std::uint32_t) { queue.launch(kernel); }}, kernel.bytes()};
  };
  return {fmt::format("floats to {}, {}", name, size.name), prepare};
}

}  // namespace elementwise_bench

template <>
std::vector<KernelCase> bench_cases<Elementwise>() {
  using namespace elementwise_bench;
  std::vector<KernelCase> cases;
  for (const RowSize& size : row_sizes()) {
    cases.push_back(chain_of(size));
    cases.push_back(conversion_of(size, ElementType::float16, "halves"));
    cases.push_back(conversion_of(size, ElementType::bfloat16, "bfloat16"));
  }
  return cases;
}

}  // namespace kiln::cli
