// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

enum class Sense : std::uint8_t;

/// An improvement of the best value of a run, noted at the end of an epoch of ticks.
struct Incumbent {
  double time_s = 0;         ///< of the run, when the tick that found it ended
  std::int64_t sweeps = 0;   ///< of each replica, likewise
  double value = 0;          ///< in the user's sense
  double energy = 0;         ///< as minimised
  std::int64_t replica = 0;  ///< that found it, the first of several
  std::int64_t group = 0;
  std::int32_t rung = 0;  ///< where that replica was at the end of the epoch
};

/// When a run first came so close to the best known value.
struct TimeToGap {
  double gap = 0;  ///< |value - best known| / |best known|
  double time_s = 0;
  std::int64_t sweeps = 0;
};

/// The incumbents of a run, each better than the one before. All of the first 1000 are kept, then
/// one per 1 % more sweeps, and always the last.
class KILN_API IncumbentList {
 public:
  static constexpr std::size_t all_of_first = 1000;

  /// Adds one that is better than the last.
  void add(const Incumbent& next);
  const std::vector<Incumbent>& kept() const noexcept { return kept_; }
  /// How many there were, those that were not kept included.
  std::int64_t found() const noexcept { return found_; }
  /// Whether the last gives way to the next one.
  bool last_may_go() const noexcept { return last_may_go_; }
  /// As many as that stay in the list whatever comes.
  std::size_t settled() const noexcept { return kept_.size() - (last_may_go_ ? 1 : 0); }
  void set_time(std::size_t index, double time_s) { kept_[index].time_s = time_s; }
  /// What add() has made of a longer history.
  void restore(std::vector<Incumbent> kept, std::int64_t found, bool last_may_go);

 private:
  std::vector<Incumbent> kept_;
  std::int64_t found_ = 0;
  bool last_may_go_ = false;
};

/// The primal gap of a value to a reference, in [0, 1]: 0 if it is as good or better, 1 if the two
/// have different signs, else |reference - value| / max(|reference|, |value|).
/// @par Source  Berthold, Operations Research Letters 41 (2013) 611.
KILN_API double primal_gap(double value, double reference, Sense sense) noexcept;

/// The integral of the primal gap over the time of a run, in seconds. The gap is 1 until the first
/// incumbent.
KILN_API double primal_integral(std::span<const Incumbent> incumbents, double reference,
                                Sense sense, double run_s) noexcept;

/// When a run first came within 10 %, 1 %, 0.1 %, 0.01 % and 0 of the best known value; gaps that
/// it never reached are left out. A value within `tolerance` of the best known has gap 0. A best
/// known value of 0 has gap 0 alone.
KILN_API std::vector<TimeToGap> time_to_gap(std::span<const Incumbent> incumbents,
                                            double best_known, Sense sense, double tolerance);

}  // namespace kiln
