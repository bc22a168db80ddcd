// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_flush.hpp"

#include <algorithm>
#include <vector>

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace ladder_flush_bench {

// Each launch of a batch has another state, which says that the record is full.
struct Data {
  explicit Data(Queue& queue)
      : ladders(queue, 1056, 32),
        record(queue, 1056, 32),
        full(queue, full_state()),
        states(queue, full.size() * most) {
    fill(queue);
  }

  void fill(Queue& queue) {
    for (std::int64_t i = 0; i < most; ++i) {
      queue.copy(states.data() + i * full.size(), full.data(), full.bytes());
    }
  }
  LadderFlush kernel(std::int64_t index) {
    LadderFlush flush{{ladders.energy.view(), ladders.best_energy.view(), ladders.beta.view(),
                       ladders.slot_of.view(), ladders.best_rung.view(), ladders.sums.view(),
                       ladders.ladders, ladders.control.data()},
                      record.view()};
    flush.statistics.cells = ladders.cells.view();
    flush.record.state = {states.data() + index * full.size(), full.size()};
    return flush;
  }
  double bytes() const {
    return 8.0 * static_cast<double>(record.calls * ladders.ladders * ladders.rungs);
  }

  static constexpr std::int64_t most = 32;
  LadderArrays ladders;
  RecordArrays record;
  DeviceArray<std::uint32_t> full, states;

 private:
  std::vector<std::uint32_t> full_state() const {
    std::vector<std::uint32_t> state(
        static_cast<std::size_t>(LadderRecord::state_size(ladders.rungs)), 0);
    state[LadderRecord::waiting_at] = static_cast<std::uint32_t>(record.calls);
    const auto referenced = state.end() - static_cast<std::ptrdiff_t>(ladders.rungs);
    std::fill(referenced, state.end(), 1);
    return state;
  }
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue);
  const Launches launches{
      [data, &queue](std::uint32_t index) { queue.launch(data->kernel(index)); },
      [data, &queue] { data->fill(queue); }, Data::most};
  return {launches, data->bytes()};
}

}  // namespace ladder_flush_bench

template <>
std::vector<KernelCase> bench_cases<LadderFlush>() {
  using namespace ladder_flush_bench;
  return {{"8 calls of 1056 ladders of 32 rungs", prepare}};
}

}  // namespace kiln::cli
