// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/proposal_sweep.hpp"

#include "kiln/problems/vector_functions/zdt.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace proposal_sweep_bench {

struct SweepArrays {
  SweepArrays(Queue& queue, std::int64_t variables, std::int64_t slots)
      : state(queue, Block{BlockKind::real, variables, 0, 1}, Layout::f64, slots),
        first(queue, slots),
        second(queue, slots),
        before(queue, slots),
        energy(queue, slots),
        trial(queue, slots),
        accepted(queue, slots),
        not_finite(queue, slots),
        beta(queue, std::vector<double>{4}),
        rung(queue, slots),
        value(queue, 2 * slots),
        violation(queue, slots),
        ideal(queue, std::vector<double>{0, 0}),
        nadir(queue, std::vector<double>{1, 1}),
        weight(queue, std::vector<double>{0.5, 0.5}),
        key(queue, slots),
        replica(queue, slots) {
    energy.zero();
    accepted.zero();
    not_finite.zero();
    rung.zero();
    key.zero();
    replica.zero();
  }
  BlockBatch state;
  DeviceArray<std::int32_t> first, second;
  DeviceArray<double> before, energy, trial;
  DeviceArray<std::uint64_t> accepted, not_finite;
  DeviceArray<double> beta;
  DeviceArray<std::int32_t> rung;
  DeviceArray<double> value, violation, ideal, nadir, weight;
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
};

ProposalSweep kernel_of(SweepArrays& data, std::int64_t variables, std::int64_t slots) {
  ProposalSweep kernel;
  kernel.function = VectorFunctionRef(Zdt{1, static_cast<std::int32_t>(variables)});
  kernel.values.function = kernel.function;
  kernel.replicas = kernel.values.replicas = kernel.scalarize.replicas = slots;
  kernel.propose.undo = {data.first.view(), data.second.view(), data.before.view()};
  kernel.accept.undo = kernel.propose.undo;
  kernel.propose.draw_ids = kernel.accept.draw_ids = {data.key.view(), data.replica.view()};
  kernel.propose.control = kernel.accept.control = data.state.control();
  kernel.values.state[0] = kernel.propose.block = kernel.accept.block = data.state.block();
  kernel.values.n_blocks = 1;
  kernel.values.columns = {slots, slots, 0};
  kernel.values.value = {data.value.data(), 2, slots, slots};
  kernel.values.violation = data.violation.view();
  kernel.scalarize.group_size = slots;
  kernel.scalarize.value = {data.value.data(), 2, slots, slots};
  kernel.scalarize.violation = data.violation.view();
  kernel.scalarize.ideal = data.ideal.view();
  kernel.scalarize.nadir = data.nadir.view();
  kernel.scalarize.weight = {data.weight.data(), 2, 1, 1};
  kernel.scalarize.energy = data.trial.view();
  kernel.accept.energy = data.energy.view();
  kernel.accept.trial_energy = data.trial.view();
  kernel.accept.accepted = data.accepted.view();
  kernel.accept.not_finite = data.not_finite.view();
  kernel.accept.beta = data.beta.view();
  kernel.accept.rung_of = data.rung.view();
  return kernel;
}

KernelCase case_of(const std::string& shape, std::int64_t variables, std::int64_t slots,
                   bool at_once) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<SweepArrays>(queue, variables, slots);
    const auto launch = [=, &queue](std::uint32_t) {
      ProposalSweep kernel = kernel_of(*data, variables, slots);
      if (at_once) return queue.launch(kernel);
      for (kernel.propose.variable = 0; kernel.propose.variable < variables;
           ++kernel.propose.variable) {
        queue.launch(kernel.propose);
        queue.launch(kernel.values);
        queue.launch(kernel.scalarize);
        queue.launch(kernel.accept);
        ++kernel.propose.attempt, ++kernel.accept.attempt;
      }
    };
    return {{launch}, 2 * data->state.bytes()};
  };
  return {shape, prepare};
}

}  // namespace proposal_sweep_bench

template <>
std::vector<KernelCase> bench_cases<ProposalSweep>() {
  using namespace proposal_sweep_bench;
  return {
      case_of("ZDT1, 1024 replicas of 10 reals", 10, 1024, true),
      case_of("ZDT1, 1024 replicas of 10 reals, four launches for each variable", 10, 1024, false),
      case_of("ZDT1, 32768 replicas of 30 reals", 30, 32768, true),
      case_of("ZDT1, 32768 replicas of 30 reals, four launches for each variable", 30, 32768,
              false)};
}

}  // namespace kiln::cli
