// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/convert_layout.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace convert_layout_bench {

constexpr std::int64_t slots = 4096;

PreparedKernel prepare(BenchContext& context, const Block& block, Layout from, Layout to) {
  struct Data {
    BlockBatch from, to;
  };
  Queue& queue = context.queue();
  const std::shared_ptr<Data> data(
      new Data{{queue, block, from, slots}, {queue, block, to, slots}});
  // Both begin with the same states: what is converted would be there already.
  queue.zero(data->to.block().data, static_cast<std::size_t>(data->to.bytes()));
  const auto launch = [data, &queue](std::uint32_t) {
    queue.launch(ConvertLayout{data->from.block(), data->to.block()});
  };
  return {{launch}, data->from.bytes() + data->to.bytes()};
}

}  // namespace convert_layout_bench

template <>
std::vector<KernelCase> bench_cases<ConvertLayout>() {
  using namespace convert_layout_bench;
  const Block spins{BlockKind::spin, 2000, -1, 1};
  const Block reals{BlockKind::real, 1000, -5, 5};
  return {{"4096 replicas of 1000 reals, f64 to f32",
           [=](BenchContext& c) { return prepare(c, reals, Layout::f64, Layout::f32); }},
          {"4096 replicas of 2000 spins, packed32 to i8",
           [=](BenchContext& c) { return prepare(c, spins, Layout::packed32, Layout::i8); }},
          {"4096 replicas of 2000 spins, i8 to packed32",
           [=](BenchContext& c) { return prepare(c, spins, Layout::i8, Layout::packed32); }}};
}

}  // namespace kiln::cli
