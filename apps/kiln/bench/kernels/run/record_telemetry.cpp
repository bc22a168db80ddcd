// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/record_telemetry.hpp"

#include "kiln/kernels/run/advance_tick.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace record_telemetry_bench {

struct Data {
  Data(Queue& queue, std::int64_t groups, std::int64_t size)
      : energy(queue, groups * size),
        best(queue, groups * size),
        step(queue, groups * size),
        accepted(queue, groups * size),
        not_finite(queue, groups * size),
        rung(queue, groups * size),
        replica(queue, groups * size),
        beta(queue, std::vector<double>{1.0}),
        control(queue, std::vector<RunControl>{{}}),
        state(queue, 1),
        sums(queue, groups),
        parts(queue, groups * RecordTelemetry::nodes_of(size)),
        mailbox(queue, 1) {
    energy.zero();
    best.zero();
    step.zero();
    accepted.zero();
    not_finite.zero();
    rung.zero();
    replica.zero();
    state.zero();
    sums.zero();
  }
  DeviceArray<double> energy, best;
  DeviceArray<std::uint64_t> step, accepted, not_finite;
  DeviceArray<std::int32_t> rung, replica;
  DeviceArray<double> beta;
  DeviceArray<RunControl> control;
  DeviceArray<TelemetryState> state;
  DeviceArray<TelemetrySums> sums;
  DeviceArray<TelemetryPart> parts;
  SharedArray<TelemetryMailbox> mailbox;
};

// Launches of the same epoch do nothing, so the tick is turned from one to the next.
PreparedKernel prepare(BenchContext& context, std::int64_t groups, std::int64_t size) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, groups, size);
  RecordTelemetry kernel;
  kernel.control = data->control.data();
  kernel.energy = data->energy.view();
  kernel.best_energy = data->best.view();
  kernel.best_step = data->step.view();
  kernel.accepted = data->accepted.view();
  kernel.not_finite = data->not_finite.view();
  kernel.rung_of = data->rung.view();
  kernel.replica_of = data->replica.view();
  kernel.beta = data->beta.view();
  kernel.group_size = size;
  kernel.variables = 1000;
  kernel.state = data->state.data();
  kernel.sums = data->sums.view();
  kernel.parts = data->parts.view();
  kernel.mailbox = data->mailbox.data();
  const auto launch = [data, kernel, &queue](std::uint32_t) {
    queue.launch(AdvanceTick{data->control.data(), 1});
    queue.launch(kernel);
  };
  return {{launch}, kernel.bytes()};
}

}  // namespace record_telemetry_bench

template <>
std::vector<KernelCase> bench_cases<RecordTelemetry>() {
  using namespace record_telemetry_bench;
  return {{"1024 replicas", [](BenchContext& c) { return prepare(c, 1, 1024); }},
          {"4096 groups of 32", [](BenchContext& c) { return prepare(c, 4096, 32); }},
          {"1048576 replicas", [](BenchContext& c) { return prepare(c, 1, 1 << 20); }}};
}

}  // namespace kiln::cli
