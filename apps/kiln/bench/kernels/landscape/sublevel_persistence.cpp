// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/sublevel_persistence.hpp"

#include <fmt/format.h>

#include "bench/kernel_case.hpp"
#include "bench/kernels/landscape/image_arrays.hpp"

namespace kiln::cli {
namespace sublevel_persistence_bench {

struct Arrays {
  Arrays(Queue& queue, std::int64_t count)
      : images(queue, count),
        basin(queue, count * images.pixels()),
        death(queue, count * images.pixels()),
        room(queue, SublevelPersistence::room_bytes(count, ImageArrays::grid())) {}
  ImageArrays images;
  DeviceArray<std::int32_t> basin, death;
  DeviceArray<std::byte> room;
};

KernelCase case_of(std::int64_t count) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<Arrays>(queue, count);
    Launches launches{[data, count, &queue](std::uint32_t) {
      const std::int64_t pixels = data->images.pixels();
      queue.launch(SublevelPersistence{data->images.value(),
                                       ImageArrays::grid(),
                                       {data->basin.data(), count, pixels, pixels},
                                       {data->death.data(), count, pixels, pixels},
                                       data->room.view()});
    }};
    launches.most = 50;
    return {launches, data->images.bytes() + 2 * static_cast<double>(data->basin.bytes())};
  };
  return {fmt::format("{} image{} of 256 x 256", count, count == 1 ? "" : "s"), prepare};
}

}  // namespace sublevel_persistence_bench

template <>
std::vector<KernelCase> bench_cases<SublevelPersistence>() {
  using namespace sublevel_persistence_bench;
  return {case_of(1), case_of(64)};
}

}  // namespace kiln::cli
