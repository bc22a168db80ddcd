// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kiln/alarm.hpp"
#include "kiln/kernels/run/track_best.hpp"
#include "kiln/pipelines/stages.hpp"
#include "kiln/plan.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"

#include "executors/tick_player.hpp"
#include "pipelines/handed.hpp"

namespace kiln {

class CallLimit;
class RunCommands;
class RunTelemetry;

/// A run as the engine sees it; Run and the contexts of its schedule are its facades.
class RunCore {
 public:
  RunCore(const Problem& problem, Schedule& schedule, const Budget& budget,
          const RunOptions& options, OpenedBackend backend, std::shared_ptr<Queue> queue = nullptr,
          StageBegin* begin = nullptr);
  ~RunCore();
  RunCore(const RunCore&) = delete;
  RunCore& operator=(const RunCore&) = delete;

  // For Run.
  /// @param own  the limit of a stage that hands its replicas on
  /// @return nothing where that limit ended the stage: the run then stands at its end
  std::optional<Result> advance(const Budget& limit, const Observers& observers,
                                std::stop_token stop, const StageLimit* own = nullptr);
  Result result_so_far(Stop stop);
  /// The next call of advance() is the last thing that is asked of the run.
  void end_with_advance() noexcept { ends_here_ = true; }
  void settle();
  void save(Archive& archive) const;
  void load(const Archive& archive);
  /// The naming of the run that saved an archive.
  /// @throws InvalidArgument for one that this version does not know.
  static DrawNaming naming_of(const Archive& archive);
  /// Whether an archive has a run at all.
  static bool is_run(const Archive& archive);
  /// Refuses options with a naming that this run cannot have, or with which it would have other
  /// replicas than an archive.
  void require_naming(const RunOptions& options, const Archive& archive) const;
  /// Refuses an archive of a run with another number of replicas.
  static void require_replicas(const Archive& archive, std::int64_t replicas);
  /// @throws InvalidArgument inside an observer or another function that advance() calls.
  void require_idle() const;
  /// The queue, for a run that takes the place of this one; nothing waits on it any more.
  std::shared_ptr<Queue> share_queue();
  /// The run cannot continue.
  void give_up() noexcept;

  // For stages.
  const EarlierStages& earlier() const noexcept { return earlier_; }
  /// What this stage did, as far as it came.
  StageResult stage_result() const;
  /// Leaves the batch to the next stage, and ends.
  StageBegin hand_on();
  /// "2/2 parallel-tempering"; empty without stages.
  std::string stage_text() const;
  /// Seconds of this stage.
  double stage_s() const noexcept;
  std::vector<std::int32_t> origins() const { return origin_.download(); }

  // For checkpoints.
  /// What must be equal in a run that continues, name and value.
  std::vector<std::pair<std::string, std::string>> identity() const;
  /// How a run stands with the clock and its budget, which no archive has.
  struct Standing {
    double run_s = 0;
    double to_best_s = 0;
    bool ends_with_budget = false;
  };
  Standing standing() const;
  /// After load(): takes over how the saved run stood.
  void stand(const Standing& then);
  /// The rungs of the slots, sorted within each group: the same at any time of a run.
  std::vector<std::int32_t> rungs();
  /// Checks what was loaded, before a kernel follows its indices, and energies by evaluating the
  /// states.
  /// @param rungs_before  rungs(), before the load
  /// @throws CheckpointError, after which the run is broken
  void require_sound(const std::vector<std::int32_t>& rungs_before, std::uint64_t steps);
  void require_energies();
  /// Steps at the end of the last whole tick.
  std::uint64_t steps();

  /// Device memory of a run of this plan beside batch and objective. Nothing is allocated: the
  /// schedule allocates on a queue that only counts.
  struct OwnBytes {
    OwnedBytes needed;         ///< of the engine and of the schedule, at the most of both
    std::uint64_t copied = 0;  ///< the part of it in the copy of a run
  };
  /// plan_run(), if it is `for_reading`. Otherwise the free memory may stand at 0 because idle
  /// memory suffices, and scratch_fixed_bytes may be too large, which nobody asks of a plan that
  /// fits.
  static RunPlan plan(const Problem& problem, Schedule& schedule, const Budget& budget,
                      const RunOptions& options, OpenedBackend backend, bool for_reading);
  static OwnBytes own_bytes(const Problem& problem, Schedule& schedule, const RunPlan& plan);

  // For the contexts; documented there.
  const Problem& problem() const noexcept { return problem_; }
  Schedule& schedule() const noexcept { return schedule_; }
  const Budget& budget() const noexcept { return budget_; }
  const OpenedBackend& backend() const noexcept { return opened_; }
  ReplicaBatch& batch() noexcept { return *batch_; }
  Queue& queue() noexcept { return *queue_; }
  BoundObjective& objective() noexcept { return *objective_; }
  RunControl* control() noexcept { return control_.data(); }
  const RunOptions& options() const noexcept { return options_; }
  DrawNaming draw_naming() const noexcept { return draw_naming_; }
  double inverse_scale() const noexcept { return inverse_scale_; }
  bool ends_with_budget() const noexcept { return ends_with_budget_; }
  bool tick_may_follow(std::uint64_t ticks) const noexcept {
    return place_.may_be_multiple_of(ticks);
  }
  std::uint64_t ticks_until(std::uint64_t ticks) const noexcept {
    return place_.until_multiple_of(ticks);
  }
  std::int64_t ticks_at_once() const noexcept { return launch_.at_once; }
  void enqueued(std::int64_t ticks);
  void refuse_more(std::string reason) { launch_.refusal = std::move(reason); }
  bool counts_only() const noexcept { return counts_only_; }
  void* new_scratch(const std::string& name, const void* data, std::size_t bytes, bool saved);
  void check_saved(const std::string& name, std::function<bool(std::span<const std::byte>)> holds);
  void read_bytes(void* host, const void* device, std::size_t bytes);
  bool continues() const noexcept { return earlier_.stage > 0; }
  void show_beta(View1<const double> beta) noexcept { shown_beta_ = beta; }
  void hand_betas(View1<const double> betas) noexcept { betas_to_hand_ = betas; }
  void count_work(View1<const std::uint64_t> gradients) noexcept { gradients_ = gradients; }
  void redraw(View1<const std::uint32_t> active_rungs, std::uint32_t step_offset = 0);
  void restore_best(View1<const std::uint32_t> active_rungs, std::uint32_t step_offset = 0);
  void sweep(View1<const double> beta, std::uint32_t step_offset, bool energies_needed,
             SweepRule rule, View1<const double> parameter,
             View1<const std::uint32_t> active_rungs);
  void sweep_in_row(View2<const double> beta, bool energies_needed, SweepRule rule);
  SweepArgs row_of_sweeps(View2<const double> beta, bool energies_needed, SweepRule rule);
  std::optional<MetropolisSweep> sweep_kernel(View2<const double> beta, SweepRule rule);
  void evaluate(View1<double> energy, View1<const std::uint32_t> active_rungs,
                View2<double> constraint);
  void track_best();
  void end_tick();
  void end_tick_of_no_steps();
  void finish_tick();
  AdvanceTick advance_kernel();
  EndTick end_kernel();  // finish_tick() is left to the caller
  const FrontBox& front_box();
  std::int64_t box_evaluations() const noexcept { return box_.evaluations; }
  const std::vector<double>& best_energies() const noexcept { return best_energies_; }
  const std::vector<std::int64_t>& slots_of_replicas() const noexcept { return holder_; }
  double seconds_at(std::uint64_t step) const;
  /// Null for objectives of several values.
  RunTelemetry* telemetry() const noexcept { return telemetry_.get(); }

 private:
  struct Progress;
  struct Fallback;
  struct Instruments;
  struct Loop;
  class Scratch;
  /// Ticks that one call of the schedule enqueues.
  struct TickLaunch {
    std::int64_t at_once = 1, ticks = 1;
    std::string refusal;  ///< why it is one tick alone
  };
  RunCore(const Problem& problem, Schedule& schedule, std::unique_ptr<Queue> queue,
          const RunPlan& plan);
  void begin(const RunPlan& plan);
  void allocate(const RunPlan& plan);
  void allocate_own(const RunPlan& plan);
  void allocate_schedule();
  void watch_evaluations();
  void draw_states(bool left_to_schedule);
  double first_values() const;
  void attach_instruments();
  void detach_instruments() noexcept;
  bool profiles() const noexcept;
  void enqueue_profiled(std::int64_t count);
  /// Adds the profile to a result, if one is given.
  void collect_profile(Result* result);
  DeviceStop apply_limits();
  bool take_limits(const Budget& limit);
  std::optional<std::uint64_t> counted_limit() const noexcept;
  std::int64_t gradients_done();
  bool draws_suffice();
  std::uint64_t sweeps_of_gain() const;
  bool gains_too_little();
  std::optional<Stop> judge_run(bool begins);
  void collect_summary(Result& result) const;
  void judge_draws(Result& result) const;
  std::int64_t ticks_to_look() const;
  void open_limits();
  std::int64_t whole_ticks_left() const;
  TrackBest best_kernel();
  void capture_tick();
  void make_player();
  /// One tick, or up to `at_once` where the schedule enqueues them as one launch. Gives how many.
  std::int64_t enqueue_tick(const TickPlace& place = {}, std::int64_t at_once = 1);
  bool try_ticks(std::int64_t count, const Alarm& alarm);
  void require_whole() const;
  /// By the schedule itself, not only by the objective.
  bool schedule_paced() const noexcept { return needs_.pacing != Pacing::device; }
  void go_back(const Archive& archive);
  void require_places();
  void require_states();
  [[noreturn]] void refuse_loaded(const std::string& what);
  RunSummary wait_summary();
  void take_over(Handed& handed);
  static bool ends_stage(Stop reason, const StageLimit& own);
  void finish_stage(Stop reason);
  bool cuts_tick(Stop stop) const;
  Result conclude(Stop stop, const Observers& observers, double earlier_s);
  Result conclude_on_copy(Stop stop, const Alarm& alarm, const Observers& observers,
                          double earlier_s);
  /// @param records  whether epochs that end are recorded
  void enqueue_ticks(std::int64_t count, bool records = true);
  void end_epoch();
  void time_incumbents();
  void collect_incumbents(Result& result);
  void write_summary(const SummaryTarget& target);
  void post_summary();
  void fallback_sweep(View1<const double> beta, std::uint32_t step_offset,
                      View1<const std::uint32_t> active_rungs);
  void fallback_heat_bath(View1<const double> beta, std::uint32_t step_offset,
                          View1<const std::uint32_t> active_rungs);
  /// Computes the energies of the states if they have one: objectives of several values have none.
  void update_energies(View1<const std::uint32_t> active_rungs);
  /// The value that ends the run: the target, or the bound of the problem if that is reached
  /// earlier.
  std::optional<double> goal() const;
  Stop stop_at(DeviceStop stop) const;
  TickPlayer::Look look_at(double now_s, std::int64_t max_ticks) const;
  Stop loop(Loop& loop);
  HoldPoint hold_point() const;
  void release_hold();
  /// Applies commands between two ticks. True: the run is to end.
  bool take_commands(Loop& loop);
  /// Asks all observers. Gives the first that wants to stop, or null.
  const Observer* report(const RunSummary& summary, double earlier_s, const Observers& observers);
  /// Sweeps of each replica when the best state, of this energy, was found.
  std::int64_t sweeps_of_best(double energy) const;
  Stop stop_by(const Observer& observer);
  Result collect(Stop stop, const RunSummary& last);
  MemoryMap memory_map() const;
  void read_best();
  void collect_solutions(Result& result);
  FrontCandidates front_candidates();
  void collect_front(Result& result);

  const Problem& problem_;
  Schedule& schedule_;
  Budget budget_;  // of the run
  Budget limit_;   // of this call of advance()
  RunOptions options_;
  OpenedBackend opened_;
  Needs needs_;
  std::shared_ptr<Queue> queue_;              // before everything that lives on it
  std::unique_ptr<Instruments> instruments_;  // null: nothing watches the launches
  Tracer* tracer_ = nullptr;
  std::unique_ptr<ReplicaBatch> batch_;
  std::unique_ptr<BoundObjective> objective_;
  Evaluates* evaluates_ = nullptr;  // the ability of objective_
  Sweeps* sweeps_ = nullptr;
  DeviceArray<RunControl> control_;
  std::unique_ptr<Fallback> fallback_;
  std::unique_ptr<Scratch> scratch_;
  std::unique_ptr<RunTelemetry> telemetry_;
  std::unique_ptr<TickPlayer> player_;
  std::unique_ptr<RunCommands> commands_;  // null where none can come
  std::unique_ptr<Progress> progress_;
  EarlierStages earlier_;
  std::int64_t sweeps_after_ = 0;  // planned for later stages
  std::uint64_t reserve_bytes_ = 0;
  std::unique_ptr<Handed> handed_;    // until begin() has taken it over
  DeviceArray<std::int32_t> origin_;  // [slots], from the second stage on
  View1<const double> shown_beta_, betas_to_hand_;
  View1<const std::uint64_t> gradients_;  // that the schedule counts
  ProblemBox box_;                        // once requested
  std::vector<double> best_energies_;     // of the last result, [replicas]
  std::vector<std::int64_t> holder_;      // of the last result, [replicas]: the slot of each
  OwnedBytes planned_;
  double inverse_scale_ = 1;
  DrawNaming draw_naming_ = DrawNaming::words;
  bool host_paced_ = false;
  bool room_to_give_up_ = false;  // on the CPU, for the copy that abandoning a tick needs
  bool counts_only_ = false;
  bool ends_here_ = false;
  bool ends_with_budget_ = false;
  bool all_ticks_whole_ = true;  // so far: steps are ticks times sweeps_per_tick
  TickPlace place_;              // of the tick that is being enqueued
  TickLaunch launch_;            // of the last call of the schedule
  bool loaded_ = false;
  // Sweeps after which the host judges the draws, or the gain.
  std::uint64_t next_look_ = ~0ull, next_gain_look_ = ~0ull;
  std::int64_t looks_ = 0;       // at draws, so far
  bool sweeps_by_work_ = false;  // the work limit, and no number of sweeps, ends this call
  bool tick_finished_ = false;   // by the schedule, while a tick is enqueued
  bool advances_ = false;        // advance() has not returned
};

}  // namespace kiln
