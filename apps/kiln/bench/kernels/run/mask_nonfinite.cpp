// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/mask_nonfinite.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace admit_energies_bench {

struct Data {
  Data(Queue& queue, std::int64_t candidates, std::int64_t slots)
      : energy(queue, candidates * slots),
        not_finite(queue, slots),
        control(queue, std::vector<RunControl>{{}}) {
    energy.zero();
    not_finite.zero();
  }
  DeviceArray<double> energy;
  DeviceArray<std::uint64_t> not_finite;
  DeviceArray<RunControl> control;
};

PreparedKernel prepare(BenchContext& context) {
  constexpr std::int64_t slots = 32768, candidates = 8;
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, candidates, slots);
  const auto launch = [data, &queue](std::uint32_t) {
    queue.launch(MaskNonfinite{{data->energy.data(), candidates, slots, slots},
                               data->not_finite.view(),
                               data->control.data()});
  };
  return {{launch}, 8.0 * static_cast<double>(candidates * slots)};
}

}  // namespace admit_energies_bench

template <>
std::vector<KernelCase> bench_cases<MaskNonfinite>() {
  using namespace admit_energies_bench;
  return {{"8 candidates of 32768 replicas", prepare}};
}

}  // namespace kiln::cli
