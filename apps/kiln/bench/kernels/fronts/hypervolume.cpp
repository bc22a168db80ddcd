// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/hypervolume.hpp"

#include <string>

#include "bench/kernel_case.hpp"
#include "bench/points_fixture.hpp"

namespace kiln::cli {
namespace hypervolume_bench {

struct VolumeArrays {
  VolumeArrays(Queue& queue, std::int64_t size, std::int64_t objectives, bool contributions)
      : points(queue, 1, size, objectives, PointCloud::sphere),
        reference(queue, std::vector<double>(static_cast<std::size_t>(objectives), 1.1)),
        volume(queue, 1),
        half_width(queue, 1),
        contribution(queue, contributions ? size : 0),
        scratch(queue, Hypervolume::scratch_bytes(points.groups, size, objectives)) {}
  PointArrays points;
  DeviceArray<double> reference, volume, half_width, contribution;
  DeviceArray<std::byte> scratch;
};

KernelCase case_of(std::int64_t size, std::int64_t objectives, bool contributions,
                   std::optional<double> gate_us) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<VolumeArrays>(queue, size, objectives, contributions);
    // On a sphere in ten dimensions this makes half of the interval less than 0.1 %.
    const std::uint64_t samples = context.cuda() ? 1 << 22 : 1 << 16;
    Launches launches{[data, samples, &queue](std::uint32_t) {
      queue.launch(Hypervolume{data->points.values(), data->points.groups, data->reference.view(),
                               data->volume.view(), data->half_width.view(),
                               data->contribution.view(), data->scratch.view(), samples, 1});
    }};
    launches.most = 50;
    return {launches, data->points.bytes() + static_cast<double>(data->contribution.bytes())};
  };
  return {std::to_string(size) + " points, " + std::to_string(objectives) + " objectives" +
              (contributions ? ", with contributions" : ""),
          prepare, gate_us};
}

}  // namespace hypervolume_bench

template <>
std::vector<KernelCase> bench_cases<Hypervolume>() {
  using namespace hypervolume_bench;
  return {case_of(10000, 3, false, 2000.0), case_of(100, 10, false, 10000.0),
          case_of(100000, 2, true, std::nullopt), case_of(2000, 3, true, std::nullopt),
          case_of(1000, 4, false, std::nullopt)};
}

}  // namespace kiln::cli
