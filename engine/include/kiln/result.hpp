// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/budget.hpp"
#include "kiln/commands/command.hpp"
#include "kiln/evaluations.hpp"
#include "kiln/executors/executor.hpp"
#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/memory/memory_map.hpp"
#include "kiln/problem.hpp"
#include "kiln/profile.hpp"
#include "kiln/profile/hardware.hpp"
#include "kiln/queue.hpp"
#include "kiln/space.hpp"
#include "kiln/statistics/sample.hpp"
#include "kiln/statistics/sample_summary.hpp"
#include "kiln/telemetry/incumbent.hpp"

namespace kiln {

enum class Stop : std::uint8_t {
  target_reached,
  time_limit,
  sweep_limit,
  evaluation_limit,
  work_limit,
  /// The schedule was done, the draws met Budget::until, or the value reached KnownValues::bound
  converged,
  interrupted,  ///< the stop token or an observer without a name requested it
  terminated,   ///< the same, if the program was told to end (SIGTERM)
  unfinished,   ///< the run is not finished: its state at one moment (Run::result_so_far)
  failed,       ///< an exception ended the run: its state before
  observer,     ///< an observer with a name requested it (Result::stopped_by)
  gain_limit,   ///< the best value gained too little (Budget::stop_when)
};

KILN_API const char* to_string(Stop) noexcept;

/// Work done, so that tools can be compared by work and not only by time.
struct Work {
  std::int64_t sweeps = 0;  ///< of each replica
  std::int64_t replicas = 0;
  double attempts = 0;                      ///< sweeps x replicas x variables
  std::optional<std::int64_t> gradients;    ///< if the schedule makes Hamiltonian transitions
  std::optional<std::int64_t> evaluations;  ///< if the schedule counts them, those of its search
  WorkKind kind = WorkKind::attempts;       ///< what a work limit counts (Schedule::work_kind())
  std::optional<std::int64_t> limit;        ///< Budget::work_limit
  std::int64_t ticks = 0;
  std::uint64_t accepted = 0;
  std::uint64_t not_finite = 0;  ///< trial energies of a user's objective that were NaN or infinite
  Counters device;               ///< all work on the queue, including set-up and end
  /// The work while ticks were enqueued: launches only, in a run without a fault
  Counters in_ticks;
};

struct Times {
  double setup_s = 0;  ///< planning, allocating, uploading
  double run_s = 0;
  double to_best_s = 0;  ///< until the tick that found the best value had ended; for a front, until
                         ///< a report point showed it
};

/// One of the best states of a run.
struct Solution {
  double objective = 0;  ///< in the user's sense
  double energy = 0;
  State state;               ///< canonical values per block
  std::int64_t replica = 0;  ///< the first replica that found it
  std::int64_t count = 1;    ///< number of replicas with this best state
};

/// What one stage of a pipeline did.
struct StageResult {
  std::string schedule;
  std::int64_t sweeps = 0;  ///< of each replica
  double run_s = 0;
  std::optional<double> best;  ///< objective value of the best state when the stage ended
};

/// The result of a run.
struct KILN_API Result {
  std::string step = "sweep";  ///< what a step of the schedule is called (Schedule::step_name())
  std::string problem, family, schedule, device, device_description, fallback_reason;
  std::uint64_t seed = 1;
  DrawNaming draw_naming = DrawNaming::words;  ///< how sweeps named their random words
  Sense sense = Sense::minimize;
  bool integral = false;
  double objective = 0;              ///< best value in the user's sense
  double energy = 0;                 ///< energy of the best state, as minimised
  std::string value_name = "value";  ///< name of the objective value (Units::value_name)
  std::optional<double> target;      ///< objective value that the budget requested
  /// largest deviation that still reaches the target (Problem::target_tolerance)
  double target_tolerance = 0;
  std::optional<double> best_known;
  std::optional<double> gap;  ///< |best - best known| / |best known|; negative if better
  Stop stop = Stop::converged;
  /// The name of the observer that ended the run (Stop::observer), else empty.
  std::string stopped_by;
  /// What an observer threw, if that ended a run of Engine::run() (Stop::failed); else null. The
  /// result is what the run had found.
  std::exception_ptr failure;
  bool verified = false;  ///< the value recomputed on the CPU from the raw data is equal
  State solution;         ///< canonical values per block
  /// SolutionFunctions::whole of the problem; empty: no variable is fixed.
  std::function<State(StateSpan)> whole;
  /// The values of the solution by name (SolutionFunctions::named_values).
  std::vector<std::pair<std::string, std::string>> named_solution;
  /// The recomputed constraints at the solution, for problems of one value; empty without
  /// constraints. A solution that violates them is never verified.
  std::vector<double> constraints;
  std::int64_t best_replica = 0;
  /// With RunOptions::top > 1: that many distinct states, best first, or as many as the replicas
  /// hold. States that differ only by a symmetry of the problem count as one.
  std::vector<Solution> top;
  /// The improvements of the best value, thinned out where they are many (IncumbentList); the last
  /// is the best. Empty for several objectives.
  std::vector<Incumbent> incumbents;
  std::int64_t incumbents_found = 0;  ///< those that were not kept included
  /// Primal integral of the run, s, to best_known or else to the final best; none without
  /// incumbents.
  std::optional<double> primal_integral;
  std::vector<TimeToGap> time_to_gap;  ///< where best_known is known
  Work work;
  Times time;
  std::map<std::string, std::string> parameters;      ///< of the schedule, resolved
  std::map<std::string, double> diagnostics;          ///< of the schedule
  std::map<std::string, std::vector<double>> series;  ///< of the schedule, by rung or another index
  std::vector<std::string> advice;                    ///< of the schedule, one sentence each
  std::vector<std::string> notes;                     ///< of the problem (ProblemIdentity::notes)
  ExecutorChoice executor;                            ///< of the last stage
  CommandCounts commands;                             ///< since RunOptions::commands was made
  /// The stages of a pipeline as far as the run came; empty for other schedules.
  std::vector<StageResult> stages;
  /// The front of a problem with several objectives; null for others. `objective` is its
  /// hypervolume and `solution` its chosen member.
  std::shared_ptr<const Front> front;
  /// All evaluations of an expensive objective; null where the schedule does not record them.
  std::shared_ptr<const Evaluations> evaluations;
  /// The draws of a sampling schedule; null for other schedules.
  std::shared_ptr<const Sample> sample;
  /// Budget::until as the draws meet it; empty without conditions.
  JudgedConditions until;
  /// Estimates from the draws and their diagnostics, read with summary(); null if `sample` is null.
  /// `advice` has sentences on them.
  std::shared_ptr<const SampleSummary> sample_summary;
  MemoryMap memory;                        ///< of the device; empty in results that are no run's
  std::shared_ptr<const Profile> profile;  ///< with RunOptions::profile; else null
  /// The engine reads no sensors: programs that do fill it in.
  std::shared_ptr<const HardwareReadings> hardware;

  /// The total violation of the constraints, NaN if one has no value; 0: feasible.
  double violation() const noexcept;
  /// Computes `gap` from objective, best_known and sense.
  void compute_gap() noexcept;
  bool feasible() const noexcept { return violation() <= 0; }
  /// Whether the budget has a target and the best value misses it by more than its tolerance.
  bool misses_target() const noexcept;
  /// Whether the budget has conditions on the draws and the draws do not meet all of them.
  bool misses_until() const noexcept { return !until.empty() && !until.met(); }

  /// The solution, or another state of the problem, with the variables that are fixed.
  State whole_state(const State& state) const;
  State whole_solution() const { return whole_state(solution); }

  /// One line for a log: "best 13359 (gap 0.000 %), target_reached after 4.8 s".
  std::string brief_report() const;
  /// The document `kiln.result/2`.
  std::string to_json() const;

  /// The solution as spins, bits or reals, if it has one block of that kind.
  /// @throws InvalidArgument otherwise.
  const std::vector<std::int8_t>& spins() const;
  const std::vector<std::int8_t>& bits() const { return spins(); }
  const std::vector<std::int32_t>& permutation() const;
  const std::vector<double>& reals() const;

  /// The summary of the draws, and the draws. @throws InvalidArgument (`result.no_draws`) with the
  /// reason if there are none: the schedule searched.
  const SampleSummary& summary() const;
  const Sample& draws() const;
};

}  // namespace kiln
