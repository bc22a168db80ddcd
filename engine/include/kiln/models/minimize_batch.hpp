// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/lbfgs_step.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// A batch of L-BFGS minimisations with its memory on the device. The caller's kernels evaluate the
/// objective, at all trials at once.
class KILN_API BatchedMinimizer {
 public:
  /// @param queue  must outlive this object
  /// @param n  variables of each minimisation
  /// @param starts  [items][n]
  /// @param lower, upper  [items][n], or one row [n] for all
  BatchedMinimizer(Queue& queue, std::int64_t n, const std::vector<double>& starts,
                   const std::vector<double>& lower, const std::vector<double>& upper);

  std::int64_t items() const noexcept { return items_; }
  /// The kernel, for its tolerances and its sign.
  LbfgsStep& step() noexcept { return step_; }
  // The trials, and the places of their values and gradients.
  View2<const double> trial() const noexcept { return {step_.trial.data, items_, n_, n_}; }
  View2<double> gradient() noexcept { return {gradient_.data(), items_, n_, n_}; }
  View1<double> value() noexcept { return value_.view(); }
  View1<const std::int32_t> running() noexcept { return running_.view(); }

  /// Alternates `evaluate` and a step until all minimisations have ended. Afterwards the trials are
  /// the best points.
  /// @param max_rounds  limit of evaluations of each minimisation
  /// @param evaluate  launches kernels that write values and gradients of the trials
  /// @param expensive  the host checks after every round, not after every few: for rounds that take
  /// longer than the check
  void run(int max_rounds, const std::function<void()>& evaluate, bool expensive = false);
  /// The best points [items][n] and their values [items]; +infinity (-infinity where the sign is
  /// -1) for items that never had a finite one. Waits.
  std::vector<double> points() const { return trial_.download(); }
  std::vector<double> values() const;
  /// The values of the last evaluation [items]. Waits.
  std::vector<double> value_now() const { return value_.download(); }

 private:
  Queue& queue_;
  std::int64_t n_, items_;
  DeviceArray<double> point_, gradient_, own_gradient_, direction_, pair_, trial_, value_, lower_,
      upper_;
  DeviceArray<LbfgsState> state_;
  DeviceArray<std::int32_t> running_;
  LbfgsStep step_;
};

}  // namespace kiln
