// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The end of a run: the best states, checked against the raw data.
#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <numeric>

#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"

#include "commands/run_commands.hpp"
#include "run_parts.hpp"
#include "run_scratch.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {
namespace {

struct Found {
  double energy = 0;  // stored
  std::int64_t replica = 0;
  friend bool operator<(const Found& a, const Found& b) {
    return a.energy < b.energy || (a.energy == b.energy && a.replica < b.replica);
  }
};

// The best that every replica found, best first; only the very best if no more are wanted.
std::vector<Found> best_first(const std::vector<double>& energies, bool only_one) {
  std::vector<Found> all;
  for (std::size_t r = 0; r < energies.size(); ++r) {
    if (std::isfinite(energies[r])) all.push_back({energies[r], static_cast<std::int64_t>(r)});
  }
  if (only_one && !all.empty()) {
    all = {*std::min_element(all.begin(), all.end())};
  } else {
    std::sort(all.begin(), all.end());
  }
  return all;
}

// The best distinct states so far, and how many replicas hold each.
class Pool {
 public:
  Pool(const Problem& problem, std::int64_t size)
      : problem_(problem), size_(static_cast<std::size_t>(std::max<std::int64_t>(1, size))) {}

  /// Whether states of this energy and above bring nothing new.
  bool full(double energy) const { return found_.size() == size_ && energy > worst_; }

  void add(State state, std::int64_t replica, double energy) {
    if (full(energy)) return;
    if (problem_.solution.canonical) problem_.solution.canonical(state);
    if (const auto known = place_.find(state); known != place_.end()) {
      ++found_[known->second].count;
      return;
    }
    if (found_.size() == size_) return;
    place_.emplace(state, found_.size());
    found_.push_back({problem_.units.objective_of_stored(energy),
                      problem_.units.energy_of_stored(energy), std::move(state), replica, 1});
    worst_ = energy;
  }

  std::vector<Solution> take() { return std::move(found_); }

 private:
  const Problem& problem_;
  std::size_t size_;
  double worst_ = 0;
  std::vector<Solution> found_;
  std::map<State, std::size_t> place_;
};

// How far the engine's value may be from the recomputed one. Integers agree exactly. Sums of known
// terms differ by the rounding of these, however much of them cancels. Of other functions only
// values are known: those of the first states stand for the size of the terms.
double allowed_difference(double recomputed, const Problem& problem, double first_values) {
  if (problem.units.integral) return 0;
  if (problem.units.rounding > 0) return problem.units.rounding;
  const double relative = 1e-9 * std::abs(recomputed);
  if (!(first_values > 0)) return std::max(1e-9, relative);
  const auto terms = 1024 + static_cast<double>(problem.objective->space().variables());
  return std::max(relative, terms * 0x1p-52 * first_values);
}

// How many evaluations had no value and why; "" if all had one, or where the problem cannot tell.
std::string failures_of(const Problem& problem) {
  const std::optional<Experiment>& experiment = problem.experiment;
  return experiment && experiment->failures ? experiment->failures() : std::string{};
}

// Of a run without a single value: what is known of why.
// Calls that watch for the stop may have been cut off, so that ticks were done without any.
[[noreturn]] void refuse_empty(const Problem& problem, const Result& result,
                               bool begins_with_values) {
  const bool tells_failures = problem.experiment && problem.experiment->failures;
  const std::string failures = failures_of(problem);
  const bool evaluated = tells_failures           ? !failures.empty()
                         : problem.watches_stop() ? result.work.not_finite > 0
                                                  : begins_with_values || result.work.ticks > 0;
  if (result.stop == Stop::interrupted || result.stop == Stop::observer) {
    const std::string end =
        result.stopped_by.empty() ? "interrupted" : "stopped by " + result.stopped_by;
    throw Interrupted(
        "run.interrupted",
        end + (problem.solution.constraint_values ? " before the run found a feasible state"
               : evaluated ? " before the run found a state with a finite value"
                           : " before the first evaluation finished"),
        failures);
  }
  if (!evaluated && result.stop == Stop::time_limit) {
    throw ObjectiveError("run.no_evaluation",
                         "the time limit expired before the first evaluation finished", {},
                         Fix::longer_time_limit());
  }
  if (problem.solution.constraint_values) {
    throw ObjectiveError(
        "result.infeasible",
        "the run found no feasible state for objective '" + problem.objective->name() + "'",
        failures, Fix("search longer").or_else(Fix::feasible_initial_state()));
  }
  const std::uint64_t trials = result.work.not_finite;
  throw ObjectiveError(
      "objective.not_finite",
      "objective '" + problem.objective->name() + "' returned no finite value" +
          (trials > 0 ? " in " + std::to_string(trials) + " trial evaluations" : ""),
      failures.empty() ? "at least one state must have a finite value" : failures);
}

bool is_feasible(const State& state, const Problem& problem) {
  if (!problem.solution.constraint_values) return true;
  const std::vector<double> g = problem.solution.constraint_values(spans_of(state));
  return std::ranges::all_of(g, [](double value) { return value <= 0; });
}

// A search by penalties may end with states that violate constraints behind others that meet them.
// The first solution stays where none is feasible: it tells how far the run was from one.
void leave_out_infeasible(std::vector<Solution>& found, const Problem& problem) {
  if (!problem.solution.constraint_values) return;
  const auto feasible = [&](const Solution& one) { return is_feasible(one.state, problem); };
  if (std::ranges::none_of(found, feasible)) {
    found.resize(1);
  } else {
    std::erase_if(found, [&](const Solution& one) { return !feasible(one); });
  }
}

}  // namespace

// Only of objectives whose values are all that is known of them.
double RunCore::first_values() const {
  const Units& units = problem_.units;
  const bool sums = units.integral || units.rounding > 0;
  if (sums || problem_.objectives || !options_.initial_states.empty()) return 0;
  std::vector<double> values = batch_->read_energies(false);
  values.resize(static_cast<std::size_t>(batch_->replicas()));
  for (double& value : values) value = std::abs(problem_.units.objective_of_stored(value));
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

MemoryMap RunCore::memory_map() const {
  MemoryMap map = queue_->account().map();
  map.arena = queue_->arena();
  map.planned = planned_;
  map.planned_bytes = planned_.sum() - planned_[MemoryOwner::copies];
  return map;
}

Result RunCore::collect(Stop stop, const RunSummary& last) {
  const TraceRange range(tracer_, "kiln.result");
  const RunControl& control = last.control;
  Result result;
  result.problem = problem_.identity.name;
  result.family = problem_.identity.family;
  result.schedule = schedule_.name();
  result.step = schedule_.step_name();
  result.parameters = schedule_.parameters();
  result.device = progress_->device.name;
  result.device_description = progress_->device.description;
  result.fallback_reason = opened_.fallback_reason;
  result.seed = options_.seed;
  result.sense = problem_.units.sense;
  result.value_name = problem_.units.value_name;
  result.target = limit_.target;
  result.target_tolerance = problem_.target_tolerance();
  result.notes = problem_.identity.notes;
  result.integral = problem_.units.integral;
  result.stop = stop;
  if (stop == Stop::observer) result.stopped_by = progress_->stopped_by;
  result.executor = player_->choice();
  if (commands_) result.commands = commands_->counts();
  result.draw_naming = draw_naming_;
  result.work.sweeps = earlier_.sweeps + static_cast<std::int64_t>(control.step);
  result.work.replicas = batch_->replicas();
  result.work.attempts = static_cast<double>(result.work.sweeps) *
                         static_cast<double>(batch_->replicas()) *
                         static_cast<double>(batch_->space().variables());
  result.work.ticks = earlier_.ticks + static_cast<std::int64_t>(control.tick);
  result.work.kind = schedule_.work_kind();
  result.work.limit = limit_.work_limit;
  result.work.accepted = earlier_.accepted + last.accepted;
  result.work.not_finite = earlier_.not_finite + last.not_finite;
  result.time = {progress_->setup_s, progress_->run_s, progress_->to_best_s};

  scratch_->begin_report();
  if (telemetry_) telemetry_->look(control_.data());  // read_best() waits for it
  if (gradients_.size > 0) result.work.gradients = gradients_done();
  if (earlier_.gradients) {
    result.work.gradients = result.work.gradients.value_or(0) + *earlier_.gradients;
  }
  read_best();
  if (problem_.objectives) {
    collect_front(result);
  } else {
    collect_solutions(result);
  }
  if (problem_.known.best) {
    result.best_known = problem_.known.best;
    result.compute_gap();
  }
  if (problem_.known.bound) {
    const bool most = problem_.units.sense == Sense::maximize;
    result.diagnostics[most ? "upper_bound" : "lower_bound"] = *problem_.known.bound;
  }
  collect_incumbents(result);
  ReportContext found(*this);
  schedule_.report(found, result);
  scratch_->end_report();
  if (std::string failures = failures_of(problem_); !failures.empty()) {
    result.advice.push_back(std::move(failures));
  }
  if (result.sample) collect_summary(result);
  result.memory = memory_map();
  result.work.device = queue_->counters();
  result.work.in_ticks = progress_->in_ticks;
  collect_profile(&result);
  return result;
}

// The draws of a run that failed are worth more than nothing, where memory does not suffice for
// their summary.
void RunCore::collect_summary(Result& result) const {
  const HostThreads threads(options_.threads);
  try {
    result.sample_summary = std::make_shared<SampleSummary>(summarize(*result.sample));
  } catch (const std::bad_alloc&) {
    if (result.stop != Stop::failed) throw;
    return;
  }
  for (std::string& sentence : advice_on(*result.sample, *result.sample_summary)) {
    result.advice.push_back(std::move(sentence));
  }
  judge_draws(result);
}

// Of the schedule; else the best state of each replica.
FrontCandidates RunCore::front_candidates() {
  if (auto* const own = schedule_.as<ProducesFront>()) {
    ReportContext found(*this);
    return own->front(found);
  }
  std::vector<std::int64_t> slots(static_cast<std::size_t>(batch_->replicas()));
  std::iota(slots.begin(), slots.end(), 0);
  FrontCandidates candidates;
  candidates.states = batch_->read_states(slots, true);
  return candidates;
}

void RunCore::collect_front(Result& result) {
  FrontCandidates candidates = front_candidates();
  // Where evaluations are few none is made for a box.
  const bool has_box = !candidates.box.ideal.empty();
  const bool is_free = !problem_.objectives->ideal.empty() || !schedule_paced();
  if (!has_box && is_free) candidates.box = front_box();
  auto front = std::make_shared<Front>(make_front(problem_, std::move(candidates), *queue_));
  result.verified = front->verified;
  if (box_.evaluations > 0) {
    result.diagnostics["box_evaluations"] = static_cast<double>(box_.evaluations);
    result.work.not_finite += static_cast<std::uint64_t>(box_.not_finite);
  }
  // A schedule for one objective had a target of its own number, not of this one.
  if (problem_.units.sense == Sense::minimize) result.target.reset();
  result.value_name = "hypervolume";
  result.sense = Sense::maximize;
  result.objective = front->hypervolume;
  result.energy = 0.0 - front->hypervolume;
  if (!front->members.empty()) {
    result.solution = front->members[front->chosen].state;
    if (problem_.solution.named_values) {
      result.named_solution = problem_.solution.named_values(spans_of(result.solution));
    }
  }
  if (front->members.empty()) {
    const double least = front->min_violation;
    result.advice.push_back(
        least > 0 && std::isfinite(least)
            ? "the run found no feasible state; the smallest violation is " +
                  detail::show_real(least)
            : std::string("the run found no state with a finite value of every objective"));
  }
  result.front = std::move(front);
}

void RunCore::read_best() {
  const std::vector<std::int32_t> replica_of = batch_->read_replica_of();
  holder_.assign(static_cast<std::size_t>(batch_->replicas()), 0);
  for (std::size_t slot = 0; slot < holder_.size(); ++slot) {
    holder_[static_cast<std::size_t>(replica_of[slot])] = static_cast<std::int64_t>(slot);
  }
  best_energies_.clear();
  const std::vector<double> energies = batch_->read_energies(true);
  for (const std::int64_t slot : holder_) {
    best_energies_.push_back(energies[static_cast<std::size_t>(slot)]);
  }
}

void RunCore::collect_solutions(Result& result) {
  const std::vector<Found> order = best_first(best_energies_, options_.top <= 1);
  if (order.empty()) refuse_empty(problem_, result, progress_->begins_with_values);
  Pool pool(problem_, options_.top);
  constexpr auto at_once = static_cast<std::size_t>(solutions_at_once);
  for (std::size_t begin = 0; begin < order.size(); begin += at_once) {
    if (pool.full(order[begin].energy)) break;
    const std::size_t end = std::min(begin + at_once, order.size());
    std::vector<std::int64_t> slots;
    for (std::size_t i = begin; i < end; ++i) {
      slots.push_back(holder_[static_cast<std::size_t>(order[i].replica)]);
    }
    std::vector<State> states = batch_->read_states(slots, true);
    for (std::size_t i = begin; i < end; ++i) {
      pool.add(std::move(states[i - begin]), order[i].replica, order[i].energy);
    }
  }
  std::vector<Solution> found = pool.take();
  leave_out_infeasible(found, problem_);
  result.verified = static_cast<bool>(problem_.solution.verify);
  for (Solution& one : found) {
    if (!result.verified) break;
    const double value = problem_.solution.verify(spans_of(one.state));
    const double allowed = allowed_difference(value, problem_, progress_->first_values);
    result.verified =
        std::abs(one.objective - value) <= allowed && is_feasible(one.state, problem_);
    if (!result.verified || problem_.units.integral) continue;
    one.objective = value;
    one.energy = problem_.units.energy_of_stored(problem_.stored_of(value));
  }
  if (result.verified && !problem_.units.integral) {
    std::ranges::stable_sort(found, std::ranges::less{}, &Solution::energy);
  }
  result.best_replica = found.front().replica;
  result.objective = found.front().objective;
  result.energy = found.front().energy;
  result.solution = found.front().state;
  result.whole = problem_.solution.whole;
  const std::vector<BlockSpan> solution = spans_of(result.solution);
  if (problem_.solution.constraint_values)
    result.constraints = problem_.solution.constraint_values(solution);
  if (problem_.solution.named_values)
    result.named_solution = problem_.solution.named_values(solution);
  if (options_.top > 1) result.top = std::move(found);
}

}  // namespace kiln
