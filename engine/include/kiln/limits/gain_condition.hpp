// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/export.hpp"

namespace kiln {

/// Ends a run whose best value gains too little over its last work: `gain<0.1% in 1e9 attempts`.
///
/// A gain is the distance between the best value now and the best value before that work. It is
/// read from the incumbents of the run, so every repeat ends at the same tick, on each device that
/// gives the same incumbents.
struct KILN_API GainCondition {
  enum class Unit : std::uint8_t {
    sweeps,       ///< of each replica
    attempts,     ///< of all replicas, WorkKind::attempts
    evaluations,  ///< of all replicas, WorkKind::evaluations
  };

  /// > 0: smaller gains are too little. In percent, below 100, or in the user's units.
  double bound = 0;
  bool percent = true;      ///< of |best value now|
  std::int64_t amount = 0;  ///< > 0: the work in which the best value gains
  Unit unit = Unit::sweeps;

  /// Reads `gain<0.1% in 1e9 attempts` or `gain<2 in 5000 sweeps`. Blanks around names and numbers
  /// are allowed.
  /// @throws InvalidArgument `budget.stop_when` with the position of the first mistake, counted
  ///   from 1
  static GainCondition parse(std::string_view text);

  /// The text that parse() reads.
  std::string text() const;
  /// Whether the gain from one best value to a later one is too little. No gain always is; one that
  /// equals the bound, but for rounding, is not.
  bool holds(double before, double now) const noexcept;
  bool operator==(const GainCondition&) const = default;
};

/// The name of a unit in a text of a condition.
KILN_API const char* to_string(GainCondition::Unit) noexcept;

/// @throws InvalidArgument `budget.stop_when` for a condition that no text gives.
KILN_API void check_gain(const GainCondition& condition);

}  // namespace kiln
