// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/run.hpp"

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
#include "kiln/kernels/run/accept_move.hpp"
#include "kiln/kernels/run/advance_tick.hpp"
#include "kiln/kernels/run/gather_states.hpp"
#include "kiln/kernels/run/propose_move.hpp"
#include "kiln/kernels/run/random_state.hpp"
#include "kiln/kernels/run/summarize.hpp"
#include "kiln/kernels/run/track_best.hpp"
#include "kiln/plan.hpp"

#include "run_parts.hpp"
#include "run_scratch.hpp"

namespace kiln {
Run::Run(const Problem& problem, Schedule& schedule, const Budget& budget,
         const RunOptions& options, OpenedBackend backend)
    : problem_(problem), schedule_(schedule), budget_(budget), options_(options) {
  const auto begin = Clock::now();
  if (options_.initial_states.empty()) options_.initial_states = problem.known_states;
  const RunPlan plan = plan_run(problem, schedule, budget, options, std::move(backend));
  require_memory(plan);
  progress_ = std::make_unique<Progress>();
  progress_->device = plan.device;
  allocate(plan);
  begin_states(plan.needs.own_states);
  progress_->begins_with_values = !plan.needs.own_states;
  if (progress_->begins_with_values) progress_->first_values = first_values();
  schedule_.start(*this);
  scratch_->fill();
  schedule_.begin(*this);
  track_best();
  post_summary();
  wait_summary();
  progress_->setup_s = seconds_since(begin);
  schedule_.serves_ = this;
}

Run::~Run() {
  if (schedule_.serves_ == this) schedule_.serves_ = nullptr;
}

void Run::allocate(const RunPlan& plan) {
  const Objective& objective = *problem_.objective;
  opened_ = plan.opened;
  default_sweeps_ = plan.needs.default_sweeps;
  room_to_give_up_ =
      plan.device.name == "cpu" && (plan.device.memory_free == 0 ||
                                    plan.bytes_needed() + plan.copy_bytes <= plan.bytes_usable());
  descends_at_end_ = plan.needs.descends_at_end;
  schedule_paced_ = plan.needs.host_paced;
  host_paced_ = schedule_paced_ || objective.abilities().pace == Pace::host;
  queue_ = opened_.backend->make_queue();
  batch_ = std::make_unique<ReplicaBatch>(*queue_, objective.space(),
                                          layouts_of(objective, plan.needs), plan.shape);
  objective_ = objective.bind(*queue_);
  objective_->prepare(*batch_, *queue_);
  if (options_.on_evaluation) watch_evaluations();
  allocate_own(plan);
}

void Run::watch_evaluations() {
  auto mutex = std::make_shared<std::mutex>();
  objective_->watch(
      [this, mutex](const State& state, double value, std::span<const double> constraints) {
        Evaluation one;
        one.state = state;
        one.value = std::isfinite(value) ? problem_.objective_of_stored(value)
                                         : std::numeric_limits<double>::quiet_NaN();
        one.constraints.assign(constraints.begin(), constraints.end());
        const std::lock_guard lock(*mutex);
        options_.on_evaluation(one);
      });
}

// What own_bytes() counts, with the memory of the schedule.
void Run::allocate_own(const RunPlan& plan) {
  const Objective& objective = *problem_.objective;
  sweeps_per_tick_ = plan.needs.sweeps_per_tick;
  inverse_scale_ = problem_.energy_of_stored.factor;
  scratch_ = std::make_unique<Scratch>(*queue_);
  RunControl control;
  control.tick_sweeps = sweeps_per_tick_;
  control_ = DeviceArray<RunControl>(*queue_, std::vector<RunControl>{control});
  if (objective.space().outputs() > 1) {
    queue_->zero(batch_->energy().data, static_cast<std::size_t>(batch_->slots()) * sizeof(double));
  } else if (!sweeps_itself(objective, plan.needs)) {
    fallback_ = std::make_unique<Fallback>(*queue_, *batch_, plan.needs.heat_bath);
  }
}

void* Run::new_scratch(const std::string& name, const void* data, std::size_t bytes) {
  return scratch_->add(name, data, bytes);
}

void Run::read_bytes(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0 && !scratch_->read(host, device, bytes)) queue_->download(host, device, bytes);
}

void Run::begin_states(bool left_to_schedule) {
  if (!options_.initial_states.empty()) batch_->write_states(options_.initial_states);
  if (left_to_schedule) return;
  if (options_.initial_states.empty()) return redraw({});
  evaluate(batch_->energy(), {});
}

// Only of objectives whose values are all that is known of them.
double Run::first_values() const {
  const bool sums = problem_.integral || problem_.rounding > 0;
  if (sums || problem_.objectives || !options_.initial_states.empty()) return 0;
  std::vector<double> values = batch_->read_energies(false);
  values.resize(static_cast<std::size_t>(batch_->replicas()));
  for (double& value : values) value = std::abs(problem_.objective_of_stored(value));
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void Run::redraw(View1<const std::uint32_t> only) {
  std::int64_t first = 0;
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    const StateBlock block = batch_->state(b);
    queue_->launch(RandomState{block, first, batch_->rung_of(), only, batch_->names(), control()});
    first += block.variables;
  }
  evaluate(batch_->energy(), only);
}

void Run::restore_best(View1<const std::uint32_t> only) {
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    queue_->launch(GatherStates{
        batch_->best_state(b), batch_->state(b), {}, batch_->rung_of(), only, control()});
  }
  evaluate(batch_->energy(), only);
}

void Run::evaluate(View1<double> energy, View1<const std::uint32_t> only,
                   View2<double> constraint) {
  // Objectives of several values have no energy: schedules for them ask for the values.
  if (problem_.objective->space().outputs() > 1) return;
  objective_->evaluate(EvaluateArgs{*batch_, energy, only, control(), constraint}, *queue_);
}

void Run::evaluate_objectives(ObjectivesArgs args) {
  args.control = control();
  objective_->evaluate_objectives(args, *queue_);
}

const FrontBox& Run::front_box() {
  if (box_.box.ideal.empty()) box_ = box_of(problem_, *queue_);
  return box_.box;
}

void Run::tell_evaluation(const Evaluation& one) const {
  if (options_.on_evaluation) options_.on_evaluation(one);
}

const PairwiseView* Run::pairwise_model() const noexcept { return objective_->pairwise_model(); }

EnergyComponents Run::components() noexcept { return objective_->components(); }

void Run::sweep(View1<const double> beta, std::uint32_t step_offset, bool energies_needed,
                SweepRule rule, View1<const double> parameter, View1<const std::uint32_t> only) {
  if (fallback_ && rule == SweepRule::heat_bath) {
    fallback_heat_bath(beta, step_offset, only);
  } else if (fallback_) {
    fallback_sweep(beta, step_offset, only);
  } else {
    objective_->metropolis_sweep(SweepArgs{*batch_, beta, control(), step_offset, inverse_scale_,
                                           energies_needed, rule, parameter, only},
                                 *queue_);
  }
}

void Run::hmc_transition(const Transition& transition, std::uint32_t step_offset) {
  const TransitionArgs args{*batch_,           transition.beta,   transition.parameter,
                            transition.metric, transition.tuning, transition.statistics,
                            control(),         step_offset};
  if (transition.no_u_turn) {
    objective_->nuts_transition(args, *queue_);
  } else {
    objective_->hmc_transition(args, *queue_);
  }
}

void Run::prepare_descent() {
  if (problem_.objective->abilities().descent) objective_->prepare_descent(*queue_);
}

void Run::descend(View1<const double> beta, std::uint32_t step_offset,
                  View1<const double> parameter, double enough, std::int32_t steps) {
  if (!problem_.objective->abilities().descent) return;
  objective_->descend(DescentArgs{*batch_, beta, parameter, control(), step_offset, enough, steps},
                      *queue_);
}

void Run::prepare_transitions(bool no_u_turn) {
  objective_->prepare_transitions(no_u_turn, *queue_);
}

View2<double> Run::gradient() const noexcept { return objective_->gradient(); }
View1<double> Run::gradient_weight() const noexcept { return objective_->gradient_weight(); }

void Run::fallback_sweep(View1<const double> beta, std::uint32_t step_offset,
                         View1<const std::uint32_t> only) {
  std::uint32_t attempt = 0;
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    const StateBlock block = batch_->state(b);
    for (std::int64_t v = 0; v < block.variables; ++v, ++attempt) {
      queue_->launch(ProposeMove{block, v, attempt, fallback_->undo(), batch_->names(), control(),
                                 step_offset});
      evaluate(fallback_->trial_energy.view(), {});
      queue_->launch(AcceptMove{block, fallback_->undo(), batch_->energy(),
                                fallback_->trial_energy.view(), batch_->accepted(),
                                batch_->not_finite(), beta, batch_->rung_of(), batch_->names(),
                                inverse_scale_, control(), attempt, step_offset, only});
    }
  }
}

void Run::track_best() {
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
  kernel.control = control();
  queue_->launch(kernel);
}

void Run::recapture() noexcept { graph_.reset(); }

void Run::keep_tick() noexcept { ArmedQueue::disarm(*queue_); }

void Run::end_tick() { queue_->launch(AdvanceTick{control(), sweeps_per_tick_}); }

void Run::enqueue_tick() {
  schedule_.enqueue(*this);
  end_tick();
}

// A device loads a kernel with its first launch, which belongs neither into a capture nor into the
// time of the run. A tick of a stopped run launches all of its kernels and changes nothing.
void Run::capture_tick() {
  if (graph_ || !options_.graph_capture || !queue_->can_capture() || host_paced_) return;
  const auto begin = Clock::now();
  RunControl stopped = progress_->control;
  stopped.stop = DeviceStop::step_limit;
  control_.upload({stopped});
  enqueue_tick();
  post_summary();
  wait_summary();
  const Counters before = queue_->counters();
  queue_->begin_capture();
  enqueue_tick();
  graph_ = queue_->end_capture();
  progress_->captured = true;
  progress_->in_ticks += queue_->counters() - before;
  progress_->setup_s += seconds_since(begin);
}

void Run::enqueue_ticks(std::int64_t count) {
  const Counters before = queue_->counters();
  for (std::int64_t i = 0; i < count; ++i) {
    if (graph_) {
      queue_->replay(*graph_);
    } else {
      enqueue_tick();
    }
  }
  progress_->in_ticks += queue_->counters() - before;
}

// Ticks that may end in the middle are tried, and taken back: those that call what may fail, and on
// the CPU those that are too long to wait for when the run is to end.
bool Run::try_ticks(std::int64_t count, const Alarm& alarm) {
  constexpr double long_s = 0.05;
  Progress& p = *progress_;
  // The host's are as long as their models and calls, whatever the last took.
  const bool may_be_long =
      host_paced_ || p.tick_s < 0 || static_cast<double>(count) * p.tick_s > long_s;
  // Calls that watch for the stop end by themselves, and the tick soon after them.
  const bool calls_end = problem_.watch_stop && !schedule_paced_;
  const bool gives_up = room_to_give_up_ && may_be_long && !calls_end;
  std::optional<Archive> before;
  const auto copy_begin = Clock::now();
  if (host_paced_ || gives_up) save(before.emplace(*queue_));
  p.copies_s += seconds_since(copy_begin);
  p.whole = false;
  const auto begin = Clock::now();
  try {
    const ArmedQueue armed(*queue_, gives_up ? &alarm : nullptr);
    enqueue_ticks(count);
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

void Run::require_whole() const {
  if (progress_->whole) return;
  throw InvalidArgument("run.broken",
                        "the run stopped in the middle of a tick: an exception ended it",
                        "a run whose last advance() came to an end", "load() a saved run");
}

void Run::post_summary() {
  queue_->launch(Summarize{control(), batch_->energy(), batch_->accepted(), batch_->not_finite(),
                           shown_beta_, batch_->replicas(), queue_->summary_target()});
  queue_->post_summary();
  ++progress_->pending;
}

RunSummary Run::wait_summary() {
  --progress_->pending;
  const RunSummary summary = queue_->wait_summary();
  progress_->control = summary.control;
  progress_->last = summary;
  return summary;
}

void Run::save(Archive& archive) const {
  require_whole();
  archive.put("run.control", control_);
  batch_->save(archive);
  objective_->save(archive);
  scratch_->save(archive);
  schedule_.save(archive);
}

void Run::load(const Archive& archive) {
  go_back(archive);
  post_summary();
  const RunSummary now = wait_summary();
  Progress& p = *progress_;
  p.looks = {{now.control.step, p.run_s}};
  p.reported_step = now.control.step;
  p.reported_accepted = now.accepted;
  p.best_key = p.reported_best_key = now.control.best_key;
}

void Run::go_back(const Archive& archive) {
  progress_->whole = false;  // an archive that does not fit may be refused halfway
  archive.restore("run.control", control_);
  batch_->load(archive);
  objective_->load(archive);
  scratch_->load(archive);
  schedule_.load(archive);
  progress_->whole = true;
}

}  // namespace kiln
