// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/kernels/run/propose_move.hpp"

#include "run_core.hpp"

namespace kiln {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The host's state of a run between report points.
struct RunCore::Progress {
  DeviceInfo device;  ///< as it was before the run; results take little memory and query no device
  double setup_s = 0;
  double run_s = 0;  ///< of earlier calls of advance()
  double to_best_s = 0;
  std::uint64_t best_key = ~0ull;
  std::uint64_t best_step = 0;  ///< at the look that first saw it
  Counters in_ticks;
  bool begins_with_values = true;  ///< states are evaluated before the first tick
  double first_values = 0;     ///< median size of the objective values of random first states; or 0
  bool whole = true;           ///< states are those at the end of a tick
  int pending = 0;             ///< number of posted summaries not yet waited for
  std::uint64_t enqueued = 0;  ///< ticks, those included that a stopped device leaves out
  double tick_s = -1;          ///< recent or measured duration of a tick; -1: unknown
  double copies_s = 0;         ///< spent on copies to restore and on looks at draws: of no tick
  RunControl control;          ///< as it was on the device when the host last waited for a summary
  RunSummary last;             ///< the newest one that the host waited for

  /// Times of steps, from readings of the clock; thinned out as they become many.
  struct Look {
    std::uint64_t step = 0;
    double run_s = 0;
  };
  std::vector<Look> looks{{}};
  void add_look(std::uint64_t step, double seconds);
  /// Discards results and reports after `earlier`, but not the time.
  void forget_since(const Progress& earlier);

  bool paused = false;     ///< by a command
  std::string stopped_by;  ///< name of the observer that ended this call of advance()

  // Since the last call of the observers.
  double reported_s = 0;
  std::uint64_t reported_step = 0;
  std::uint64_t reported_accepted = 0;
  std::uint64_t reported_nonfinite = 0;
  std::uint64_t reported_best_key = ~0ull;
  double acceptance_rate = 0, attempts_per_ns = 0;  // of the last report after an attempt
};

/// What the loop of one call of advance() works with.
struct RunCore::Loop {
  const Observers& observers;
  Alarm& alarm;
  CallLimit& calls;
  double earlier_s = 0;     ///< of earlier calls
  Clock::time_point begin;  ///< later by the pauses
};

/// Number of replicas whose best states are read at once for a result that lists several.
inline constexpr std::int64_t solutions_at_once = 1024;

/// Sweeps at which a run ends.
inline std::uint64_t limit_of(const Budget& budget) noexcept {
  return budget.sweeps ? static_cast<std::uint64_t>(*budget.sweeps) : ~0ull;
}

/// @throws InvalidArgument for an invalid limit.
void check_budget(const Budget& budget);

/// Number of values of a variable of a block; 0 if it is not finite.
inline std::int64_t value_count(const Block& block) {
  if (block.kind == BlockKind::real || block.kind == BlockKind::permutation) return 0;
  if (block.kind == BlockKind::spin) return 2;
  return static_cast<std::int64_t>(block.upper - block.lower) + 1;
}

/// The layout of each block in a run: as the objective prefers it, or with a separate place for
/// every value if the schedule requests it.
inline std::vector<Layout> layouts_of(const Objective& objective, const Needs& needs) {
  std::vector<Layout> layouts = objective.execution().layouts;
  if (needs.unpacked) std::ranges::replace(layouts, Layout::packed32, Layout::i8);
  return layouts;
}

/// Whether the objective makes the sweeps of the run: it then supports its preferred layout alone.
inline bool sweeps_itself(const Objective& objective, const Needs& needs) {
  return objective.offers<Sweeps>() &&
         layouts_of(objective, needs) == objective.execution().layouts;
}

/// A heat-bath move evaluates every value of a variable: more values take too long.
inline constexpr std::int64_t max_heat_bath_values = 64;
/// Specialised sweeps of objectives list the values of a variable in a byte each.
inline constexpr std::int64_t max_listed_values = 127;

/// Number of values per variable in the block that has most.
inline std::int64_t max_values(const Space& space) {
  std::int64_t most = 0;
  for (const Block& block : space.blocks()) most = std::max(most, value_count(block));
  return most;
}

/// Arrays for sweeps by proposal and evaluation, for objectives without a specialised sweep.
struct RunCore::Fallback {
  Fallback(Queue& queue, const ReplicaBatch& batch, bool heat_bath)
      : first(queue, batch.slots()),
        second(queue, batch.slots()),
        value(queue, batch.slots()),
        trial_energy(queue, batch.slots()),
        candidates(queue, heat_bath ? max_values(batch.space()) * batch.slots() : 0) {
    // Objectives need not write the energies of padding.
    trial_energy.fill(std::numeric_limits<double>::infinity());
    candidates.fill(std::numeric_limits<double>::infinity());
  }
  MoveUndo undo() { return {first.view(), second.view(), value.view()}; }
  /// Energies by value, [value][slot].
  View2<double> energies_of(std::int64_t values, std::int64_t slots) {
    return {candidates.data(), values, slots, slots};
  }
  DeviceArray<std::int32_t> first, second;
  DeviceArray<double> value, trial_energy, candidates;
};

}  // namespace kiln
