// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/evaluations.hpp"
#include "kiln/export.hpp"
#include "kiln/observer.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/result.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

class RunCore;

/// How the engine is to run: nothing here changes the answer, except replicas and seed.
struct RunOptions {
  std::string device = "auto";  ///< "auto", "cpu", "cuda", "cuda:N"
  int threads = 0;              ///< CPU threads, 0: all
  std::int64_t replicas = 0;    ///< 0: a default that suits problem and device
  std::uint64_t seed = 1;
  bool graph_capture = true;       ///< capture ticks where the backend can
  double report_interval_s = 0.1;  ///< how often observers are called
  /// Distinct solutions that the result lists, best first (Result::top).
  std::int64_t top = 1;
  /// States in which the replicas begin, repeated as often as needed; empty: those that are known
  /// of the problem (StartHints::states), else random ones.
  std::vector<State> initial_states = {};
  /// Called with each value of a host objective as soon as it is there, the first ones included:
  /// from any thread, one call at a time. Study and batch are not known then. Of several objectives
  /// with those that a schedule of few evaluations asks for, as soon as their batch is there. What
  /// it throws ends the run.
  std::function<void(const Evaluation&)> on_evaluation = {};
};

/// One problem, one schedule, one batch on one device, from planning to result, as its user sees
/// it. Most programs use Engine::run; a Run by itself can be paused, saved and loaded. What a
/// schedule sees of a run are the contexts of kiln/run_context.hpp.
class KILN_API Run {
 public:
  /// Plans and allocates everything (the problem and the schedule must outlive the run), draws the
  /// first states and initialises the schedule. `budget` is that of the whole run: schedules plan
  /// by it.
  /// @throws InvalidArgument, NoDevice, NotCompiled, OutOfDeviceMemory, ...
  Run(const Problem& problem, Schedule& schedule, const Budget& budget, const RunOptions& options,
      OpenedBackend backend);
  Run(Problem&&, Schedule&, const Budget&, const RunOptions&, OpenedBackend) = delete;
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Runs ticks until the budget, an observer or the stop token ends the run, and gives the best
  /// state so far, verified. Sweeps of the budget count from the beginning of the run, its time
  /// limit from this call.
  ///
  /// The run goes on from the end of its last whole tick, so that it takes the same path wherever
  /// it is cut. The rest of a tick that the sweep limit allows, and the descent after a time limit
  /// or an interruption, are made on a copy: the result counts them, the run forgets them. An
  /// exception leaves the end of a whole tick, too, where the ticks wait for the host. On the CPU a
  /// tick or a descent that takes longer than the limit or the stop allows is given up: the call
  /// returns within 0.3 s of either, unless one evaluation takes longer than that.
  /// @throws ObjectiveError, CudaError; InvalidArgument (`run.broken`) after an exception that left
  /// a tick half done; whatever observers throw.
  Result advance(const Observers& observers = {}, std::stop_token stop = {});

  /// The same up to a limit of this call instead of the budget: to pause a run, or to go on beyond
  /// its budget. The schedule keeps what it planned for the budget of the run. Sweeps that are done
  /// already are no limit: the call gives what there is.
  /// @throws InvalidArgument also for a limit that no run can have
  Result advance_to(const Budget& limit, const Observers& observers = {},
                    std::stop_token stop = {});

  /// The best state so far, verified, as advance() would give it. Call it in an observer, or after
  /// advance() has thrown. The path of the run does not change. Without a state of a finite value
  /// it throws as advance() does. @throws ObjectiveError, CudaError
  Result result_so_far(Stop stop = Stop::unfinished);

  /// Saves the end of the last whole tick. @throws InvalidArgument (`run.broken`)
  void save(Archive& archive) const;
  /// Continues from an archive of a run of the same problem, schedule, options and replicas.
  void load(const Archive& archive);

  const Problem& problem() const noexcept;
  const Budget& budget() const noexcept;
  /// The backend of the run: another one than it was given where the plan says so.
  const OpenedBackend& backend() const noexcept;
  /// The states, between two calls of advance() or in an observer.
  ReplicaBatch& batch() noexcept;
  Queue& queue() noexcept;
  /// Seconds that the run had taken when a step was done, interpolated between looks at the clock,
  /// which are about 10 ms apart. Of steps before a load() the time of that.
  double seconds_at(std::uint64_t step) const;
  /// What contexts are made of, in tests and benches that do the work of a schedule by hand.
  RunCore& core() noexcept { return *core_; }

 private:
  std::unique_ptr<RunCore> core_;
};

}  // namespace kiln
