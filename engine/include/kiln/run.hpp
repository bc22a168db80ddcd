// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/evaluations.hpp"
#include "kiln/export.hpp"
#include "kiln/objective.hpp"
#include "kiln/observer.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/result.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

struct RunPlan;

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
  /// of the problem (Problem::known_states), else random ones.
  std::vector<State> initial_states = {};
  /// Called with each value of a host objective as soon as it is there, the first ones included:
  /// from any thread, one call at a time. Study and batch are not known then. Of several objectives
  /// with those that a schedule of few evaluations asks for, as soon as their batch is there. What
  /// it throws ends the run.
  std::function<void(const Evaluation&)> on_evaluation = {};
};

/// One problem, one schedule, one batch on one device, from planning to result. Most programs use
/// Engine::run; a Run by itself can be continued, saved and loaded.
class KILN_API Run {
 public:
  /// Plans and allocates everything (the problem and the schedule must outlive the run), draws the
  /// first states and lets the schedule start.
  /// @throws InvalidArgument, NoDevice, NotCompiled, OutOfDeviceMemory, ...
  Run(const Problem& problem, Schedule& schedule, const Budget& budget, const RunOptions& options,
      OpenedBackend backend);
  Run(Problem&&, Schedule&, const Budget&, const RunOptions&, OpenedBackend) = delete;
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Runs ticks until the budget (given now; it may be larger than at first), an observer or the
  /// stop token ends it, and gives the best state so far, verified.
  ///
  /// The run goes on from the end of its last whole tick, so that it takes the same path wherever
  /// it is cut. The rest of a tick that the sweep limit allows, and the descent after a time limit
  /// or an interruption, are made on a copy: the result counts them, the run forgets them. An
  /// exception leaves the end of a whole tick, too, where the ticks wait for the host. On the CPU a
  /// tick or a descent that takes longer than the limit or the stop allows is given up: the call
  /// returns within 0.3 s of either, unless one evaluation takes longer than that.
  /// @throws ObjectiveError, CudaError; InvalidArgument (`run.broken`) after an exception that left
  /// a tick half done; whatever observers throw.
  Result advance(const Budget& budget, const Observers& observers = {}, std::stop_token stop = {});

  /// The best state so far, verified, as advance() would give it. Call it in an observer, or after
  /// advance() has thrown. The path of the run does not change. Without a state of a finite value
  /// it throws as advance() does. @throws ObjectiveError, CudaError
  Result result_so_far(Stop stop = Stop::unfinished);

  /// Saves the end of the last whole tick. @throws InvalidArgument (`run.broken`)
  void save(Archive& archive) const;
  /// Continues from an archive of a run of the same problem, schedule, options and replicas.
  void load(const Archive& archive);

  /// Device memory of a run of this plan beside batch and objective. Nothing is allocated: the
  /// schedule starts on a queue that only counts.
  struct OwnBytes {
    std::uint64_t needed = 0;  ///< of the engine and of the schedule
    std::uint64_t copied = 0;  ///< what of it is in the copy of a run
  };
  static OwnBytes own_bytes(const Problem& problem, Schedule& schedule, const RunPlan& plan);

  // For schedules.
  /// Whether this run only counts what start() allocates: values on its device mean nothing, and
  /// nothing is enqueued after start(). A schedule that allocates later, or as it finds values to
  /// be, allocates then as much as that may become.
  bool counts_only() const noexcept { return counts_only_; }
  const Problem& problem() const noexcept { return problem_; }
  const Budget& budget() const noexcept { return budget_; }
  /// The backend of the run: another one than it was given where the plan says so.
  const OpenedBackend& backend() const noexcept { return opened_; }
  ReplicaBatch& batch() noexcept { return *batch_; }
  Queue& queue() noexcept { return *queue_; }
  RunControl* control() noexcept { return control_.data(); }
  /// Number of initial states, of the user or known of the problem; 0: replicas start at random.
  std::size_t given_states() const noexcept { return options_.initial_states.size(); }
  /// Energy per unit of stored energy: what betas are multiplied by.
  double inverse_scale() const noexcept { return inverse_scale_; }

  /// Device memory that is the schedule's own, filled from the host. It belongs to the run: it is
  /// freed with it, and saved and restored under its name. Call in start() only; small arrays lie
  /// together and go up in one copy, so they are filled when start() has returned.
  /// @throws InvalidArgument if the name is taken.
  template <class T>
  View1<T> scratch(const std::string& name, const std::vector<T>& initial) {
    static_assert(std::is_trivially_copyable_v<T>);
    void* memory = new_scratch(name, initial.data(), initial.size() * sizeof(T));
    return {static_cast<T*>(memory), static_cast<std::int64_t>(initial.size())};
  }

  /// The same, filled with zero bytes.
  template <class T>
  View1<T> scratch_zeros(const std::string& name, std::int64_t size) {
    static_assert(std::is_trivially_copyable_v<T>);
    void* memory = new_scratch(name, nullptr, static_cast<std::size_t>(size) * sizeof(T));
    return {static_cast<T*>(memory), size};
  }

  /// Values in device memory, copied to the host; waits. What scratch holds in small arrays is
  /// copied at once when a report first asks for one of them.
  template <class T>
  std::vector<std::remove_const_t<T>> read(View1<T> view) {
    using Value = std::remove_const_t<T>;
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> values(static_cast<std::size_t>(view.size));
    read_bytes(values.data(), view.data, values.size() * sizeof(Value));
    return values;
  }

  /// New uniform states for the slots of rungs whose flag is set (all, if the view is empty), and
  /// their energies.
  void redraw(View1<const std::uint32_t> only);
  /// Puts slots of rungs whose flag is set back into the best state that they were seen in.
  void restore_best(View1<const std::uint32_t> only);
  /// One sweep of all replicas: by the objective's own sweep, else by proposals and evaluations.
  /// `step_offset` numbers the sweeps of a tick from 0. Heat bath must be among Needs, and so must
  /// parameters: `parameter` has the lambda of each rung; empty: that of the problem. Slots of
  /// rungs whose flag in `only` is 0 are left alone; empty: all are swept.
  void sweep(View1<const double> beta, std::uint32_t step_offset, bool energies_needed,
             SweepRule rule = SweepRule::metropolis, View1<const double> parameter = {},
             View1<const std::uint32_t> only = {});
  /// Energies of the present states, for slots of rungs whose flag is set (all, if the view is
  /// empty), and the values of the constraints where these are wanted: [constraints][slots].
  void evaluate(View1<double> energy, View1<const std::uint32_t> only,
                View2<double> constraint = {});
  /// Values of an objective that has several; batch and control of the run are filled in.
  void evaluate_objectives(ObjectivesArgs args);
  /// box_of() the problem, made when it is first asked for: where the true front is not known, that
  /// takes evaluations.
  const FrontBox& front_box();
  /// How many it has taken so far.
  std::int64_t box_evaluations() const noexcept { return box_.evaluations; }
  /// An evaluation whose values the schedule has read, for RunOptions::on_evaluation.
  void tell_evaluation(const Evaluation& one) const;
  /// What hmc_transition() is to do; see TransitionArgs.
  struct Transition {
    View1<const double> beta;
    View1<const double> parameter = {};
    MetricView metric;
    View1<const HmcTuning> tuning;
    TransitionStatistics statistics;
    bool no_u_turn = false;
  };
  /// In Schedule::start: says which transitions are to come, see
  /// BoundObjective::prepare_transitions.
  void prepare_transitions(bool no_u_turn);
  /// One Hamiltonian transition of every chain. The objective must have the ability (`Needs`).
  void hmc_transition(const Transition& transition, std::uint32_t step_offset);
  /// Brings chains of rungs of infinite beta down to the minima below them by their gradients, see
  /// BoundObjective::descend(); does nothing where the objective has none. A chain ends where a
  /// step gains less than `enough`, or after `steps`. prepare_descent() is for Schedule::start.
  void prepare_descent();
  void descend(View1<const double> beta, std::uint32_t step_offset,
               View1<const double> parameter = {}, double enough = 0, std::int32_t steps = 100);
  /// See BoundObjective::gradient().
  View2<double> gradient() const noexcept;
  View1<double> gradient_weight() const noexcept;
  /// See BoundObjective::pairwise_model().
  const PairwiseView* pairwise_model() const noexcept;
  /// See BoundObjective::components().
  EnergyComponents components() noexcept;
  /// In Schedule::report: the best energy of each replica [replicas], stored units. The same
  /// numbers that the solutions were chosen by, so nothing is copied for them again.
  const std::vector<double>& best_energies() const noexcept { return best_energies_; }
  /// In Schedule::report: values of slots in the order of the replicas, which differ where a
  /// schedule moves replicas between slots. Padding is left out.
  template <class T>
  std::vector<T> by_replica(const std::vector<T>& of_slots) const {
    std::vector<T> values;
    values.reserve(holder_.size());
    for (const std::int64_t slot : holder_)
      values.push_back(of_slots[static_cast<std::size_t>(slot)]);
    return values;
  }
  void track_best();
  /// Says which temperatures the report shows.
  void show_beta(View1<const double> beta) noexcept { shown_beta_ = beta; }
  /// Seconds that the run had taken when a step was done, interpolated between looks at the clock,
  /// which are about 10 ms apart. Of steps before a load() the time of that.
  double seconds_at(std::uint64_t step) const;
  /// In Schedule::enqueue: what follows is too expensive to be given up with the tick.
  void keep_tick() noexcept;
  /// Ends a tick that Schedule::finish enqueued; the engine ends those of Schedule::enqueue itself.
  void end_tick();
  /// Forgets the captured tick: its launches changed.
  void recapture() noexcept;

 private:
  struct Progress;
  struct Fallback;
  class Scratch;
  void read_bytes(void* host, const void* device, std::size_t bytes);
  void* new_scratch(const std::string& name, const void* data, std::size_t bytes);
  Run(const Problem& problem, Schedule& schedule, std::unique_ptr<Queue> queue,
      const RunPlan& plan);
  void allocate(const RunPlan& plan);
  void allocate_own(const RunPlan& plan);
  void watch_evaluations();
  void begin_states(bool left_to_schedule);
  double first_values() const;
  DeviceStop apply_limits();
  void open_limits();
  std::int64_t whole_ticks_left() const;
  void capture_tick();
  void enqueue_tick();
  bool try_ticks(std::int64_t count, const Alarm& alarm);
  void require_whole() const;
  void go_back(const Archive& archive);
  RunSummary wait_summary();
  bool cuts_tick(Stop stop) const;
  Result conclude(Stop stop, const Observers& observers, double earlier_s);
  Result conclude_on_copy(Stop stop, const Alarm& alarm, const Observers& observers,
                          double earlier_s);
  void enqueue_ticks(std::int64_t count);
  void post_summary();
  void fallback_sweep(View1<const double> beta, std::uint32_t step_offset,
                      View1<const std::uint32_t> only);
  void fallback_heat_bath(View1<const double> beta, std::uint32_t step_offset,
                          View1<const std::uint32_t> only);
  /// The value that ends the run: the target, or the bound of the problem where that comes before.
  std::optional<double> goal() const;
  Stop stop_at(DeviceStop stop) const;
  Stop loop(const Budget& budget, const Observers& observers, const Alarm& alarm);
  bool report(const RunSummary& summary, double earlier_s, const Observers& observers);
  Result collect(Stop stop, const RunSummary& last);
  void read_best();
  void collect_solutions(Result& result);
  void collect_front(Result& result);

  const Problem& problem_;
  Schedule& schedule_;
  Budget budget_;
  RunOptions options_;
  OpenedBackend opened_;
  std::unique_ptr<Queue> queue_;  // before everything that lives on it
  std::unique_ptr<ReplicaBatch> batch_;
  std::unique_ptr<BoundObjective> objective_;
  DeviceArray<RunControl> control_;
  std::unique_ptr<Fallback> fallback_;
  std::unique_ptr<Scratch> scratch_;
  std::unique_ptr<TickGraph> graph_;
  std::unique_ptr<Progress> progress_;
  View1<const double> shown_beta_;
  ProblemBox box_;                     // once it was asked for
  std::vector<double> best_energies_;  // of the last result, [replicas]
  std::vector<std::int64_t> holder_;   // of the last result, [replicas]: the slot of each
  std::uint32_t sweeps_per_tick_ = 1;
  std::int64_t default_sweeps_ = 0;
  double inverse_scale_ = 1;
  bool host_paced_ = false;
  bool schedule_paced_ = false;   // by the schedule itself
  bool room_to_give_up_ = false;  // on the CPU, for the copy that this takes
  bool descends_at_end_ = false;
  bool counts_only_ = false;
};

}  // namespace kiln
