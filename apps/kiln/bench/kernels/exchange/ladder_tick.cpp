// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_tick.hpp"

#include <algorithm>

#include "bench/ladder_fixture.hpp"

namespace kiln::cli {
namespace ladder_tick_bench {

struct Case {
  std::string instance;
  std::int64_t rungs = 32, blocks = 0;  // of 32 ladders; 0: as many as the batch has
  std::uint32_t ticks = 1;              // of a launch
};

// Blocks of 32 ladders on the batch of an instance.
struct Data {
  Data(BenchContext& context, const Case& of)
      : states(context, of.instance),
        rungs(std::min<std::int64_t>(of.rungs, states.batch().slots() / 32)),
        blocks(
            std::min(of.blocks > 0 ? of.blocks : INT64_MAX, states.batch().slots() / 32 / rungs)),
        ladders(context.queue(), 32 * blocks, rungs),
        record(context.queue(), 32 * blocks, rungs),
        swapping(context.queue(), blocks * rungs),
        readers(context.queue(), blocks),
        key(context.queue(), std::vector<std::uint64_t>(slots(), 1)),
        replica(context.queue(), replicas()),
        rung_of(context.queue(), numbers()),
        plan(context.queue(), std::vector<LadderPlan>{{1, std::int64_t{1} << 50}}),
        barrier(context.queue(), rungs),
        slope(context.queue(), rungs),
        fresh(context.queue(), rungs) {
    swapping.zero();
    readers.zero();
  }

  std::size_t slots() const { return static_cast<std::size_t>(32 * blocks * rungs); }
  std::vector<std::uint32_t> replicas() const {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < slots(); ++i) {
      all.push_back(static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(32 * rungs));
    }
    return all;
  }
  std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> all;
    for (std::size_t i = 0; i < slots(); ++i) all.push_back(static_cast<std::int32_t>(i / 32));
    return all;
  }

  ObjectiveBatch states;
  std::int64_t rungs, blocks;
  LadderArrays ladders;
  RecordArrays record;
  DeviceArray<std::uint32_t> swapping, readers;
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
  DeviceArray<std::int32_t> rung_of;
  DeviceArray<LadderPlan> plan;
  DeviceArray<double> barrier, slope, fresh;
};

StateBlock in_blocks(StateBlock block, const Data& data) {
  block.slots = static_cast<std::int64_t>(data.slots());
  return block;
}

LadderPhase phase_of(Data& data) {
  LadderArrays& all = data.ladders;
  ReplicaBatch& batch = data.states.batch();
  LadderPhase phase;
  phase.statistics.energy = batch.energy();
  phase.statistics.best_energy = batch.best_energy();
  phase.statistics.beta = all.beta.view();
  phase.statistics.sums = all.sums.view();
  phase.statistics.ladders = all.ladders;
  phase.statistics.control = data.states.control();
  phase.statistics.cells = all.cells.view();
  phase.statistics.in_blocks = true;
  phase.swap.energy = batch.energy();
  phase.swap.beta = all.beta.view();
  phase.swap.ladders = all.states.view();
  phase.swap.last_end = all.last_end.view();
  phase.swap.round_trips = all.round_trips.view();
  phase.swap.counts = all.counts();
  phase.swap.draw_ids = {data.key.view(), data.replica.view()};
  phase.swap.control = data.states.control();
  phase.swap.rungs = data.rungs;
  phase.swap.blocks = {batch.energy(), data.swapping.view(), {}};
  phase.update = {data.plan.view(),  all.beta.view(),       all.sums.view(),
                  all.counts(),      data.barrier.view(),   data.slope.view(),
                  data.fresh.view(), data.states.control(), 1,
                  all.cells.view()};
  phase.record = data.record.view();
  return phase;
}

LadderTick tick_of(Data& data) {
  ReplicaBatch& batch = data.states.batch();
  const StateBlock state = in_blocks(batch.state(0), data);
  LadderTick tick{};
  tick.sweep.model = data.states.objective().as<PairwiseModelled>()->pairwise_model();
  tick.sweep.state = state.packed();
  tick.sweep.energy = batch.energy();
  tick.sweep.accepted = batch.accepted();
  tick.sweep.beta = data.ladders.beta.view();
  tick.sweep.rung_of = data.rung_of.view();
  tick.sweep.draw_ids = {data.key.view(), data.replica.view()};
  tick.sweep.inverse_scale = data.states.inverse_scale();
  tick.sweep.control = data.states.control();
  tick.sweep.naming = DrawNaming::planes;
  tick.sweep.energies_hold = true;
  tick.phase = phase_of(data);
  tick.words.state = state.packed();
  tick.words.swapping = data.swapping.view();
  tick.words.rungs = data.rungs;
  tick.words.control = data.states.control();
  tick.end.best.state[0] = state;
  tick.end.best.best[0] = in_blocks(batch.best_state(0), data);
  tick.end.best.n_blocks = 1;
  tick.end.best.replicas = state.slots;
  tick.end.best.energy = batch.energy();
  tick.end.best.best_energy = batch.best_energy();
  tick.end.best.best_step = batch.best_step();
  tick.end.best.improved = batch.improved();
  tick.end.best.control = data.states.control();
  tick.end.advance = {data.states.control(), 1};
  tick.readers = data.readers.view();
  return tick;
}

PreparedKernel prepare(BenchContext& context, const Case& of) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(context, of);
  const auto launch = [data, &queue, ticks = of.ticks](std::uint32_t) {
    LadderTick tick = tick_of(*data);
    tick.ticks = ticks;
    queue.launch(tick);
  };
  const auto slots = static_cast<double>(data->slots());
  const double share = slots / static_cast<double>(data->states.batch().slots());
  return {{launch},
          2 * share * data->states.state_bytes(),
          of.ticks * share * data->states.attempts(),
          static_cast<std::int64_t>(data->slots())};
}

}  // namespace ladder_tick_bench

template <>
std::vector<KernelCase> bench_cases<LadderTick>() {
  using ladder_tick_bench::Case;
  std::vector<KernelCase> all;
  const auto add = [&](const std::string& name, const Case& one) {
    all.push_back(
        {name, [one](BenchContext& context) { return ladder_tick_bench::prepare(context, one); }});
  };
  for (const char* instance : {"gset:G1", "gset:G22", "torus:50x40,1"}) {
    add(std::string("32 rungs, ") + instance, {instance});
  }
  for (const std::int64_t rungs : {4, 8, 16}) {
    for (const std::int64_t blocks : {1, 8}) {
      const std::string name = std::to_string(32 * blocks) + " ladders of " +
                               std::to_string(rungs) + " rungs, torus:10x20,1";
      add(name, {"torus:10x20,1", rungs, blocks});
      add(name + ", 64 ticks", {"torus:10x20,1", rungs, blocks, 64});
    }
  }
  return all;
}

}  // namespace kiln::cli
