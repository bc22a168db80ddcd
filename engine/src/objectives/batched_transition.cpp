// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/batched_transition.hpp"

#include "kiln/errors.hpp"
#include "kiln/kernels/hamiltonian/hamiltonian_accept.hpp"
#include "kiln/kernels/hamiltonian/leapfrog.hpp"
#include "kiln/kernels/hamiltonian/momentum_refresh.hpp"

namespace kiln {

BatchedTransition::BatchedTransition(Queue& queue, std::int64_t dimension, std::int64_t slots,
                                     std::int32_t limit)
    : dimension_(dimension),
      slots_(slots),
      limit_(limit),
      vectors_(queue, 3 * dimension * slots),
      scalars_(queue, 4 * slots) {
  // Slots without a replica are evaluated with the others.
  vectors_.zero();
  scalars_.zero();
}

std::uint64_t BatchedTransition::device_bytes(std::int64_t dimension, std::int64_t slots) {
  return static_cast<std::uint64_t>((3 * dimension + 4) * slots) * sizeof(double);
}

BatchedArguments BatchedTransition::arguments(const ChainState& chains, const MetricView& metric,
                                              View1<const HmcTuning> tuning,
                                              const TransitionStatistics& statistics) {
  if (metric.kind != MetricKind::diagonal) {
    throw InvalidArgument("objective.metric",
                          "a batched transition was given a metric that is not diagonal",
                          "a diagonal metric");
  }
  const auto row = [this](int index) {
    return View1<double>{scalars_.data() + index * slots_, slots_};
  };
  BatchedArguments all;
  all.chains = chains;
  all.trajectory = {matrix(0), matrix(1), matrix(2), row(0), row(1), row(2), row(3)};
  all.scale = metric.scale;
  all.tuning = tuning;
  all.statistics = statistics;
  all.limit = limit_;
  return all;
}

void BatchedTransition::enqueue(const ChainState& chains, const MetricView& metric,
                                View1<const HmcTuning> tuning,
                                const TransitionStatistics& statistics, const Evaluate& evaluate,
                                Queue& queue) {
  const auto read_only = [](const View2<double>& m) {
    return View2<const double>{m.data, m.rows, m.columns, m.stride};
  };
  const BatchedArguments all = arguments(chains, metric, tuning, statistics);
  const MomentumRefresh begin{all};
  const BatchedTrajectory& path = begin.trajectory;
  BatchedEvaluation at;
  at.base_weight = chains.gradient_base_weight;
  at.term_weight = chains.gradient_term_weight;
  at.control = chains.control;
  at.step_offset = chains.step_offset;

  queue.launch(begin);
  // Where the chains are: positions may have changed from outside, and weights with the rung.
  at.position = read_only(chains.position);
  at.gradient = chains.gradient;
  at.base = chains.base;
  at.term = chains.term;
  evaluate(at, queue);
  Leapfrog leapfrog{all};
  at.position = read_only(path.proposal);
  at.gradient = path.gradient;
  for (leapfrog.index = 0; leapfrog.index < limit_; ++leapfrog.index) {
    queue.launch(leapfrog);
    const bool last = leapfrog.index == limit_ - 1;
    at.base = last ? path.base : View1<double>{};
    at.term = last ? path.term : View1<double>{};
    evaluate(at, queue);
  }
  queue.launch(leapfrog);
  queue.launch(HamiltonianAccept{all});
}

}  // namespace kiln
