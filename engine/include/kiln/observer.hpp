// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kiln {

/// The values that an observer sees at a report point: reduced, already on the host.
struct ReportPoint {
  double time_s = 0;        ///< since the run began
  std::int64_t sweeps = 0;  ///< of each replica
  double attempts = 0;      ///< of all replicas
  bool has_best = false;
  double best = 0;         ///< objective value of the best state so far
  double best_energy = 0;  ///< its energy
  /// Sweeps of each replica when the best state was found, as far as the host knows: exact where
  /// the improvement is noted (Incumbent::sweeps), else those at the look at the device that saw it
  /// first. -1: there is no best state, or several objectives.
  std::int64_t best_sweeps = -1;
  double mean = 0;             ///< objective value of the mean energy of the current states
  double acceptance_rate = 0;  ///< since the last report point
  double attempts_per_ns = 0;  ///< since the last report point
  double beta = 0;             ///< of the first rung
  bool improved = false;       ///< best is better than at the last report point
  double time_left_s =
      -1;  ///< until the time limit or, from the rate, the sweep limit; -1: unknown
  /// Trial energies since the last report point that were NaN or infinite.
  std::uint64_t nonfinite = 0;
  bool paused = false;     ///< by a command; the next report point comes when the run goes on
  std::string stage = {};  ///< of a pipeline, "2/2 parallel-tempering"; else empty
  /// Further numbers from the schedule, by name (Schedule::annotate); often empty.
  std::vector<std::pair<std::string, double>> notes = {};
};

enum class Next : std::uint8_t { go_on, stop };

class Observer;
/// A callable that an observer can be made of: it returns Next, or nothing to let the run go on.
template <class Look>
concept LooksAtPoints =
    !std::is_same_v<Look, Observer> && std::is_invocable_v<Look&, const ReportPoint&>;

/// Runs on the host between ticks. It may end a run, and never changes its path.
/// kiln/observers/ready_made.hpp has observers for usual purposes.
class Observer {
 public:
  template <LooksAtPoints Look>
  Observer(Look look)  // NOLINT(google-explicit-constructor): a callable is an observer
      : Observer({}, std::move(look)) {}

  /// @param name  the reason why it ends a run, for people: "no improvement in 1000 sweeps"
  ///   (Result::stopped_by). A run that an observer without a name ends was interrupted.
  /// @param look  is called at each report point
  template <LooksAtPoints Look>
  Observer(std::string name, Look look) : name_(std::move(name)) {
    if constexpr (std::is_void_v<std::invoke_result_t<Look&, const ReportPoint&>>) {
      look_ = [look = std::move(look)](const ReportPoint& point) mutable {
        look(point);
        return Next::go_on;
      };
    } else {
      look_ = std::move(look);
    }
  }

  Next operator()(const ReportPoint& point) const { return look_(point); }
  const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
  std::function<Next(const ReportPoint&)> look_;
};
using Observers = std::vector<Observer>;

}  // namespace kiln
