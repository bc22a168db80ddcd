// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/simulated_annealing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/run.hpp"

#include "shared/temperatures.hpp"

namespace kiln {
namespace {

constexpr std::int64_t first_round = 1000;
constexpr std::uint32_t most_sweeps_per_tick = 8;
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
                  "automatic",
                  "How the inverse temperature beta rises during an anneal. Automatic is linear in "
                  "beta where the problem knows its energy scale (it served every benchmark graph "
                  "tried), else geometric.")
          .real("beta_min", &O::beta_min, 0, huge, "1/energy", ">= 0", "automatic",
                "Inverse temperature at the start; 0 chooses one at which most moves are accepted.")
          .real("beta_max", &O::beta_max, 0, huge, "1/energy", ">= 0", "automatic",
                "Inverse temperature at the end; 0 chooses one at which few uphill moves are left.")
          .real("cooling_factor", &O::cooling_factor, 0, 1, "", "0 .. 1", "automatic",
                "Factor on the temperature per sweep, for exponential cooling; 0 chooses the one "
                "that reaches beta_max at the end of the first anneal.")
          .real("cooling_rate", &O::cooling_rate, 0, huge, "", ">= 0", "1",
                "Rate of logarithmic cooling, T = T_0 / (1 + rate ln(1 + t)); it ends at beta_max.")
          .real("acceptance_begin", &O::acceptance_begin, 1e-9, 1, "", "0 .. 1", "0.44",
                "Acceptance rate that adaptive and pid cooling aim at in the beginning.")
          .real("acceptance_end", &O::acceptance_end, 1e-9, 1, "", "0 .. 1", "0.001",
                "Acceptance rate that they aim at in the end; the target falls by equal factors.")
          .integer("window", &O::window, 1, 100000, "sweeps", "1 .. 100000", "10",
                   "Sweeps over which the acceptance rate is measured.")
          .real("gain", &O::gain, 0, huge, "", ">= 0", "0.5",
                "Gain of adaptive cooling: T <- T exp(gain (target - rate)) after each sweep.")
          .real("pid_proportional", &O::pid_proportional, 0, huge, "", ">= 0", "0.1",
                "Proportional constant of pid cooling.")
          .real("pid_integral", &O::pid_integral, 0, huge, "", ">= 0", "0.01",
                "Integral constant of pid cooling.")
          .real("pid_derivative", &O::pid_derivative, 0, huge, "", ">= 0", "0.05",
                "Derivative constant of pid cooling.")
          .reals("betas", &O::betas, 0, huge, "1/energy", "a comma-separated list, each >= 0",
                 "none",
                 "Inverse temperatures for list cooling, each for an equal share of the anneal.")
          .integer("anneal_sweeps", &O::anneal_sweeps, 0, many, "sweeps", ">= 0", "automatic",
                   "Sweeps of one anneal. 0: all of --sweeps, or rounds of 1000, 2000, 4000, ... "
                   "sweeps from new random states where only time limits the run.")
          .integer("polish_sweeps", &O::polish_sweeps, -1, many, "sweeps", ">= -1", "automatic",
                   "Last sweeps of each anneal that only go downhill; -1 takes a twentieth of the "
                   "anneal, at most 16.")
          .integer(
              "groups", &O::groups, 1, INT32_MAX, "", ">= 1", "1",
              "Independent anneals in one batch, with their own random numbers; must divide the "
              "replicas.");
  return table;
}

SimulatedAnnealing::SimulatedAnnealing(SimulatedAnnealingOptions options)
    : options_(std::move(options)), resolved_(options_) {
  std::vector<std::string> complaints = SimulatedAnnealingOptions::table().validate(options_);
  if (options_.beta_max > 0 && options_.beta_min > options_.beta_max) {
    complaints.push_back("beta_min must not be greater than beta_max");
  }
  if (options_.cooling == "list" && options_.betas.empty()) {
    complaints.push_back("cooling=list needs betas, for example betas=0.1,0.5,1,2");
  }
  if (options_.cooling != "list" && !options_.betas.empty()) {
    complaints.push_back("betas are used by cooling=list only");
  }
  if (options_.anneal_sweeps > 0 && options_.polish_sweeps >= options_.anneal_sweeps) {
    complaints.push_back("polish_sweeps must be smaller than anneal_sweeps");
  }
  if (complaints.empty()) return;
  std::string all;
  for (const std::string& complaint : complaints) all += (all.empty() ? "" : "\n  ") + complaint;
  throw InvalidArgument("config.option", all);
}

SimulatedAnnealing::~SimulatedAnnealing() = default;

std::map<std::string, std::string> SimulatedAnnealing::parameters() const {
  return SimulatedAnnealingOptions::table().show(resolved_);
}

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
  const bool heavy = problem.objective->sweep_cost() > heavy_sweep ||
                     problem.objective->abilities().pace == Pace::host;
  const std::uint32_t wanted = heavy ? 1 : most_sweeps_per_tick;
  // New rounds begin with a tick, so a tick must divide a round; a single round has no next one.
  sweeps_per_tick_ = single_round ? wanted : largest_divisor(round_sweeps_, wanted);
  return {options_.groups, sweeps_per_tick_, round_sweeps_};
}

Cooling SimulatedAnnealing::plan_cooling() const {
  Cooling cooling;
  cooling.kind = kind_of(resolved_.cooling);
  cooling.beta_begin = resolved_.beta_min;
  cooling.beta_end = resolved_.beta_max;
  cooling.length = round_sweeps_;
  cooling.growth = growth_;
  cooling.polish = resolved_.polish_sweeps;
  if (cooling.kind == CoolingKind::geometric) {
    cooling.log_rate = exact::log(cooling.beta_end / cooling.beta_begin);
  } else if (cooling.kind == CoolingKind::exponential) {
    cooling.log_rate = exact::log(resolved_.cooling_factor);
  } else if (cooling.kind == CoolingKind::logarithmic) {
    cooling.log_rate = resolved_.cooling_rate;
  }
  if (is_feedback(cooling.kind)) cooling.feedback = plan_feedback();
  return cooling;
}

Feedback SimulatedAnnealing::plan_feedback() const {
  Feedback feedback;
  feedback.target_begin = resolved_.acceptance_begin;
  feedback.target_log_rate = exact::log(resolved_.acceptance_end / resolved_.acceptance_begin);
  feedback.gain = resolved_.gain;
  feedback.kp = resolved_.pid_proportional;
  feedback.ki = resolved_.pid_integral;
  feedback.kd = resolved_.pid_derivative;
  return feedback;
}

void SimulatedAnnealing::start(Run& run) {
  const bool known = run.problem().objective->beta_range().cold > 0;
  const Objective::BetaRange range = beta_range_of(run);
  resolved_ = options_;
  if (resolved_.cooling == "automatic") resolved_.cooling = known ? "linear" : "geometric";
  if (resolved_.beta_max == 0) {
    resolved_.beta_max = std::max(range.cold, resolved_.beta_min);
  }
  if (resolved_.beta_min == 0) {
    resolved_.beta_min = std::min(range.hot, resolved_.beta_max);
  }
  resolved_.anneal_sweeps = round_sweeps_;
  if (resolved_.polish_sweeps < 0) {
    resolved_.polish_sweeps = std::min(descent_sweeps, round_sweeps_ / 20);
  }
  if (resolved_.polish_sweeps >= round_sweeps_) resolved_.polish_sweeps = round_sweeps_ - 1;
  if (resolved_.cooling == "exponential" && resolved_.cooling_factor == 0) {
    const auto steps =
        static_cast<double>(std::max<std::int64_t>(1, round_sweeps_ - resolved_.polish_sweeps - 1));
    resolved_.cooling_factor =
        exact::exp(-exact::log(resolved_.beta_max / resolved_.beta_min) / steps);
  }

  const auto groups = static_cast<std::size_t>(run.batch().groups());
  cooling_ = run.scratch("cooling", std::vector<Cooling>(groups, plan_cooling()));
  beta_ = run.scratch("beta", std::vector<double>(groups, resolved_.beta_min));
  list_ = run.scratch("betas", resolved_.betas);
  restart_ = run.scratch("restart", std::vector<std::uint32_t>(groups, 0));
  const bool looks_back = is_feedback(kind_of(resolved_.cooling));
  const auto columns = static_cast<std::size_t>(looks_back ? resolved_.window : 0);
  const View1<std::uint32_t> ring =
      run.scratch("acceptance", std::vector<std::uint32_t>(groups * columns, 0));
  window_ = {ring.data, static_cast<std::int64_t>(groups), resolved_.window, resolved_.window};
  if (!looks_back) window_.columns = 0;
  run.show_beta(beta_);
}

void SimulatedAnnealing::enqueue(Run& run) {
  run.redraw(restart_);  // groups whose last round is over
  for (std::uint32_t s = 0; s < sweeps_per_tick_; ++s) {
    TemperatureUpdate update{cooling_, beta_, restart_, list_, run.control(), s};
    update.accepted = run.batch().accepted();
    update.window = window_;
    update.group_size = run.batch().group_size();
    update.attempts_per_sweep = static_cast<double>(run.batch().group_size()) *
                                static_cast<double>(run.batch().space().variables());
    run.queue().launch(update);
    run.sweep(beta_, s, s + 1 == sweeps_per_tick_);
  }
  run.track_best();
}

void SimulatedAnnealing::finish(Run& run) {
  // A time limit cuts an anneal while it is warm.
  if (run.problem().objective->abilities().pace == Pace::host) return;
  const std::vector<double> cold(static_cast<std::size_t>(beta_.size), exact::infinity());
  run.queue().upload(beta_.data, cold.data(), cold.size() * sizeof(double));
  descend(run, beta_, sweeps_per_tick_);
}

void SimulatedAnnealing::save(Archive&) const {}
void SimulatedAnnealing::load(const Archive&) {}

}  // namespace kiln
