// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/surrogates.hpp"

#include <memory>

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace surrogates_bench {

constexpr std::int64_t surrogates = 200, n = 10000;

struct SurrogateArrays {
  explicit SurrogateArrays(Queue& queue)
      : places(queue, surrogates * n), room(queue, SortedOrders::room_bytes(surrogates * n)) {}
  DeviceArray<std::int32_t> places;
  DeviceArray<std::uint8_t> room;
};

KernelCase case_of(SurrogateKind kind, const char* name) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<SurrogateArrays>(queue);
    Launches launches{[=, &queue](std::uint32_t index) {
      Surrogates kernel;
      kernel.places = matrix_of(data->places, surrogates);
      kernel.first = index * surrogates;
      kernel.closest = n / 10;
      kernel.kind = kind;
      kernel.room = data->room.view();
      queue.launch(kernel);
    }};
    launches.most = 50;
    return {launches, static_cast<double>(data->places.bytes())};
  };
  return {std::string("200 ") + name + " of 10000 values", prepare};
}

}  // namespace surrogates_bench

template <>
std::vector<KernelCase> bench_cases<Surrogates>() {
  using namespace surrogates_bench;
  return {case_of(SurrogateKind::permutation, "permutations"),
          case_of(SurrogateKind::rotation, "rotations")};
}

}  // namespace kiln::cli
