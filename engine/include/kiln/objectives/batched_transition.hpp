// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/batched_trajectory.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Arguments of a batched gradient: all slots at once.
struct BatchedEvaluation {
  View2<const double> position;                  ///< [dimension][slots]
  View2<double> gradient;                        ///< [dimension][slots], of the weighted potential
  View1<const double> base_weight, term_weight;  ///< [slots]
  View1<double> base, term;                      ///< [slots]; empty: no energies
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
};

/// Fixed-length Hamiltonian transitions for objectives with a batched gradient only: matrix
/// products, networks and other gradients that launch kernels for all chains at once.
///
/// Draws, decisions and statistics are those of HmcTransition. One transition always launches
/// `limit` leapfrogs, whatever the tuning, because ticks repeat the same launches; chains of fewer
/// leapfrogs wait for the rest. It evaluates limit + 1 gradients.
class KILN_API BatchedTransition {
 public:
  /// Enqueues an evaluation; energies go to `base` and `term` where those are not empty.
  using Evaluate = std::function<void(const BatchedEvaluation&, Queue&)>;

  BatchedTransition() = default;
  BatchedTransition(Queue& queue, std::int64_t dimension, std::int64_t slots, std::int32_t limit);

  /// The arguments of all kernels of a transition.
  /// @throws InvalidArgument `objective.metric` unless the metric is diagonal.
  BatchedArguments arguments(const ChainState& chains, const MetricView& metric,
                             View1<const HmcTuning> tuning, const TransitionStatistics& statistics);

  /// @throws InvalidArgument `objective.metric` unless the metric is diagonal.
  void enqueue(const ChainState& chains, const MetricView& metric, View1<const HmcTuning> tuning,
               const TransitionStatistics& statistics, const Evaluate& evaluate, Queue& queue);

  /// [dimension][slots], free between transitions.
  View2<double> scratch() { return matrix(2); }

  /// Bytes that it allocates.
  static std::uint64_t device_bytes(std::int64_t dimension, std::int64_t slots);

 private:
  View2<double> matrix(int index) {
    return {vectors_.data() + index * dimension_ * slots_, dimension_, slots_, slots_};
  }

  std::int64_t dimension_ = 0, slots_ = 0;
  std::int32_t limit_ = 0;
  DeviceArray<double> vectors_;  // momentum, proposal, gradient: [3][dimension][slots]
  DeviceArray<double> scalars_;  // base, term, step, kinetic: [4][slots]
};

}  // namespace kiln
