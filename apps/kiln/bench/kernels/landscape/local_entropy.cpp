// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/local_entropy.hpp"

#include <fmt/format.h>

#include "bench/kernel_case.hpp"
#include "bench/kernels/landscape/image_arrays.hpp"

namespace kiln::cli {
namespace local_entropy_bench {

struct Arrays {
  Arrays(Queue& queue, std::int32_t window)
      : images(queue, 1),
        table(queue, LocalEntropy::table(window)),
        entropy(queue, images.pixels()) {}
  ImageArrays images;
  DeviceArray<std::int64_t> table;
  DeviceArray<double> entropy;
};

KernelCase case_of(std::int32_t window) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<Arrays>(queue, window);
    Launches launches{[data, window, &queue](std::uint32_t) {
      const std::int64_t pixels = data->images.pixels();
      queue.launch(LocalEntropy{data->images.value(),
                                ImageArrays::grid(),
                                window,
                                0,
                                80,
                                data->table.view(),
                                {data->entropy.data(), 1, pixels, pixels}});
    }};
    launches.most = 50;
    return {launches, data->images.bytes() + static_cast<double>(data->entropy.bytes())};
  };
  return {fmt::format("256 x 256, window {0} x {0}", window), prepare};
}

}  // namespace local_entropy_bench

template <>
std::vector<KernelCase> bench_cases<LocalEntropy>() {
  using namespace local_entropy_bench;
  return {case_of(9), case_of(31)};
}

}  // namespace kiln::cli
