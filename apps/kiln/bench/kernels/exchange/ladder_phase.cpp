// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_phase.hpp"

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace ladder_phase_bench {

struct Data {
  explicit Data(Queue& queue)
      : ladders(queue, 1056, 32),
        plan(queue, std::vector<LadderPlan>{{1, std::int64_t{1} << 50}}),
        barrier(queue, 32),
        slope(queue, 32),
        fresh(queue, 32),
        record(queue, 1056, 32) {}
  LadderArrays ladders;
  DeviceArray<LadderPlan> plan;
  DeviceArray<double> barrier, slope, fresh;
  RecordArrays record;
};

LadderPhase phase_of(Data& data) {
  LadderArrays& all = data.ladders;
  LadderPhase phase;
  phase.statistics = {all.energy.view(),  all.best_energy.view(), all.beta.view(),
                      all.slot_of.view(), all.best_rung.view(),   all.sums.view(),
                      all.ladders,        all.control.data()};
  phase.statistics.cells = all.cells.view();
  phase.swap = {all.energy.view(),
                all.beta.view(),
                all.rung_of.view(),
                all.slot_of.view(),
                all.states.view(),
                all.last_end.view(),
                all.round_trips.view(),
                all.counts(),
                {all.key.view(), all.replica.view()},
                all.control.data(),
                all.rungs,
                PairMode::even_odd,
                {}};
  phase.update = {data.plan.view(),  all.beta.view(),     all.sums.view(),
                  all.counts(),      data.barrier.view(), data.slope.view(),
                  data.fresh.view(), all.control.data(),  1,
                  all.cells.view()};
  phase.record = data.record.view();
  return phase;
}

// No round ends while it is measured: what nearly every tick pays.
PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue);
  const auto launch = [data, &queue](std::uint32_t) { queue.launch(phase_of(*data)); };
  return {{launch}, 68.0 * static_cast<double>(data->ladders.ladders * data->ladders.rungs)};
}

}  // namespace ladder_phase_bench

template <>
std::vector<KernelCase> bench_cases<LadderPhase>() {
  using namespace ladder_phase_bench;
  return {{"1056 ladders of 32 rungs", prepare}};
}

}  // namespace kiln::cli
