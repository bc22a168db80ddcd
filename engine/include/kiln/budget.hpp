// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "kiln/export.hpp"
#include "kiln/limits/gain_condition.hpp"
#include "kiln/statistics/draw_conditions.hpp"

namespace kiln {

/// What a work limit counts, over all replicas (Schedule::work_kind()).
enum class WorkKind : std::uint8_t {
  attempts,     ///< sweeps x replicas x variables
  gradients,    ///< gradients of Hamiltonian transitions, those of the warmup included
  evaluations,  ///< evaluations of the objective by the search
};

/// "attempts", "gradients" or "evaluations".
KILN_API const char* to_string(WorkKind) noexcept;

/// When a run ends; the first limit reached is the stop reason. Without any limit, the schedule
/// decides. In every case a run ends when it reaches KnownValues::bound.
/// Each limit may be given alone: `{.sweeps = 1000}`.
struct Budget {
  std::optional<double> time_limit_s = std::nullopt;  ///< seconds of run time, > 0
  std::optional<std::int64_t> sweeps = std::nullopt;  ///< sweeps of each replica, > 0
  std::optional<double> target = std::nullopt;        ///< objective value in the user's sense
  /// Work of all replicas, > 0. Unlike a time limit it ends every repeat at the same tick. Where
  /// the work of a sweep is known before the run, it becomes a number of sweeps and is never
  /// exceeded. Gradients are counted: the run ends after the transition that reaches the limit.
  std::optional<std::int64_t> work_limit = std::nullopt;
  /// Conditions on the draws, of a schedule that keeps draws: the run ends at the first look at
  /// which all of them hold.
  DrawConditions until = {};
  /// The run ends once its best value gains too little. In a pipeline the stage ends, and the run
  /// with the last stage. Not for runs that keep draws or that have several objectives.
  std::optional<GainCondition> stop_when = std::nullopt;

  /// Whether the run may end before its schedule does. Conditions on draws are no limit: the draws
  /// of the schedule are.
  bool has_limit() const noexcept {
    return time_limit_s || sweeps || target || work_limit || stop_when;
  }
};

}  // namespace kiln
