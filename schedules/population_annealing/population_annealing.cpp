// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/population_annealing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/gather_states.hpp"
#include "kiln/run_context.hpp"

#include "shared/arrays.hpp"
#include "shared/complaints.hpp"
#include "shared/temperatures.hpp"
#include "shared/uniform_distribution.hpp"

namespace kiln {
namespace {

constexpr std::int64_t max_records = 512;
// Fewer say little of a law, and a sweep of these costs little more.
constexpr std::int64_t min_replicas = 512, min_on_host = 128;

std::vector<std::string> complaints_about(const PopulationAnnealingOptions& o) {
  std::vector<std::string> all = PopulationAnnealingOptions::table().validate(o);
  complain_about_betas(all, o);
  return all;
}

}  // namespace

const OptionTable<PopulationAnnealingOptions>& PopulationAnnealingOptions::table() {
  using O = PopulationAnnealingOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  static const auto table =
      OptionTable<O>()
          .integer("sweeps_per_step", &O::sweeps_per_step, {1, 4096}, "sweeps",
                   "Number of sweeps at each temperature, between two resamplings.")
          .real("overlap", &O::overlap, {0.01, 0.999}, "",
                "Minimum effective fraction of the replicas after a temperature step.",
                "The effective fraction is the effective sample size of the weights, divided by "
                "the number of replicas. A value nearer to 1 gives smaller and more temperature "
                "steps.")
          .real("beta_min", &O::beta_min, {0, huge}, "1/energy", "Initial inverse temperature.",
                "0 starts from the uniform distribution, whose log Z is known. For reals without "
                "bounds, which have no uniform distribution, 0 chooses a value at which most moves "
                "are accepted.")
          .real("beta_max", &O::beta_max, {0, huge, Automatic{0}}, "1/energy",
                "Final inverse temperature.",
                "Automatic (0) chooses a value at which few uphill moves are accepted.")
          .real("step_max", &O::step_max, {0, huge}, "1/energy",
                "Maximum step of the inverse temperature; 0 sets no maximum.")
          .integer("polish_sweeps", &O::polish_sweeps, {0, 1000000}, "sweeps",
                   "Number of final sweeps of a round that accept no uphill move.",
                   "Kiln rounds polish_sweeps up to a multiple of sweeps_per_step.")
          .integer("groups", &O::groups, {1, INT32_MAX}, "",
                   "Number of independent populations in one batch.",
                   "The number of populations must divide the number of replicas. Several "
                   "populations give a reliable estimate of the error of log Z.");
  return table;
}

PopulationAnnealing::PopulationAnnealing(PopulationAnnealingOptions options) : ScheduleOf(options) {
  refuse_if_any(complaints_about(options_));
}

PopulationAnnealing::~PopulationAnnealing() = default;

Needs PopulationAnnealing::needs(const Problem& problem, const Budget&) {
  resolved_ = options_;
  sweeps_per_tick_ = static_cast<std::uint32_t>(resolved_.sweeps_per_step);
  const Objective& objective = *problem.objective;
  // The number of steps grows like the square root of the number of variables: that is how the
  // spread of the energies does.
  const double steps = 12 * std::sqrt(static_cast<double>(objective.space().variables()));
  Needs needs;
  needs.groups = resolved_.groups;
  needs.groups_share_words = true;
  needs.sweeps_per_tick = sweeps_per_tick_;
  needs.default_sweeps =
      resolved_.sweeps_per_step * std::max<std::int64_t>(100, std::llround(steps));
  needs.min_replicas =
      resolved_.groups * (objective.execution().pace == Pace::host ? min_on_host : min_replicas);
  needs.descends_at_end = can_descend(problem);
  return needs;
}

void PopulationAnnealing::resolve_range(AllocateContext& run) {
  const Objective::BetaRange range = beta_range_of(run);
  if (resolved_.beta_max == 0) resolved_.beta_max = std::max(range.cold, resolved_.beta_min);
  if (resolved_.beta_min == 0 && has_unbounded_reals(run.batch().space())) {
    resolved_.beta_min = std::min(range.hot, resolved_.beta_max);
  }
}

PopulationPlan PopulationAnnealing::plan() const {
  PopulationPlan plan;
  plan.beta_min = resolved_.beta_min;
  plan.beta_max = resolved_.beta_max;
  plan.overlap = resolved_.overlap;
  plan.step_max = resolved_.step_max;
  plan.polish_ticks =
      (resolved_.polish_sweeps + resolved_.sweeps_per_step - 1) / resolved_.sweeps_per_step;
  return plan;
}

void PopulationAnnealing::allocate(AllocateContext& run) {
  const std::int64_t groups = run.batch().groups(), replicas = run.batch().group_size();
  if (replicas > Resample::max_replicas) {
    throw InvalidArgument("run.replicas",
                          "a population of " + std::to_string(replicas) + " replicas is too large",
                          "at most " + std::to_string(Resample::max_replicas),
                          "-p groups=" + std::to_string(groups * 2));
  }
  resolve_range(run);
  Population first;
  first.beta = resolved_.beta_min;
  populations_ = run.scratch("populations", filled(groups, first));
  run.require_saved<Population>("populations", [](const std::vector<Population>& saved) {
    return std::ranges::all_of(saved, [](const Population& one) {
      return one.steps >= 0 && one.rounds >= 0 && one.polish_left >= 0 &&
             one.phase <= PopulationPhase::polish;
    });
  });
  choice_ = run.scratch("choice", filled(1, PopulationChoice{}));
  beta_ = run.scratch("beta", filled(groups, resolved_.beta_min));
  cold_ = run.scratch("cold", filled(groups, std::numeric_limits<double>::infinity()));
  prepare_descent(run);  // not in descend(): captured ticks would keep memory that moved
  begins_ = run.scratch_zeros<std::uint32_t>("begins", groups);
  // Models of pairs have finite energies alone.
  opens_ = run.objective().as<PairwiseModelled>() != nullptr
               ? View1<std::uint32_t>{}
               : run.scratch_zeros<std::uint32_t>("opens", groups);
  weight_ = run.scratch_zeros<std::uint64_t>("weight", run.batch().slots());
  step_parts_ = run.workspace<PopulationStep::Part>("step_parts",
                                                    groups * PopulationStep::parts_of(replicas));
  step_arrivals_ = run.workspace<std::uint32_t>("step_arrivals", 2);
  ends_ = run.scratch("ends", filled(groups * PopulationStep::kept_ends, PopulationEnd{}));
  records_ = run.scratch("records", filled(max_records, PopulationRecord{}));
  history_ = run.scratch("history", filled(1, PopulationHistory{}));
  run.require_saved<PopulationHistory>("history", [](const std::vector<PopulationHistory>& saved) {
    return saved.front().size >= 0 && saved.front().size <= max_records && saved.front().stride > 0;
  });
  allocate_resampling(run);
  run.show_beta(beta_);
}

void PopulationAnnealing::allocate_resampling(AllocateContext& run) {
  const std::int64_t groups = run.batch().groups(), replicas = run.batch().group_size();
  const std::int64_t slots = run.batch().slots();
  std::vector<std::int32_t> numbers;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    numbers.push_back(static_cast<std::int32_t>(slot));
  }
  ResampleTotals all;
  all.families = replicas;
  all.family_squares = static_cast<std::uint64_t>(replicas);
  family_ = run.scratch("family", numbers);
  source_ = run.scratch("source", filled<std::int32_t>(slots, -1));
  run.require_saved_between<std::int32_t>("family", 0, slots - 1);
  run.require_saved_between<std::int32_t>("source", -1, slots - 1);
  copies_before_ = run.scratch_zeros<std::int32_t>("copies_before", slots);
  extra_before_ = run.scratch_zeros<std::int32_t>("extra_before", slots);
  members_ = run.scratch_zeros<std::uint32_t>("members", slots);
  totals_ = run.scratch("totals", filled(groups, all));
  resample_parts_ =
      run.scratch_zeros<Resample::Part>("resample_parts", groups * Resample::parts_of(replicas));
}

PopulationStep PopulationAnnealing::step_kernel(RunContext& run) const {
  PopulationStep kernel;
  kernel.energy = run.batch().energy();
  kernel.populations = populations_;
  kernel.choice = choice_;
  kernel.beta = beta_;
  kernel.begins = begins_;
  kernel.weight = weight_;
  kernel.parts = step_parts_;
  kernel.arrivals = step_arrivals_;
  kernel.ends = ends_;
  kernel.records = records_;
  kernel.history = history_;
  kernel.totals = totals_;
  kernel.group_size = run.batch().group_size();
  kernel.plan = plan();
  kernel.control = run.control();
  kernel.sweeps_per_tick = sweeps_per_tick_;
  kernel.inverse_scale = run.inverse_scale();
  return kernel;
}

Resample PopulationAnnealing::resample_kernel(RunContext& run) const {
  ReplicaBatch& batch = run.batch();
  Resample kernel;
  kernel.weight = weight_;
  kernel.begins = begins_;
  kernel.energy = batch.energy();
  kernel.family = family_;
  kernel.source = source_;
  kernel.copies_before = copies_before_;
  kernel.extra_before = extra_before_;
  kernel.members = members_;
  kernel.totals = totals_;
  kernel.parts = resample_parts_;
  kernel.group_size = batch.group_size();
  kernel.draw_ids = batch.draw_ids();
  kernel.control = run.control();
  kernel.sweeps_per_tick = sweeps_per_tick_;
  return kernel;
}

// Groups with a flag in `only`; empty: all.
void PopulationAnnealing::copy_states(RunContext& run, View1<const std::uint32_t> active_rungs) {
  ReplicaBatch& batch = run.batch();
  for (int b = 0; b < batch.n_blocks(); ++b) {
    run.queue().launch(GatherStates{batch.state(b), batch.state(b), source_, batch.rung_of(),
                                    active_rungs, run.control()});
  }
}

// Leaves the states of finite energy, before a sweep takes replicas out of the others.
void PopulationAnnealing::open_rounds(TickContext& run) {
  if (!opens_) return;
  PopulationStep step = step_kernel(run);
  step.opening = true;
  step.opens = opens_;
  run.queue().launch(step);
  Resample resample = resample_kernel(run);
  resample.opening = true;
  resample.active_groups = opens_;
  run.queue().launch(resample);
  copy_states(run, opens_);
}

void PopulationAnnealing::enqueue(TickContext& run) {
  run.redraw(begins_);  // populations whose last round is over
  open_rounds(run);
  run.sweep_in_row({beta_.data, sweeps_per_tick_, beta_.size, 0}, true);
  run.track_best();  // before the best of them may die
  run.queue().launch(step_kernel(run));
  run.queue().launch(resample_kernel(run));
  copy_states(run, {});
}

void PopulationAnnealing::descend(DescendContext& run) {
  descend_to_minimum(run, cold_, sweeps_per_tick_);
}

}  // namespace kiln
