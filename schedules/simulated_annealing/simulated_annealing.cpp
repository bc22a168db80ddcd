// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/simulated_annealing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/run_context.hpp"

#include "shared/complaints.hpp"
#include "shared/temperatures.hpp"

namespace kiln {
namespace {

constexpr std::int64_t first_round = 1000;
constexpr std::uint32_t max_sweeps_per_tick = 8;
// Above this a single sweep is long enough to be a tick of its own.
constexpr double heavy_sweep = 1e6;

std::uint32_t largest_divisor(std::int64_t value, std::uint32_t at_most) {
  std::uint32_t divisor = at_most;
  while (value % divisor != 0) --divisor;
  return divisor;
}

CoolingKind kind_of(const std::string& cooling) {
  if (cooling == "geometric") return CoolingKind::geometric;
  if (cooling == "exponential") return CoolingKind::exponential;
  if (cooling == "list") return CoolingKind::list;
  if (cooling == "logarithmic") return CoolingKind::logarithmic;
  if (cooling == "adaptive") return CoolingKind::adaptive;
  if (cooling == "pid") return CoolingKind::pid;
  return CoolingKind::linear;
}

}  // namespace

const OptionTable<SimulatedAnnealingOptions>& SimulatedAnnealingOptions::table() {
  using O = SimulatedAnnealingOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr std::int64_t many = std::int64_t{1} << 53;
  static const auto table =
      OptionTable<O>()
          .choice("cooling", &O::cooling,
                  {"automatic", "linear", "geometric", "exponential", "list", "logarithmic",
                   "adaptive", "pid"},
                  "How the inverse temperature beta rises during an anneal. Automatic is linear in "
                  "beta where the problem knows its energy scale (it served every benchmark graph "
                  "tried), else geometric.")
          .real("beta_min", &O::beta_min, {0, huge, Automatic{0}}, "1/energy",
                "Inverse temperature at the start; 0 chooses one at which most moves are accepted.")
          .real("beta_max", &O::beta_max, {0, huge, Automatic{0}}, "1/energy",
                "Inverse temperature at the end; 0 chooses one at which few uphill moves are left.")
          .real("beta_min_last", &O::beta_min_last, {0, huge, Automatic{0}}, "1/energy",
                "beta_min of the last group; those of the groups between lie at equal factors. 0 "
                "takes beta_min for all.")
          .real("beta_max_last", &O::beta_max_last, {0, huge, Automatic{0}}, "1/energy",
                "beta_max of the last group, likewise: many ranges are tried in one batch.")
          .real("cooling_factor", &O::cooling_factor, {0, 1, Automatic{0}}, "",
                "Factor on the temperature per sweep, for exponential cooling; 0 chooses the one "
                "that reaches beta_max at the end of the first anneal.")
          .real("cooling_rate", &O::cooling_rate, {0, huge}, "",
                "Rate of logarithmic cooling, T = T_0 / (1 + rate ln(1 + t)); it ends at beta_max.")
          .real("acceptance_begin", &O::acceptance_begin, {1e-9, 1}, "",
                "Acceptance rate that adaptive and pid cooling aim at in the beginning.")
          .real("acceptance_end", &O::acceptance_end, {1e-9, 1}, "",
                "Acceptance rate that they aim at in the end; the target falls by equal factors.")
          .integer("window", &O::window, {1, 100000}, "sweeps",
                   "Sweeps over which the acceptance rate is measured.")
          .real("gain", &O::gain, {0, huge}, "",
                "Gain of adaptive cooling: T <- T exp(gain (target - rate)) after each sweep.")
          .real("pid_proportional", &O::pid_proportional, {0, huge}, "",
                "Proportional constant of pid cooling.")
          .real("pid_integral", &O::pid_integral, {0, huge}, "",
                "Integral constant of pid cooling.")
          .real("pid_derivative", &O::pid_derivative, {0, huge}, "",
                "Derivative constant of pid cooling.")
          .reals("betas", &O::betas, {0, huge}, "1/energy", "none",
                 "Inverse temperatures for list cooling, each for an equal share of the anneal.")
          .integer("anneal_sweeps", &O::anneal_sweeps, {0, many, Automatic{0}}, "sweeps",
                   "Sweeps of one anneal. 0: all of --sweeps, or rounds of 1000, 2000, 4000, ... "
                   "sweeps from new random states where only time limits the run.")
          .integer("polish_sweeps", &O::polish_sweeps, {-1, many, Automatic{-1}}, "sweeps",
                   "Last sweeps of each anneal that only go downhill; -1 takes a twentieth of the "
                   "anneal, at most 16.")
          .integer("growth", &O::growth, {0, 16, Automatic{0}}, "",
                   "Factor between the lengths of one round and the next; 0 takes 2 where only "
                   "time limits the run, else 1.")
          .choice("restart", &O::restart, {"random", "best", "current"},
                  "Where rounds after the first begin: new random states, the best state that each "
                  "replica was in, or the state that the last round ended in.")
          .real("reheat", &O::reheat, {0, 1, Automatic{0}}, "",
                "How far they heat up again: their first beta lies this share of the way from "
                "beta_max down to beta_min. 0 takes 1 for random states and 0.5 for others.")
          .integer(
              "groups", &O::groups, {1, INT32_MAX}, "",
              "Independent anneals in one batch, with their own random numbers; must divide the "
              "replicas.")
          .choice("moves", &O::moves, {"metropolis", "heat-bath"},
                  "How a sweep treats a variable: metropolis takes or leaves a proposed value, "
                  "heat-bath draws a value by the Boltzmann law of the variable.");
  return table;
}

namespace {

void complain_about(const SimulatedAnnealingOptions& options,
                    std::vector<std::string>& complaints) {
  for (std::string& complaint : SimulatedAnnealingOptions::table().validate(options)) {
    complaints.push_back(std::move(complaint));
  }
  complain_about_betas(complaints, options);
  if (options.cooling == "list" && options.betas.empty()) {
    complaints.push_back("cooling=list needs betas, for example betas=0.1,0.5,1,2");
  }
  if (options.cooling != "list" && !options.betas.empty()) {
    complaints.push_back("betas are used by cooling=list only");
  }
  if (options.anneal_sweeps > 0 && options.polish_sweeps >= options.anneal_sweeps) {
    complaints.push_back("polish_sweeps must be smaller than anneal_sweeps");
  }
  const bool spread = options.beta_min_last > 0 || options.beta_max_last > 0;
  if (spread && options.groups < 2) {
    complaints.push_back("beta_min_last and beta_max_last need groups, for example groups=16");
  }
}

bool shares_rounds(const SimulatedAnnealingOptions& a, const SimulatedAnnealingOptions& b) {
  return a.anneal_sweeps == b.anneal_sweeps && a.polish_sweeps == b.polish_sweeps &&
         a.growth == b.growth && a.restart == b.restart && a.moves == b.moves &&
         a.window == b.window;
}

// The value of group `g` of `n`, at equal factors from the first to the last.
double between(double first, double last, std::size_t g, std::size_t n) {
  if (last <= 0 || n < 2) return first;
  if (g + 1 == n) return last;
  if (first <= 0) return last * static_cast<double>(g) / static_cast<double>(n - 1);
  const double x = static_cast<double>(g) / static_cast<double>(n - 1);
  return first * exact::exp(exact::log(last / first) * x);
}

}  // namespace

SimulatedAnnealing::SimulatedAnnealing(SimulatedAnnealingOptions options)
    : ScheduleOf(std::move(options)) {
  std::vector<std::string> complaints;
  complain_about(options_, complaints);
  refuse_if_any(complaints);
}

SimulatedAnnealing::SimulatedAnnealing(std::vector<SimulatedAnnealingOptions> groups)
    : ScheduleOf(SimulatedAnnealingOptions{}), per_group_(std::move(groups)) {
  if (per_group_.empty()) throw InvalidArgument("config.option", "no group was given");
  std::vector<std::string> complaints;
  for (std::size_t g = 0; g < per_group_.size(); ++g) {
    std::vector<std::string> own;
    complain_about(per_group_[g], own);
    if (!shares_rounds(per_group_[g], per_group_.front())) {
      own.push_back(
          "anneal_sweeps, polish_sweeps, growth, restart, moves and window must be those of group "
          "0");
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
  const bool no_limit = !budget.sweeps && !budget.time_limit_s && !budget.target;
  growth_ = 1;
  round_sweeps_ = options_.anneal_sweeps;
  bool single_round = false;
  if (round_sweeps_ == 0) {
    if (budget.sweeps) {
      round_sweeps_ = *budget.sweeps;
      single_round = true;  // the limit ends it, whatever other limits stand beside it
    } else {
      round_sweeps_ = first_round;
      growth_ = no_limit ? 1 : 2;
    }
  }
  if (options_.growth > 0) growth_ = options_.growth;
  const bool heavy = problem.objective->sweep_cost() > heavy_sweep ||
                     problem.objective->execution().pace == Pace::host;
  const std::uint32_t wanted = heavy ? 1 : max_sweeps_per_tick;
  // New rounds begin with a tick, so a tick must divide a round; a single round has no next one.
  sweeps_per_tick_ = single_round ? wanted : largest_divisor(round_sweeps_, wanted);
  Needs needs;
  needs.groups = options_.groups;
  needs.sweeps_per_tick = sweeps_per_tick_;
  needs.default_sweeps = round_sweeps_;
  needs.heat_bath = rule() == SweepRule::heat_bath;
  needs.descends_at_end = can_descend(problem);
  return needs;
}

SweepRule SimulatedAnnealing::rule() const {
  return options_.moves == "heat-bath" ? SweepRule::heat_bath : SweepRule::metropolis;
}

namespace {

Feedback plan_feedback(const SimulatedAnnealingOptions& options) {
  Feedback feedback;
  feedback.target_begin = options.acceptance_begin;
  feedback.target_log_rate = exact::log(options.acceptance_end / options.acceptance_begin);
  feedback.gain = options.gain;
  feedback.kp = options.pid_proportional;
  feedback.ki = options.pid_integral;
  feedback.kd = options.pid_derivative;
  return feedback;
}

// The factor per sweep that leads from one beta to the other in an anneal.
double fitting_factor(const SimulatedAnnealingOptions& options, double from) {
  const std::int64_t steps = options.anneal_sweeps - options.polish_sweeps - 1;
  return exact::exp(-exact::log(options.beta_max / from) /
                    static_cast<double>(std::max<std::int64_t>(1, steps)));
}

// `known`: the problem has an energy scale of its own.
void resolve_options(SimulatedAnnealingOptions& options, const Objective::BetaRange& range,
                     bool known, std::int64_t round_sweeps) {
  if (options.cooling == "automatic") options.cooling = known ? "linear" : "geometric";
  if (options.beta_max == 0) options.beta_max = std::max(range.cold, options.beta_min);
  if (options.beta_min == 0) options.beta_min = std::min(range.hot, options.beta_max);
  options.anneal_sweeps = round_sweeps;
  if (options.polish_sweeps < 0) {
    options.polish_sweeps = std::min(descent_sweeps, round_sweeps / 20);
  }
  if (options.polish_sweeps >= round_sweeps) options.polish_sweeps = round_sweeps - 1;
  if (options.reheat == 0 && options.restart != "random") options.reheat = 0.5;
}

}  // namespace

Cooling SimulatedAnnealing::plan_cooling(const Options& options) const {
  Cooling cooling;
  cooling.kind = kind_of(options.cooling);
  cooling.beta_begin = options.beta_min;
  cooling.beta_end = options.beta_max;
  const double reheat = options.reheat > 0 ? options.reheat : 1;  // all the way from random states
  cooling.beta_again = options.beta_max - reheat * (options.beta_max - options.beta_min);
  cooling.length = round_sweeps_;
  cooling.growth = growth_;
  cooling.polish = options.polish_sweeps;
  if (cooling.kind == CoolingKind::geometric) {
    cooling.log_rate = exact::log(options.beta_max / options.beta_min);
    cooling.log_rate_again = exact::log(options.beta_max / cooling.beta_again);
  } else if (cooling.kind == CoolingKind::exponential) {
    cooling.stretches = options.cooling_factor == 0;
    const auto factor = [&](double from) {
      return cooling.stretches ? fitting_factor(options, from) : options.cooling_factor;
    };
    cooling.log_rate = exact::log(factor(cooling.beta_begin));
    cooling.log_rate_again = exact::log(factor(cooling.beta_again));
  } else if (cooling.kind == CoolingKind::logarithmic) {
    cooling.log_rate = cooling.log_rate_again = options.cooling_rate;
  }
  if (is_feedback(cooling.kind)) cooling.feedback = plan_feedback(options);
  return cooling;
}

void SimulatedAnnealing::resolve(AllocateContext& run) {
  const bool known = run.problem().objective->beta_range().cold > 0;
  const Objective::BetaRange range = beta_range_of(run);
  const auto groups = static_cast<std::size_t>(run.batch().groups());
  resolved_groups_ = per_group_.empty() ? std::vector<Options>(groups, options_) : per_group_;
  for (std::size_t g = 0; g < groups; ++g) {
    Options& own = resolved_groups_[g];
    resolve_options(own, range, known, round_sweeps_);
    if (!per_group_.empty()) continue;
    own.beta_min = between(own.beta_min, options_.beta_min_last, g, groups);
    own.beta_max = std::max(own.beta_min, between(own.beta_max, options_.beta_max_last, g, groups));
  }
  resolved_ = resolved_groups_.front();
  resolved_.groups = static_cast<std::int64_t>(groups);
}

void SimulatedAnnealing::allocate(AllocateContext& run) {
  resolve(run);
  std::vector<Cooling> coolings;
  std::vector<double> betas, list;  // of all groups, of the last one
  std::int64_t list_begin = 0;
  bool looks_back = false;
  for (const Options& own : resolved_groups_) {
    Cooling cooling = plan_cooling(own);
    // Groups that follow the same list one after the other share its place.
    if (coolings.empty() || own.betas != list) {
      list = own.betas;
      list_begin = static_cast<std::int64_t>(betas.size());
      betas.insert(betas.end(), list.begin(), list.end());
    }
    cooling.list_begin = list_begin;
    cooling.list_size = static_cast<std::int64_t>(list.size());
    looks_back = looks_back || is_feedback(cooling.kind);
    coolings.push_back(cooling);
  }
  if (resolved_.cooling == "exponential" && resolved_.cooling_factor == 0) {
    resolved_.cooling_factor = fitting_factor(resolved_, resolved_.beta_min);
  }
  const std::int64_t groups = run.batch().groups();
  cooling_ = run.scratch("cooling", coolings);
  list_ = run.scratch("betas", betas);
  beta_ = run.scratch_zeros<double>("beta", groups);
  restart_ = run.scratch_zeros<std::uint32_t>("restart", groups);
  const std::int64_t columns = looks_back ? resolved_.window : 0;
  const auto ring = run.scratch_zeros<std::uint64_t>("acceptance", groups * columns);
  window_ = {ring.data, groups, columns, resolved_.window};
  run.show_beta(beta_);
  prepare_descent(run);
}

void SimulatedAnnealing::enqueue(TickContext& run) {
  // Groups whose last round is over.
  if (options_.restart == "random") run.redraw(restart_);
  if (options_.restart == "best") run.restore_best(restart_);
  for (std::uint32_t s = 0; s < sweeps_per_tick_; ++s) {
    TemperatureUpdate update{cooling_, beta_, restart_, list_, run.control(), s};
    update.accepted = run.batch().accepted();
    update.window = window_;
    update.group_size = run.batch().group_size();
    update.attempts_per_sweep = static_cast<double>(run.batch().group_size()) *
                                static_cast<double>(run.batch().space().variables());
    run.queue().launch(update);
    run.sweep(beta_, s, s + 1 == sweeps_per_tick_, rule());
    if (resolved_.polish_sweeps > 0)
      descend_by_gradient(run, {run.batch(), beta_, {}, run.control(), s});
  }
  run.track_best();
}

void SimulatedAnnealing::descend(DescendContext& run) {
  // A time limit cuts an anneal while it is warm.
  const std::vector<double> cold(static_cast<std::size_t>(beta_.size), exact::infinity());
  run.queue().upload(beta_.data, cold.data(), cold.size() * sizeof(double));
  descend_to_minimum(run, beta_, sweeps_per_tick_);
}

// Which group found what, and between which temperatures: that is what groups with ranges of their
// own are run for.
void SimulatedAnnealing::report(ReportContext& run, Result& result) {
  if (resolved_groups_.size() < 2) return;
  const std::vector<double>& energies = run.best_energies();
  const auto size = static_cast<std::ptrdiff_t>(run.batch().group_size());
  std::vector<double> best, hot, cold;
  auto group = energies.begin();
  for (const Options& own : resolved_groups_) {
    best.push_back(run.problem().units.objective_of_stored(*std::min_element(group, group + size)));
    hot.push_back(own.beta_min);
    cold.push_back(own.beta_max);
    group += size;
  }
  result.series["group_best"] = std::move(best);
  result.series["group_beta_min"] = std::move(hot);
  result.series["group_beta_max"] = std::move(cold);
}

}  // namespace kiln
