// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/commands/options.hpp"
#include "kiln/evaluations.hpp"
#include "kiln/executors/executor.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/observer.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/result.hpp"
#include "kiln/schedule.hpp"
#include "kiln/telemetry/incumbent.hpp"
#include "kiln/telemetry/options.hpp"

namespace kiln {

class RunCore;
class RunStages;

/// Options of a run. Only replicas, seed, draw_naming and commands change the answer.
struct RunOptions {
  std::string device = "auto";  ///< "auto", "cpu", "cuda", "cuda:N"
  int threads = 0;              ///< CPU threads, 0: all
  std::int64_t replicas = 0;    ///< 0: a default that suits problem and device
  std::uint64_t seed = 1;
  /// How sweeps name their random words; empty: shared if the schedule wants it, by planes if
  /// model, schedule and group size allow it, else by words (RunPlan::draw_naming).
  std::optional<DrawNaming> draw_naming = {};
  Executor executor = Executor::automatic;  ///< how ticks are enqueued
  double report_interval_s = 0.1;           ///< interval between calls of observers
  /// Measures the time of each kernel in a sample of the ticks (Result::profile).
  bool profile = false;
  /// Number of distinct solutions in the result, best first (Result::top).
  std::int64_t top = 1;
  /// Initial states of the replicas, repeated as often as needed; empty: the known states of the
  /// problem (StartHints::states), else random states.
  std::vector<State> initial_states = {};
  /// Called with each value of a host objective as soon as it is computed, including the first
  /// ones: from any thread, one call at a time. Study and batch are not known then. For several
  /// objectives it is called with those that a schedule of expensive objectives requests, as soon
  /// as their batch is done. An exception that it throws ends the run.
  std::function<void(const Evaluation&)> on_evaluation = {};
  TelemetryOptions telemetry = {};
  RunCommandOptions commands = {};  ///< that reach the run while its ticks go
};

/// One problem, one schedule and one batch on one device, from planning to result: the user's
/// interface. Most programs use Engine::run; a Run can also be paused, saved and loaded. Schedules
/// see a run through the contexts of kiln/run_context.hpp.
///
/// The stages of a pipeline (HasStages) follow each other on the batch of the run. All of them are
/// planned before the first state is drawn; the run takes the memory of the largest.
class KILN_API Run {
 public:
  /// Plans and allocates all memory, draws the initial states and initialises the schedule. The
  /// problem and the schedule must outlive the run. `budget` is the budget of the whole run, by
  /// which schedules plan.
  /// @throws InvalidArgument, NoDevice, NotCompiled, OutOfDeviceMemory, ...
  Run(const Problem& problem, Schedule& schedule, const Budget& budget, const RunOptions& options,
      OpenedBackend backend);
  Run(Problem&&, Schedule&, const Budget&, const RunOptions&, OpenedBackend) = delete;
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Runs ticks until the budget, an observer or the stop token ends the run, and returns the
  /// verified best state so far. Sweeps of the budget count from the beginning of the run, its time
  /// limit from this call.
  ///
  /// The run continues from the end of its last whole tick, so that it takes the same path wherever
  /// it is interrupted. The part of a tick that the sweep limit allows, and the descent after a
  /// time limit or an interruption, run on a copy: the result counts them, the run discards them.
  /// After an exception, too, the run is at the end of a whole tick, if its ticks wait for the
  /// host. On the CPU a tick or a descent that takes longer than the limit or the stop allows is
  /// abandoned: the call returns within 0.3 s of either, unless one evaluation takes longer than
  /// that.
  /// @throws ObjectiveError, CudaError; InvalidArgument (`run.broken`) after an exception that left
  /// a tick half done; whatever observers throw.
  Result advance(const Observers& observers = {}, std::stop_token stop = {});

  /// Runs up to a limit of this call instead of the budget: to pause a run, or to continue beyond
  /// its budget. The schedule keeps its plan for the budget of the run. A number of sweeps that is
  /// already done is no limit: the call returns the present result.
  /// @throws InvalidArgument also for a limit that is valid for no run
  Result advance_to(const Budget& limit, const Observers& observers = {},
                    std::stop_token stop = {});

  /// The verified best state so far, as advance() would return it. Call it in an observer, or after
  /// advance() has thrown. It does not change the path of the run. Without a state of finite value
  /// it throws as advance() does. @throws ObjectiveError, CudaError
  Result result_so_far(Stop stop = Stop::unfinished);

  /// Waits for all enqueued ticks and takes what they have recorded of incumbents and telemetry.
  void settle();
  /// Saves the end of the last whole tick. @throws InvalidArgument (`run.broken`)
  void save(Archive& archive) const;
  /// Continues from an archive of a run of the same problem, schedule, options and replicas, with
  /// the draw naming of that run. If this is another naming than that of this run, all memory of
  /// the run is made again on the same queue: views and references into batch() become invalid.
  /// Call it between two calls of advance(): observers and other functions that advance() calls
  /// must not (`run.busy`).
  /// @throws InvalidArgument if the archive does not fit: `archive.replicas` and `run.draw_naming`
  /// leave the run as it was; after others it is broken (`run.broken`) if it has lost its own
  /// state.
  void load(const Archive& archive);

  // A run that load() has lost for want of memory refuses what follows, too (`run.broken`).
  const Problem& problem() const;
  const Budget& budget() const;
  /// The backend of the run: not the given one where the plan says so.
  const OpenedBackend& backend() const;
  /// The states, to read between two calls of advance() or in an observer.
  ReplicaBatch& batch();
  Queue& queue();
  DrawNaming draw_naming() const;
  /// Seconds of the run when a step was done, interpolated between clock readings about 10 ms
  /// apart. For steps before a load() it is the time of the load.
  double seconds_at(std::uint64_t step) const;
  /// The improvements of the best value that the host has heard of. To read between two calls of
  /// advance() or in an observer.
  const IncumbentList& incumbents() const;
  /// What a reader of the records needs to know; its level is the one that the budget allows.
  TelemetryHeader telemetry_header() const;
  TelemetryCounts telemetry_counts() const;
  /// The sums of each group at the last epoch [groups]; copies, and waits. Empty for several
  /// objectives.
  std::vector<TelemetrySums> telemetry_sums() const;
  /// The stage that the run is in, from 0. A run of one schedule is in stage 0.
  std::int64_t stage() const;
  /// For each replica of this stage, the replica of the first stage that its states come from
  /// [replicas]; copies, and waits.
  std::vector<std::int32_t> origins() const;
  /// Makes contexts, in tests and benchmarks that do the work of a schedule by hand.
  RunCore& core();

 private:
  friend class Checkpoint;
  RunCore& whole() const;
  Result advance_stages(const Budget& limit, const Observers& observers, std::stop_token stop);
  void hand_over();
  void go_to_stage(const Archive& archive);
  Result told(Result result, const Budget& limit) const;

  std::unique_ptr<RunStages> stages_;  // null for a run of one schedule
  std::unique_ptr<RunCore> core_;      // null only if load() failed twice for want of memory
};

}  // namespace kiln
