// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/simulated_bifurcation.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/abilities.hpp"
#include "kiln/device/exact_factors.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/kernels/bifurcation/bifurcation_matrix.hpp"
#include "kiln/kernels/bifurcation/bifurcation_readout.hpp"
#include "kiln/kernels/bifurcation/bifurcation_start.hpp"
#include "kiln/run_context.hpp"

#include "shared/complaints.hpp"
#include "shared/group_report.hpp"
#include "shared/temperatures.hpp"
#include "simulated_bifurcation/couplings.hpp"

namespace kiln {
namespace {

constexpr std::int64_t first_round = 1000;
constexpr std::int64_t largest_growth = 8;  // of the last round over the first
// Greater products of matrices and signs make a tick of few steps, so that a run can stop.
constexpr double couplings_of_tick = 1e9;
// Fewer would take less time than the energies of their end.
constexpr std::int64_t min_costly_steps = 10;
constexpr double automatic_step = 1, stability = 2.2;

// They divide the usual lengths of rounds.
constexpr std::int64_t tick_steps[] = {100, 50, 20, 10, 5, 2, 1};

// The largest tick that is not too expensive and divides the round; else one whose multiple is
// hardly longer. A tick of few steps is for rounds that are shorter than others.
std::int64_t steps_of_tick(std::int64_t round, double cost) {
  const auto cheap = [cost](std::int64_t steps) {
    return steps <= min_costly_steps || static_cast<double>(steps) * cost <= couplings_of_tick;
  };
  for (const std::int64_t steps : tick_steps) {
    if (steps >= min_costly_steps && cheap(steps) && round % steps == 0) return steps;
  }
  for (const std::int64_t steps : tick_steps) {
    if (steps < min_costly_steps && round >= min_costly_steps) break;
    const std::int64_t excess = (steps - round % steps) % steps;
    if (cheap(steps) && 20 * excess <= round) return steps;
  }
  return std::min(round, min_costly_steps);
}

// The value of group `g` of `n`, at equal factors from the first to the last.
double xi_between(double first, double last, std::size_t g, std::size_t n) {
  if (last <= 0 || n < 2) return first;
  if (g + 1 == n) return last;
  const double x = static_cast<double>(g) / static_cast<double>(n - 1);
  return exact::times_exp(first, exact::log_ratio(last, first) * x);
}

BifurcationVariant variant_of(const std::string& name) {
  if (name == "ballistic") return BifurcationVariant::ballistic;
  return name == "discrete" ? BifurcationVariant::discrete : BifurcationVariant::heated_discrete;
}

void complain_unless_equal(std::vector<std::string>& complaints,
                           const SimulatedBifurcationOptions& first,
                           const SimulatedBifurcationOptions& other) {
  if (other.variant != first.variant || other.steps != first.steps ||
      other.growth != first.growth || other.polish_sweeps != first.polish_sweeps) {
    complaints.emplace_back("variant, steps, growth and polish_sweeps must equal those of group 0");
  }
}

std::vector<std::string> complaints_about(const SimulatedBifurcationOptions& options) {
  std::vector<std::string> complaints = SimulatedBifurcationOptions::table().validate(options);
  if (options.xi_last > 0 && options.groups < 2) {
    complaints.emplace_back("xi_last needs groups, for example groups=16");
  }
  return complaints;
}

// Whether the couplings can be a matrix of bytes that is worth its memory.
bool has_byte_matrix(const WorkShape& work) {
  const auto sites = static_cast<double>(work.sites);
  constexpr double dense_share = 1.0 / 16;
  return work.byte_matrix_unit > 0 && work.sites <= 16384 &&
         static_cast<double>(work.entries) >= sites * sites * dense_share;
}

}  // namespace

SimulatedBifurcation::SimulatedBifurcation(SimulatedBifurcationOptions options)
    : ScheduleOf(std::move(options)) {
  refuse_if_any(complaints_about(options_));
}

SimulatedBifurcation::SimulatedBifurcation(std::vector<SimulatedBifurcationOptions> groups)
    : ScheduleOf(Options{}), per_group_(std::move(groups)) {
  if (per_group_.empty()) throw InvalidArgument("config.option", "no group was given");
  std::vector<std::string> complaints;
  for (std::size_t g = 0; g < per_group_.size(); ++g) {
    std::vector<std::string> own = Options::table().validate(per_group_[g]);
    complain_unless_equal(own, per_group_.front(), per_group_[g]);
    for (const std::string& complaint : own) {
      complaints.push_back("group " + std::to_string(g) + ": " + complaint);
    }
  }
  refuse_if_any(complaints);
  options_ = per_group_.front();
  options_.groups = static_cast<std::int64_t>(per_group_.size());
  resolved_ = options_;
}

SimulatedBifurcation::~SimulatedBifurcation() = default;

Needs SimulatedBifurcation::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  std::int64_t length = options_.steps, growth = options_.growth;
  if (length == 0) {
    const bool single = budget.sweeps && *budget.sweeps <= largest_growth * first_round;
    length = single ? std::max<std::int64_t>(1, *budget.sweeps) : first_round;
    if (growth == 0) growth = single ? 1 : 2;
  }
  if (growth == 0) growth = 1;
  // Sums over rows take about so many times as long as products of bytes.
  const double rows = has_byte_matrix(problem.objective->work_shape()) ? 1 : 20;
  const std::int64_t tick = steps_of_tick(length, rows * problem.objective->sweep_cost());
  steps_per_tick_ = static_cast<std::uint32_t>(tick);
  rounds_.first = (length + tick - 1) / tick * tick;
  rounds_.longest = growth == 1 ? rounds_.first : largest_growth * rounds_.first;
  resolved_.steps = rounds_.first;
  resolved_.growth = growth;
  Needs needs;
  needs.groups = options_.groups;
  needs.sweeps_per_tick = steps_per_tick_;
  needs.default_sweeps = rounds_.first;
  needs.groups_share_words = true;
  needs.descends_at_end = can_descend(problem);
  needs.require<PairwiseModelled>("oscillators are coupled in pairs",
                                  "--schedule simulated-annealing");
  return needs;
}

WorkShape SimulatedBifurcation::own_work(const Problem& problem) const {
  WorkShape work = problem.objective->work_shape();
  work.unit = WorkUnit::oscillators;
  return work;
}

// c multiplies integers: the sum of couplings and 127 times rounded positions, if these are shown.
BifurcationTuning SimulatedBifurcation::tuning_of(const Options& options,
                                                  const CouplingScale& scale) const {
  const double unit = bifurcation::unit_of(kernel_.variant);
  BifurcationTuning tuning;
  tuning.step = static_cast<float>(options.time_step);
  tuning.force = static_cast<float>(options.time_step * (options.xi / scale.force) / unit);
  if (kernel_.variant == BifurcationVariant::heated_discrete) {
    tuning.gain = static_cast<float>(1 + options.gamma * options.time_step);
  }
  return tuning;
}

void SimulatedBifurcation::resolve(const CouplingScale& scale, std::size_t groups) {
  resolved_groups_ = per_group_.empty() ? std::vector<Options>(groups, resolved_) : per_group_;
  time_step_limits_.clear();
  for (std::size_t g = 0; g < groups; ++g) {
    Options& own = resolved_groups_[g];
    own.steps = resolved_.steps;
    own.growth = resolved_.growth;
    if (per_group_.empty()) own.xi = xi_between(own.xi, options_.xi_last, g, groups);
    const double pull = own.xi / scale.force * scale.largest_eigenvalue;
    time_step_limits_.push_back(exact::sqrt(stability / (1 + pull)));
    if (own.time_step == 0) own.time_step = std::min(automatic_step, time_step_limits_.back());
  }
  resolved_ = resolved_groups_.front();
  resolved_.groups = static_cast<std::int64_t>(groups);
  coupling_strength_ = resolved_.xi / scale.force;
}

void SimulatedBifurcation::allocate_matrix(AllocateContext& run, std::int64_t sites) {
  matrix_ = {};
  const WorkShape work = run.problem().objective->work_shape();
  if (!has_byte_matrix(work)) return;
  const auto bytes = run.workspace<std::int8_t>("matrix", sites * sites);
  matrix_ = {bytes.data, sites, sites, sites};
  kernel_.matrix = {bytes.data, sites, sites, sites};
  kernel_.matrix_unit = work.byte_matrix_unit;
}

namespace {

// Forces are single precision: they and their factor must be within its range. No force exceeds
// 127 times the sum of all magnitudes.
void refuse_unless_in_range(const CouplingScale& scale, const PairwiseView& model) {
  constexpr double max_sum = 7.8e27, min_force = 1e-30;
  const double sum = std::max(model.total_sum, scale.force);
  if (!(sum <= max_sum)) {
    throw InvalidArgument("schedule.weights",
                          "the weights are too large for forces in single precision: the "
                          "magnitudes of fields and couplings of all variables add up to " +
                              detail::show_real(sum),
                          "a sum of at most " + detail::show_real(max_sum),
                          "divide all weights by the same number");
  }
  if (scale.force >= min_force) return;
  throw InvalidArgument("schedule.weights",
                        "the weights are too small for forces in single precision: random spins "
                        "have forces of about " +
                            detail::show_real(scale.force),
                        "forces of at least " + detail::show_real(min_force),
                        "multiply all weights by the same number");
}

}  // namespace

void SimulatedBifurcation::allocate(AllocateContext& run) {
  kernel_ = {};
  kernel_.variant = variant_of(options_.variant);
  kernel_.rounds = rounds_;
  kernel_.steps = steps_per_tick_;
  CouplingScale scale;
  const bool counts = run.counts_only();
  if (!counts) {
    kernel_.model = run.objective<PairwiseModelled>().pairwise_model();
    scale = coupling_scale(run, kernel_.model);
    refuse_unless_in_range(scale, kernel_.model);
  }
  const std::int64_t groups = run.batch().groups(), slots = run.batch().slots();
  const std::int64_t sites =
      counts ? run.problem().objective->work_shape().sites : kernel_.model.n_sites;
  resolve(scale, static_cast<std::size_t>(groups));
  std::vector<BifurcationTuning> tunings;
  for (const Options& own : resolved_groups_) tunings.push_back(tuning_of(own, scale));
  kernel_.tuning = run.scratch("tuning", tunings);
  run.require_saved_equal("tuning", tunings);
  const auto position = run.scratch_zeros<float>("position", sites * slots);
  const auto momentum = run.scratch_zeros<float>("momentum", sites * slots);
  run.require_saved<float>("position", [](const std::vector<float>& saved) {
    return std::ranges::all_of(saved, [](float x) { return x >= -1 && x <= 1; });
  });
  kernel_.position = {position.data, sites, slots, slots};
  kernel_.momentum = {momentum.data, sites, slots, slots};
  kernel_.rung_of = run.batch().rung_of();
  kernel_.control = run.control();
  allocate_matrix(run, sites);
  is_read_ = run.scratch_zeros<std::uint32_t>("is_read", groups);
  cold_ =
      run.scratch("cold", std::vector<double>(static_cast<std::size_t>(groups), exact::infinity()));
  if (run.queue().on_cpu()) {
    const std::int64_t threads = run.queue().device_shape().parallel_units;
    plan_host_scratch(run.queue(), BifurcationSteps::host_tasks(sites, slots, threads));
  } else {
    const std::int64_t bytes = BifurcationSteps::scratch_bytes(
        sites, slots, has_byte_matrix(run.problem().objective->work_shape()));
    kernel_.scratch = run.workspace<std::byte>("shown", bytes);
  }
}

void SimulatedBifurcation::initialize(InitializeContext& run) {
  if (matrix_.data == nullptr) return;
  run.queue().launch(BifurcationMatrix{kernel_.model, matrix_, kernel_.matrix_unit});
}

// The oscillators move on from where they are: only the states that are compared descend.
void SimulatedBifurcation::enqueue(TickContext& run) {
  ReplicaBatch& batch = run.batch();
  run.queue().launch(BifurcationStart{kernel_.model.variable, kernel_.position, kernel_.momentum,
                                      batch.draw_ids(), rounds_, run.control()});
  run.queue().launch(kernel_);
  BifurcationReadout readout = readout_of(batch, run.control());
  readout.rounds = rounds_;
  readout.steps = steps_per_tick_;
  readout.is_read = is_read_;
  run.queue().launch(readout);
  run.evaluate(batch.energy(), is_read_);
  for (std::int64_t s = 0; s < options_.polish_sweeps; ++s) {
    run.sweep(cold_, 0, true, SweepRule::metropolis, {}, is_read_);
  }
  run.finish_tick();
}

BifurcationReadout SimulatedBifurcation::readout_of(ReplicaBatch& batch,
                                                    const RunControl* control) const {
  BifurcationReadout readout;
  readout.variable = kernel_.model.variable;
  readout.position = {kernel_.position.data, kernel_.position.rows, kernel_.position.columns,
                      kernel_.position.stride};
  readout.state = batch.state(0).packed();
  readout.control = control;
  return readout;
}

// A run may end between two readings, and two greedy sweeps do not always reach a minimum.
void SimulatedBifurcation::descend(DescendContext& run) {
  run.queue().launch(readout_of(run.batch(), run.control()));
  run.evaluate(run.batch().energy(), {});
  descend_to_minimum(run, cold_, 0);
}

// Temperatures and moves are those of the greedy sweeps alone.
void SimulatedBifurcation::annotate(ReportPoint& point) const {
  const auto steps = static_cast<std::uint64_t>(point.sweeps);
  const BifurcationRounds::Place place = rounds_.at(steps > 0 ? steps - 1 : 0);
  const double passed = steps > 0 ? static_cast<double>(place.step + 1) : 0;
  point.notes.emplace_back("round", static_cast<double>(place.round + 1));
  point.notes.emplace_back("pump", 100 * passed / static_cast<double>(place.length));
}

void SimulatedBifurcation::report(ReportContext& run, Result& result) {
  result.diagnostics["coupling_strength"] = coupling_strength_;
  result.diagnostics["time_step_limit"] = time_step_limits_.front();
  result.diagnostics["matrix_product"] = kernel_.matrix.data != nullptr ? 1 : 0;
  const std::int64_t last = std::max<std::int64_t>(1, result.work.sweeps - run.earlier_steps()) - 1;
  result.diagnostics["rounds"] =
      static_cast<double>(rounds_.at(static_cast<std::uint64_t>(last)).round + 1);
  for (std::size_t g = 0; g < resolved_groups_.size(); ++g) {
    if (resolved_groups_[g].time_step <= time_step_limits_[g]) continue;
    result.advice.push_back("time_step=" + detail::show_real(resolved_groups_[g].time_step) +
                            " may be unstable; Kiln would take at most " +
                            detail::show_real(time_step_limits_[g]));
    break;
  }
  if (resolved_groups_.size() < 2) return;
  report_best_of_groups(run, result);
  report_of_groups(result, "group_xi", resolved_groups_, &Options::xi);
  report_of_groups(result, "group_time_step", resolved_groups_, &Options::time_step);
}

}  // namespace kiln
