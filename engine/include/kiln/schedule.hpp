// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/budget.hpp"
#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/options.hpp"

namespace kiln {

class Archive;
struct Problem;
struct ReportPoint;
struct Result;
class Run;

/// What a schedule needs of the engine, asked once before anything is allocated.
struct Needs {
  std::int64_t groups = 1;             ///< must divide the replicas
  std::uint32_t sweeps_per_tick = 1;   ///< steps that one enqueue() stands for
  std::int64_t default_sweeps = 1000;  ///< where the budget has no limit at all
  /// Whether some sweeps are by SweepRule::heat_bath: the engine refuses spaces that it cannot make
  /// them for, and allocates what they need.
  bool heat_bath = false;
  /// Where not 0, `groups` is not read: there are as many groups of this size as the replicas make,
  /// and the replicas must be a multiple of it.
  std::int64_t group_size = 0;
  /// Where not 0, the replicas of a run for which the user gives no number.
  std::int64_t default_replicas = 0;
  /// Replicas that the default is raised to; a number that the user gives is taken as it is.
  std::int64_t least_replicas = 0;
  /// Whether replicas have values of their own of a parameter of the objective: the engine refuses
  /// objectives without Abilities::parameters.
  bool parameters = false;
  /// Whether the schedule takes objectives of several values, and no others.
  bool several_objectives = false;
  /// Whether the schedule takes constraints of an objective with one value (Abilities): the engine
  /// refuses such objectives otherwise.
  bool constraints = false;
  /// Whether the schedule has heavy work of its own for a device: only then device `auto` is a GPU
  /// for an objective that is called on the host.
  bool works_on_device = false;
  /// Whether enqueue() waits for the device or decides on the host: its ticks are not captured.
  bool host_paced = false;
  /// Whether begin() chooses the first states: the engine draws none and evaluates nothing before,
  /// and energies stay +infinity. States that the user gives are written.
  bool own_states = false;
  /// Whether finish() brings states down: only then the engine calls it.
  bool descends_at_end = false;
  /// Whether every value of a state has a place of its own in memory, so that one of them can be
  /// written (ProposeMove, AcceptMove): spins and bits lie in Layout::i8 instead of packed32. A
  /// sweep is then made of proposals and evaluations, at the price of an evaluation for each
  /// attempt.
  bool unpacked = false;
};

/// A strategy: what is done to the replicas, tick after tick.
///
/// start() allocates what is the schedule's own and prepares it; enqueue() then puts exactly one
/// tick on the run's queue: the same launches each time, no allocation, no copy, no wait. The
/// engine captures and replays it where the backend can. (Not so with Needs::host_paced.) A
/// schedule object serves one run at a time.
///
/// A plan calls start() too, on a run that only counts what it allocates (Run::counts_only()), and
/// needs() before and after it: each call of needs() forgets what was resolved before. So a
/// schedule that serves a run is refused (`schedule.in_use`).
class KILN_API Schedule {
 public:
  virtual ~Schedule();
  virtual std::string name() const = 0;
  /// The options as they were resolved, for the result.
  virtual std::map<std::string, std::string> parameters() const = 0;
  virtual Needs needs(const Problem& problem, const Budget& budget) = 0;
  virtual void start(Run& run) = 0;
  /// Called once after start(), when the memory that it asked for is filled: first launches. May
  /// wait. The default has nothing to do.
  virtual void begin(Run& run);
  virtual void enqueue(Run& run) = 0;
  /// Adds notes to a report point, from what the host knows: no launch, no wait. The default has
  /// none.
  virtual void annotate(ReportPoint& point) const;
  /// Brings the current states down (a greedy descent) when a time limit or a user ended the run.
  /// Called with Needs::descends_at_end only. May enqueue work and wait. What it changes counts for
  /// the result alone: the run goes on from the states before.
  virtual void finish(Run& run);
  /// Adds diagnostics, series and advice to a result. May wait. The default has nothing to add.
  virtual void report(Run& run, Result& result);
  /// Candidates for the front of a problem with several objectives. The default gives the best
  /// state of each replica.
  virtual FrontCandidates front(Run& run);
  /// Save and load members of the schedule on the host that change during a run. Device memory
  /// from Run::scratch is saved by the run; a schedule that has nothing else says so by an empty
  /// body.
  virtual void save(Archive& archive) const = 0;
  virtual void load(const Archive& archive) = 0;

 private:
  friend class Run;
  const Run* serves_ = nullptr;  // plans and other runs are refused meanwhile
};

}  // namespace kiln
