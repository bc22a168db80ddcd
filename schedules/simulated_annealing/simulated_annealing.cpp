// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/simulated_annealing.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/device/exact_factors.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/run_context.hpp"

#include "shared/complaints.hpp"
#include "shared/group_report.hpp"
#include "shared/saved_coolings.hpp"
#include "shared/temperatures.hpp"
#include "simulated_annealing/options.hpp"

namespace kiln {
namespace {

constexpr std::int64_t first_round = 1000;
// Of thousands of replicas some find the best of most models in a short anneal, and as rounds
// double, a short first one costs hard models little.
constexpr std::int64_t first_round_of_many = 256, many_replicas = 1024;
// A vector of the CPU full of replicas takes about as long for so many sweeps as a quarter of it
// for 1000.
constexpr std::int64_t first_round_of_some = 512, some_replicas = 512;
// Enough for the states of 65536 replicas to spread, from pair to pair of pairs.
constexpr std::int64_t reheats_of_crossover = 16;
constexpr std::uint32_t max_sweeps_per_tick = 8;
// Above this cost a single sweep is a tick. Complete graphs of 2000 vertices are below: on a GPU
// the launches of a tick take half as long as a sweep of those.
constexpr double heavy_sweep = 5e6;

std::uint32_t largest_divisor(std::int64_t value, std::uint32_t at_most) {
  std::uint32_t divisor = at_most;
  while (value % divisor != 0) --divisor;
  return divisor;
}

// The value of group `g` of `n`, at equal factors from the first to the last.
double between(double first, double last, std::size_t g, std::size_t n) {
  if (last <= 0 || n < 2) return first;
  if (g + 1 == n) return last;
  if (first <= 0) return last * static_cast<double>(g) / static_cast<double>(n - 1);
  const double x = static_cast<double>(g) / static_cast<double>(n - 1);
  return exact::times_exp(first, exact::log_ratio(last, first) * x);
}

}  // namespace

SimulatedAnnealing::SimulatedAnnealing(SimulatedAnnealingOptions options)
    : ScheduleOf(std::move(options)) {
  std::vector<std::string> complaints;
  settle(options_, complaints);
  refuse_if_any(complaints);
  window_size_ = window_of(options_);
  resolved_ = options_;
}

SimulatedAnnealing::SimulatedAnnealing(std::vector<SimulatedAnnealingOptions> groups)
    : ScheduleOf(SimulatedAnnealingOptions{}), per_group_(std::move(groups)) {
  if (per_group_.empty()) throw InvalidArgument("config.option", "no group was given");
  std::vector<std::string> complaints;
  for (std::size_t g = 0; g < per_group_.size(); ++g) {
    std::vector<std::string> own;
    settle(per_group_[g], own);
    complain_unless_shared(per_group_.front(), per_group_[g], own);
    const std::int64_t window = window_of(per_group_[g]);
    if (window_size_ == 0) window_size_ = window;
    if (window != 0 && window != window_size_) {
      own.push_back("window is " + std::to_string(window) + "; expected " +
                    std::to_string(window_size_) + ", the window of an earlier group");
    }
    for (const std::string& complaint : own) {
      complaints.push_back("group " + std::to_string(g) + ": " + complaint);
    }
  }
  refuse_if_any(complaints);
  options_ = per_group_.front();
  options_.groups = static_cast<std::int64_t>(per_group_.size());
  resolved_ = options_;
}

SimulatedAnnealing::~SimulatedAnnealing() = default;

Needs SimulatedAnnealing::needs(const Problem& problem, const Budget& budget) {
  const bool no_limit = !budget.has_limit();
  growth_ = 1;
  round_sweeps_ = options_.anneal_sweeps;
  round_is_free_ = false;
  single_round_ = false;
  if (round_sweeps_ == 0) {
    if (budget.sweeps && options_.restart != "crossover") {
      round_sweeps_ = *budget.sweeps;
      single_round_ = true;  // the limit ends it, whatever other limits stand beside it
    } else {
      round_sweeps_ = first_round;
      round_is_free_ = !no_limit;
      growth_ = no_limit ? 1 : 2;
    }
  }
  if (options_.growth > 0) growth_ = options_.growth;
  const bool heavy = problem.objective->sweep_cost() > heavy_sweep ||
                     problem.objective->execution().pace == Pace::host;
  const std::uint32_t wanted = heavy ? 1 : max_sweeps_per_tick;
  // New rounds begin with a tick, so a tick must divide a round; a single round has no next one
  // unless the run continues beyond its limit.
  sweeps_per_tick_ = single_round_ ? wanted : largest_divisor(round_sweeps_, wanted);
  Needs needs;
  needs.groups = options_.groups;
  needs.sweeps_per_tick = sweeps_per_tick_;
  needs.default_sweeps = round_sweeps_;
  needs.heat_bath = rule() == SweepRule::heat_bath;
  needs.groups_share_words = true;
  needs.shared_noise = options_.noise == "shared";
  needs.descends_at_end = can_descend(problem);
  return needs;
}

SweepRule SimulatedAnnealing::rule() const {
  return options_.moves == "heat-bath" ? SweepRule::heat_bath : SweepRule::metropolis;
}

namespace {

// The logarithm of the factor per sweep that leads from one beta to the other in an anneal.
double log_of_fitting_factor(const SimulatedAnnealingOptions& options, double from) {
  const std::int64_t steps = options.anneal_sweeps - options.polish_sweeps - 1;
  return -exact::log_ratio(options.beta_max, from) /
         static_cast<double>(std::max<std::int64_t>(1, steps));
}

double fitting_factor(const SimulatedAnnealingOptions& options, double from) {
  return exact::exp(log_of_fitting_factor(options, from));
}

// `known`: the problem knows its energy scale.
void resolve_options(SimulatedAnnealingOptions& options, const Objective::BetaRange& range,
                     bool known, std::int64_t round_sweeps) {
  if (std::holds_alternative<AutomaticCooling>(options.cooling)) {
    options.cooling = known ? CoolingPolicy(LinearCooling{}) : GeometricCooling{};
  }
  if (options.beta_max == 0) options.beta_max = std::max(range.cold, options.beta_min);
  if (options.beta_min == 0) options.beta_min = std::min(range.hot, options.beta_max);
  options.anneal_sweeps = round_sweeps;
  if (options.polish_sweeps < 0) {
    options.polish_sweeps = std::min(descent_sweeps, round_sweeps / 20);
  }
  if (options.polish_sweeps >= round_sweeps) options.polish_sweeps = round_sweeps - 1;
  if (options.restart == "automatic") options.restart = "random";
  if (options.reheat == 0 && options.restart != "random") options.reheat = 0.5;
}

/// Fills in the part of a Cooling that belongs to the policy.
class PolicyPlan {
 public:
  PolicyPlan(const SimulatedAnnealingOptions& options, Cooling& cooling)
      : options_(options), cooling_(cooling) {}

  void operator()(const AutomaticCooling&) const { cooling_.kind = CoolingKind::linear; }
  void operator()(const LinearCooling&) const { cooling_.kind = CoolingKind::linear; }
  void operator()(const ListCooling&) const { cooling_.kind = CoolingKind::list; }
  void operator()(const GeometricCooling&) const {
    cooling_.kind = CoolingKind::geometric;
    cooling_.log_rate = exact::log_ratio(options_.beta_max, options_.beta_min);
    cooling_.log_rate_again = exact::log_ratio(options_.beta_max, cooling_.beta_again);
  }
  void operator()(const ExponentialCooling& policy) const {
    cooling_.kind = CoolingKind::exponential;
    cooling_.stretches = policy.factor == 0;
    const auto log_of_factor = [&](double from) {
      if (!cooling_.stretches) return exact::log(policy.factor);
      const double factor = fitting_factor(options_, from);
      if (factor >= exact::smallest_normal) return exact::log(factor);
      return log_of_fitting_factor(options_, from);
    };
    cooling_.log_rate = log_of_factor(cooling_.beta_begin);
    cooling_.log_rate_again = log_of_factor(cooling_.beta_again);
  }
  void operator()(const LogarithmicCooling& policy) const {
    cooling_.kind = CoolingKind::logarithmic;
    cooling_.log_rate = cooling_.log_rate_again = policy.rate;
  }
  void operator()(const AdaptiveCooling& policy) const {
    cooling_.kind = CoolingKind::adaptive;
    aim_at_target(policy);
    cooling_.feedback.gain = policy.gain;
  }
  void operator()(const PidCooling& policy) const {
    cooling_.kind = CoolingKind::pid;
    aim_at_target(policy);
    cooling_.feedback.kp = policy.gain;
    cooling_.feedback.ki = policy.integral;
    cooling_.feedback.kd = policy.derivative;
  }

 private:
  void aim_at_target(const auto& policy) const {
    cooling_.feedback.target_begin = policy.acceptance_begin;
    cooling_.feedback.target_log_rate = exact::log(policy.acceptance_end / policy.acceptance_begin);
  }

  const SimulatedAnnealingOptions& options_;
  Cooling& cooling_;
};

}  // namespace

Cooling SimulatedAnnealing::plan_cooling(const Options& options) const {
  Cooling cooling;
  cooling.beta_begin = options.beta_min;
  cooling.beta_end = options.beta_max;
  const double reheat = options.reheat > 0 ? options.reheat : 1;  // all the way from random states
  cooling.beta_again = options.beta_max - reheat * (options.beta_max - options.beta_min);
  // Beside a large beta_max the difference loses a small beta_min.
  if (cooling.beta_again <= 0) cooling.beta_again = options.beta_min;
  cooling.length = round_sweeps_;
  cooling.growth = growth_;
  cooling.polish = options.polish_sweeps;
  if (crosses_) {
    cooling.reheats = reheats_of_crossover;
    cooling.short_unit = sweeps_per_tick_;
  }
  std::visit(PolicyPlan(options, cooling), static_cast<const CoolingVariant&>(options.cooling));
  return cooling;
}

void SimulatedAnnealing::resolve(AllocateContext& run) {
  // By the size of a group, which anneals as it would alone. Ticks divide either length.
  static_assert(first_round % max_sweeps_per_tick == 0);
  static_assert(first_round_of_many % max_sweeps_per_tick == 0);
  static_assert(first_round_of_some % max_sweeps_per_tick == 0);
  const std::int64_t size = run.batch().group_size();
  if (round_is_free_ && size >= some_replicas) {
    round_sweeps_ = size < many_replicas ? first_round_of_some : first_round_of_many;
  }
  choose_restart(run);
  const bool known = run.problem().objective->beta_range().cold > 0;
  const Objective::BetaRange range = beta_range_of(run);
  const auto groups = static_cast<std::size_t>(run.batch().groups());
  resolved_groups_ = per_group_.empty() ? std::vector<Options>(groups, options_) : per_group_;
  for (std::size_t g = 0; g < groups; ++g) {
    Options& own = resolved_groups_[g];
    const bool reheats_by_couplings = crosses_ && own.reheat == 0;
    if (crosses_) own.restart = "crossover";
    resolve_options(own, range, known, round_sweeps_);
    if (per_group_.empty()) {
      own.beta_min = between(own.beta_min, options_.beta_min_last, g, groups);
      own.beta_max =
          std::max(own.beta_min, between(own.beta_max, options_.beta_max_last, g, groups));
    }
    if (reheats_by_couplings) own.reheat = reheat_of_couplings(run, own);  // within its own range
  }
  resolved_ = resolved_groups_.front();
  resolved_.groups = static_cast<std::int64_t>(groups);
}

void SimulatedAnnealing::allocate(AllocateContext& run) {
  resolve(run);
  std::vector<Cooling> coolings;
  std::vector<double> betas, list;  // of all groups, of the last one
  std::int64_t list_begin = 0;
  for (const Options& own : resolved_groups_) {
    Cooling cooling = plan_cooling(own);
    const auto* given = std::get_if<ListCooling>(&own.cooling);
    const std::vector<double> own_list = given != nullptr ? given->betas : std::vector<double>{};
    // Groups that follow the same list one after the other share its place.
    if (coolings.empty() || own_list != list) {
      list = own_list;
      list_begin = static_cast<std::int64_t>(betas.size());
      betas.insert(betas.end(), list.begin(), list.end());
    }
    cooling.list_begin = list_begin;
    cooling.list_size = static_cast<std::int64_t>(list.size());
    coolings.push_back(cooling);
  }
  auto* exponential = std::get_if<ExponentialCooling>(&resolved_.cooling);
  if (exponential != nullptr && exponential->factor == 0) {
    exponential->factor = fitting_factor(resolved_, resolved_.beta_min);
  }
  const std::int64_t groups = run.batch().groups();
  cooling_ = run.scratch("cooling", coolings);
  list_ = run.scratch("betas", betas);
  run.require_saved_equal("betas", betas);
  const bool feedback = std::ranges::any_of(
      coolings, [](const Cooling& cooling) { return is_feedback(cooling.kind); });
  const bool descends = resolved_.polish_sweeps > 0 && run.objective().as<Descends>() != nullptr;
  sweeps_in_row_ = feedback || descends ? 1 : sweeps_per_tick_;
  beta_ = run.scratch_zeros<double>("beta", sweeps_in_row_ * groups);
  restart_ = run.scratch_zeros<std::uint32_t>("restart", groups);
  if (crosses_) allocate_crossover(run);
  const auto ring = run.scratch_zeros<std::uint64_t>("acceptance", groups * window_size_);
  window_ = {ring.data, groups, window_size_, window_size_};
  require_saved_coolings(run, "cooling", coolings, window_size_);
  run.show_beta({beta_.data + (sweeps_in_row_ - 1) * groups, groups});
  prepare_descent(run);
}

// New states for groups whose last round is over.
void SimulatedAnnealing::begin_rounds(TickContext& run, std::uint32_t sweep) const {
  if (crosses_) {
    cross_with_best(run, restart_);
    cross_pairs(run, restart_, 0);
    run.track_best();
    return run.redraw(restart_long_, sweep);
  }
  if (resolved_.restart == "random") run.redraw(restart_, sweep);
  if (resolved_.restart == "best") run.restore_best(restart_, sweep);
}

void SimulatedAnnealing::enqueue(TickContext& run) {
  const std::int64_t groups = cooling_.size;
  const View1<double> shown{beta_.data + (sweeps_in_row_ - 1) * groups, groups};
  const bool one_round = single_round_ && run.ends_with_budget();
  // A run that continues beyond the limit which was its round may begin rounds within ticks.
  const bool within_ticks = !one_round && round_sweeps_ % sweeps_per_tick_ != 0;
  // Launches that find no group take a quarter of a short tick.
  if (!one_round && !within_ticks) begin_rounds(run, 0);
  TemperatureUpdate update{cooling_, beta_, restart_, list_, run.control()};
  update.accepted = run.batch().accepted();
  update.window = window_;
  update.group_size = run.batch().group_size();
  update.attempts_per_sweep = static_cast<double>(run.batch().group_size()) *
                              static_cast<double>(run.batch().space().variables());
  update.restart_long = restart_long_;
  if (!within_ticks && sweeps_in_row_ == sweeps_per_tick_ && sweeps_in_row_ > 1) {
    update.sweeps = sweeps_in_row_;
    run.queue().launch(update);
    run.sweep_in_row({beta_.data, sweeps_in_row_, groups, groups}, true, rule());
    return run.finish_tick();
  }
  update.beta = shown;
  for (std::uint32_t s = 0; s < sweeps_per_tick_; ++s) {
    if (within_ticks) {
      if (s > 0) run.track_best();  // a round ends here, the tick does not
      begin_rounds(run, s);
    }
    update.step_offset = s;
    run.queue().launch(update);
    run.sweep(shown, s, within_ticks || s + 1 == sweeps_per_tick_, rule());
    if (resolved_.polish_sweeps > 0)
      descend_by_gradient(run, {run.batch(), shown, {}, run.control(), s});
  }
  run.finish_tick();
}

void SimulatedAnnealing::descend(DescendContext& run) {
  // A time limit cuts an anneal while it is warm.
  const std::vector<double> cold(static_cast<std::size_t>(beta_.size), exact::infinity());
  run.queue().upload(beta_.data, cold.data(), cold.size() * sizeof(double));
  descend_to_minimum(run, {beta_.data, cooling_.size}, sweeps_per_tick_);
  if (crosses_) cross_all(run);
}

// Which group found what, and between which temperatures: that is what groups with ranges of their
// own are run for.
void SimulatedAnnealing::report(ReportContext& run, Result& result) {
  if (resolved_groups_.size() < 2) return;
  report_best_of_groups(run, result);
  report_of_groups(result, "group_beta_min", resolved_groups_, &Options::beta_min);
  report_of_groups(result, "group_beta_max", resolved_groups_, &Options::beta_max);
}

}  // namespace kiln
