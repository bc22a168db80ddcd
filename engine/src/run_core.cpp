// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run_core.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/alarm.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/kernels/run/advance_tick.hpp"
#include "kiln/kernels/run/end_tick.hpp"
#include "kiln/kernels/run/gather_states.hpp"
#include "kiln/kernels/run/random_state.hpp"
#include "kiln/kernels/run/track_best.hpp"
#include "kiln/plan.hpp"

#include "commands/run_commands.hpp"
#include "executors/tick_player.hpp"
#include "plans/refused_batch.hpp"
#include "profile/instruments.hpp"
#include "refuse_ability.hpp"
#include "run_parts.hpp"
#include "run_scratch.hpp"
#include "telemetry/run_telemetry.hpp"
#include "watchdog/at_work.hpp"

namespace kiln {
namespace {

void require_promises(const Objective& objective, const BoundObjective& bound) {
  const std::string missing = objective.abilities().missing_in(bound);
  if (missing.empty()) return;
  throw InvalidArgument(
      "objective.ability",
      "objective '" + objective.name() + "' declares the ability " + missing +
          ", but its bound objective does not implement this ability",
      "Objective::abilities() must return interfaces() of the class that bind() creates");
}

}  // namespace

RunCore::RunCore(const Problem& problem, Schedule& schedule, const Budget& budget,
                 const RunOptions& options, OpenedBackend backend, std::shared_ptr<Queue> queue,
                 StageBegin* begin)
    : problem_(problem),
      schedule_(schedule),
      budget_(budget),
      limit_(budget),
      options_(options),
      queue_(std::move(queue)) {
  const auto began = Clock::now();
  const HostThreads threads(options.threads);
  if (options_.initial_states.empty()) options_.initial_states = problem.start.states;
  RunPlan plan = RunCore::plan(problem, schedule, budget, options, backend, false);
  if (!plan.fits()) plan = plan_run(problem, schedule, budget, options, std::move(backend));
  budget_ = limit_ = plan.budget;
  if (begin != nullptr) {  // the memory of all stages was required before the first
    earlier_ = std::move(begin->earlier);
    sweeps_after_ = begin->sweeps_after;
    reserve_bytes_ = begin->reserve_bytes;
    handed_ = std::move(begin->handed);
    options_.seed = stage_seed(options_.seed, earlier_.stage);
    plan.shape.seed = options_.seed;
  } else {
    require_memory(plan);
  }
  progress_ = std::make_unique<Progress>();
  progress_->device = plan.device;
  try {
    this->begin(plan);
  } catch (const OutOfDeviceMemory& error) {
    throw RefusedBatch(error, std::move(plan), error.fix_steps());
  }
  progress_->setup_s += seconds_since(began);
}

void RunCore::begin(const RunPlan& plan) {
  allocate(plan);
  const TraceRange range(tracer_, "kiln.setup");
  if (handed_) {
    take_over(*handed_);
  } else {
    draw_states(plan.needs.own_states);
    progress_->begins_with_values = !plan.needs.own_states;
    if (progress_->begins_with_values) progress_->first_values = first_values();
  }
  allocate_schedule();
  scratch_->fill();
  InitializeContext first(*this);
  schedule_.initialize(first);
  track_best();
  end_epoch();
  post_summary();
  wait_summary();
  schedule_.serves_ = this;
  handed_.reset();
}

RunCore::~RunCore() {
  detach_instruments();
  if (schedule_.serves_ == this) schedule_.serves_ = nullptr;
}

void RunCore::allocate(const RunPlan& plan) {
  const Objective& objective = *problem_.objective;
  opened_ = plan.opened;
  needs_ = plan.needs;
  room_to_give_up_ =
      plan.device.name == "cpu" && (plan.device.memory_free == 0 ||
                                    plan.bytes_needed() + plan.copy_bytes <= plan.bytes_usable());
  host_paced_ = schedule_paced() || objective.execution().pace == Pace::host;
  if (!queue_) queue_ = opened_.backend->make_queue();
  planned_ = plan.owned_bytes;
  if (!handed_) queue_->reserve(std::max(plan.bytes_needed(), reserve_bytes_));
  attach_instruments();
  if (handed_) {
    const MemoryScope scope(*queue_, MemoryOwner::batch);
    batch_ = std::move(handed_->batch);
    origin_ = std::move(handed_->origin);
    batch_->divide(plan.shape.groups, plan.shape.seed, origin_);
  } else {
    const MemoryScope scope(*queue_, MemoryOwner::batch);
    batch_ = std::make_unique<ReplicaBatch>(*queue_, objective.space(),
                                            layouts_of(objective, plan.needs), plan.shape);
    if (continues()) batch_->divide(plan.shape.groups, plan.shape.seed, origin_);
  }
  {
    const MemoryScope scope(*queue_, MemoryOwner::problem);
    objective_ = objective.bind(*queue_);
    objective_->prepare(*batch_, *queue_);
  }
  require_promises(objective, *objective_);
  evaluates_ = objective_->as<Evaluates>();
  sweeps_ = objective_->as<Sweeps>();
  if (options_.on_evaluation) watch_evaluations();
  allocate_own(plan);
  if (options_.commands.any()) commands_ = std::make_unique<RunCommands>(*this, options_.commands);
  make_player();
}

void RunCore::watch_evaluations() {
  Watchable* const watchable = objective_->as<Watchable>();
  if (watchable == nullptr) return;  // device code has no such moment
  auto mutex = std::make_shared<std::mutex>();
  watchable->watch(
      [this, mutex](const State& state, double value, std::span<const double> constraints) {
        Evaluation one;
        one.state = state;
        one.value = std::isfinite(value) ? problem_.units.objective_of_stored(value)
                                         : std::numeric_limits<double>::quiet_NaN();
        one.constraints.assign(constraints.begin(), constraints.end());
        const std::lock_guard lock(*mutex);
        options_.on_evaluation(one);
      });
}

// What own_bytes() counts, with the memory of the schedule.
void RunCore::allocate_own(const RunPlan& plan) {
  const Objective& objective = *problem_.objective;
  draw_naming_ = plan.draw_naming;
  inverse_scale_ = problem_.units.energy_of_stored.slope();
  scratch_ = std::make_unique<Scratch>(*queue_);
  RunControl control;
  control.tick_sweeps = needs_.sweeps_per_tick;
  if (handed_) control.best_key = control.noted_key = handed_->best_key;
  control_ = DeviceArray<RunControl>(*queue_, std::vector<RunControl>{control});
  if (objective.space().outputs() == 1) {
    telemetry_ =
        std::make_unique<RunTelemetry>(*queue_, *batch_, problem_.units, needs_,
                                       objective.sweep_cost(), host_paced_, options_.telemetry);
    if (continues()) {
      telemetry_->continue_from(handed_ ? std::move(handed_->incumbents) : IncumbentList{},
                                earlier_.sweeps, handed_ ? handed_->best_key : ~0ull);
    }
  }
  if (objective.space().outputs() > 1) {
    queue_->zero(batch_->energy().data, static_cast<std::size_t>(batch_->slots()) * sizeof(double));
  } else if (!sweeps_itself(objective, plan.needs)) {
    fallback_ = std::make_unique<Fallback>(*queue_, *batch_, plan.needs.heat_bath);
  }
}

void RunCore::allocate_schedule() {
  const MemoryScope scope(*queue_, MemoryOwner::schedule);
  AllocateContext context(*this);
  schedule_.allocate(context);
  if (schedule_.work_kind() != WorkKind::gradients || gradients_.size > 0) return;
  throw InvalidArgument(
      "schedule.work", "schedule '" + schedule_.name() + "' does not say where it counts gradients",
      "AllocateContext::count_work() in Schedule::allocate()");
}

void* RunCore::new_scratch(const std::string& name, const void* data, std::size_t bytes,
                           bool saved) {
  return scratch_->add(name, data, bytes, saved);
}

void RunCore::read_bytes(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0 && !scratch_->read(host, device, bytes)) queue_->download(host, device, bytes);
}

void RunCore::draw_states(bool left_to_schedule) {
  if (!options_.initial_states.empty()) batch_->write_states(options_.initial_states);
  if (left_to_schedule) return;
  if (options_.initial_states.empty()) return redraw({});
  update_energies({});
}

void RunCore::redraw(View1<const std::uint32_t> active_rungs, std::uint32_t step_offset) {
  // With shared noise first states differ: those of a run by planes.
  const bool by_words = draw_naming_ == DrawNaming::words;
  const DrawNaming naming = by_words ? DrawNaming::words : DrawNaming::planes;
  std::int64_t first = 0;
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    const StateBlock block = batch_->state(b);
    queue_->launch(RandomState{block, first, batch_->rung_of(), active_rungs, batch_->draw_ids(),
                               control(), naming, step_offset});
    first += block.variables;
  }
  update_energies(active_rungs);
}

void RunCore::restore_best(View1<const std::uint32_t> active_rungs, std::uint32_t step_offset) {
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    queue_->launch(GatherStates{batch_->best_state(b),
                                batch_->state(b),
                                {},
                                batch_->rung_of(),
                                active_rungs,
                                control(),
                                step_offset});
  }
  update_energies(active_rungs);
}

void RunCore::evaluate(View1<double> energy, View1<const std::uint32_t> active_rungs,
                       View2<double> constraint) {
  if (evaluates_ == nullptr) refuse_ability(*problem_.objective, Evaluates::interface_name);
  evaluates_->evaluate(EvaluateArgs{*batch_, energy, active_rungs, control(), constraint}, *queue_);
}

void RunCore::update_energies(View1<const std::uint32_t> active_rungs) {
  if (evaluates_ != nullptr) evaluate(batch_->energy(), active_rungs, {});
}

const FrontBox& RunCore::front_box() {
  if (box_.box.ideal.empty()) box_ = box_of(problem_, *queue_);
  return box_.box;
}

TrackBest RunCore::best_kernel() {
  TrackBest kernel;
  kernel.n_blocks = batch_->n_blocks();
  for (int b = 0; b < kernel.n_blocks; ++b) {
    kernel.state[b] = batch_->state(b);
    kernel.best[b] = batch_->best_state(b);
  }
  kernel.replicas = batch_->replicas();
  kernel.energy = batch_->energy();
  kernel.best_energy = batch_->best_energy();
  kernel.best_step = batch_->best_step();
  kernel.improved = batch_->improved();
  kernel.replica_of = batch_->replica_of();
  kernel.rung_of = batch_->rung_of();
  kernel.control = control();
  return kernel;
}

AdvanceTick RunCore::advance_kernel() {
  return {control(), needs_.sweeps_per_tick, telemetry_ ? telemetry_->best_log() : BestLog{},
          commands_ ? commands_->word() : nullptr};
}

void RunCore::track_best() { queue_->launch(best_kernel()); }

void RunCore::end_tick() { queue_->launch(advance_kernel()); }

void RunCore::end_tick_of_no_steps() {
  AdvanceTick advance = advance_kernel();
  advance.sweeps = 0;
  queue_->launch(advance);
}

EndTick RunCore::end_kernel() {
  tick_finished_ = true;
  return {best_kernel(), advance_kernel()};
}

void RunCore::finish_tick() { queue_->launch(end_kernel()); }

// Ticks that may end in the middle are tried, and taken back: those that call what may fail, and on
// the CPU those that are too long to wait for when the run is to end.
bool RunCore::try_ticks(std::int64_t count, const Alarm& alarm) {
  constexpr double long_s = 0.05;
  Progress& p = *progress_;
  // The host's are as long as their models and calls, whatever the last took.
  const bool may_be_long =
      host_paced_ || p.tick_s < 0 || static_cast<double>(count) * p.tick_s > long_s;
  // Calls that watch for the stop end by themselves, and the tick soon after them.
  const bool calls_end = problem_.watches_stop() && !schedule_paced();
  const bool gives_up = room_to_give_up_ && may_be_long && !calls_end;
  std::optional<Archive> before;
  const auto copy_begin = Clock::now();
  if (host_paced_ || gives_up) save(before.emplace(*queue_));
  p.copies_s += seconds_since(copy_begin);
  p.whole = false;
  const auto begin = Clock::now();
  try {
    const ArmedQueue armed(*queue_, gives_up ? &alarm : nullptr);
    const AtWork work(!host_paced_);
    const TraceRange range(tracer_, "kiln.ticks");
    profiles() ? enqueue_profiled(count) : enqueue_ticks(count);
  } catch (const GaveUp&) {
    go_back(*before);
    p.tick_s = std::max(p.tick_s, seconds_since(begin) / static_cast<double>(count));
    return false;
  } catch (...) {
    if (before) go_back(*before);
    throw;
  }
  p.whole = true;
  return true;
}

void RunCore::require_whole() const {
  if (progress_->whole) return;
  throw InvalidArgument("run.broken", "the run cannot continue: an exception ended its last tick",
                        "a run whose last advance() threw no exception", "load() a saved run");
}

void RunCore::require_idle() const {
  if (!advances_) return;
  throw InvalidArgument("run.busy", "load() was called by a function that advance() calls",
                        "a call between two calls of advance()",
                        "stop the run by Next::stop, and call load() after advance()");
}

}  // namespace kiln
