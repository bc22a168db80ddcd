// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/proposal_sweep.hpp"

#include <memory>
#include <string>
#include <vector>

#include "kiln/problems/vector_functions/zdt.hpp"

#include "bench/fixtures.hpp"
#include "bench/fixtures/proposal_sweep_arrays.hpp"

namespace kiln::cli {
namespace proposal_sweep_bench {

struct Sweep {
  Sweep(Queue& queue, std::int64_t n_variables, std::int64_t n_slots)
      : variables(n_variables),
        slots(n_slots),
        state(queue, Block{BlockKind::real, variables, 0, 1}, Layout::f64, slots),
        arrays(queue, {.slots = slots, .group_size = slots}) {}

  ProposalSweep kernel() {
    const StateBlock block = state.block();
    return arrays.kernel(VectorFunctionRef(Zdt{1, static_cast<std::int32_t>(variables)}), slots,
                         {&block, 1}, state.draw_ids(), state.control(), 0);
  }

  std::int64_t variables, slots;
  BlockBatch state;
  ProposalSweepArrays arrays;
};

KernelCase case_of(const std::string& shape, std::int64_t variables, std::int64_t slots,
                   bool at_once) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<Sweep>(queue, variables, slots);
    const auto launch = [=, &queue](std::uint32_t) {
      if (at_once) return queue.launch(data->kernel());
      ProposalSweepArrays::launch_parts(data->kernel(), queue);
    };
    return {{launch}, 2 * data->state.bytes()};
  };
  return {shape, prepare};
}

}  // namespace proposal_sweep_bench

template <>
std::vector<KernelCase> bench_cases<ProposalSweep>() {
  using namespace proposal_sweep_bench;
  std::vector<KernelCase> cases;
  // On a GPU: teams of 32 threads, of eight, and a thread for each replica.
  for (const auto& [variables, slots] :
       {std::pair<std::int64_t, std::int64_t>{10, 1024}, {10, 8192}, {30, 32768}}) {
    const std::string shape =
        "ZDT1, " + std::to_string(slots) + " replicas of " + std::to_string(variables) + " reals";
    cases.push_back(case_of(shape, variables, slots, true));
    cases.push_back(case_of(shape + ", four launches for each variable", variables, slots, false));
  }
  return cases;
}

}  // namespace kiln::cli
