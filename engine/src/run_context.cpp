// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/run_context.hpp"

#include <algorithm>
#include <utility>

#include "kiln/alarm.hpp"
#include "kiln/errors.hpp"

#include "refuse_ability.hpp"
#include "run_core.hpp"

namespace kiln {

const Problem& RunContext::problem() const noexcept { return core_.problem(); }
const Budget& RunContext::budget() const noexcept { return core_.budget(); }
const OpenedBackend& RunContext::backend() const noexcept { return core_.backend(); }
ReplicaBatch& RunContext::batch() const noexcept { return core_.batch(); }
Queue& RunContext::queue() const noexcept { return core_.queue(); }
RunControl* RunContext::control() const noexcept { return core_.control(); }
std::size_t RunContext::given_states() const noexcept {
  if (continues()) return static_cast<std::size_t>(core_.batch().replicas());
  return core_.options().initial_states.size();
}
bool RunContext::continues() const noexcept { return core_.continues(); }
const std::vector<double>& RunContext::handed_betas() const noexcept {
  return core_.earlier().betas;
}
DrawNaming RunContext::draw_naming() const noexcept { return core_.draw_naming(); }
double RunContext::inverse_scale() const noexcept { return core_.inverse_scale(); }
bool RunContext::counts_only() const noexcept { return core_.counts_only(); }
BoundObjective& RunContext::objective() const noexcept { return core_.objective(); }
void RunContext::refuse_objective(std::string_view ability, const std::type_info& type) const {
  const Objective& objective = *problem().objective;
  if (!counts_only() || !objective.abilities().has(type)) refuse_ability(objective, ability);
  throw InvalidArgument("run.counts_only",
                        "a plan that counts memory cannot use the ability " + std::string(ability) +
                            " of objective '" + objective.name() + "'",
                        "abilities that a program adds exist in runs, but not in plans",
                        "check counts_only() first");
}
void RunContext::read_bytes(void* host, const void* device, std::size_t bytes) const {
  core_.read_bytes(host, device, bytes);
}

void* AllocateContext::new_scratch(const std::string& name, const void* data, std::int64_t size,
                                   std::size_t each, bool saved) const {
  constexpr std::size_t max_bytes = std::size_t{1} << 60;
  if (size < 0 || static_cast<std::uint64_t>(size) > max_bytes / each) {
    throw InvalidArgument("run.scratch", "scratch memory '" + name + "' cannot have " +
                                             std::to_string(size) + " elements of " +
                                             std::to_string(each) + " bytes");
  }
  return core().new_scratch(name, data, static_cast<std::size_t>(size) * each, saved);
}
void AllocateContext::check_saved(const std::string& name,
                                  std::function<bool(std::span<const std::byte>)> holds) const {
  core().check_saved(name, std::move(holds));
}
void AllocateContext::show_beta(View1<const double> beta) const noexcept { core().show_beta(beta); }
void AllocateContext::hand_betas(View1<const double> betas) const noexcept {
  core().hand_betas(betas);
}
void AllocateContext::count_work(View1<const std::uint64_t> gradients) const noexcept {
  core().count_work(gradients);
}

void WorkContext::redraw(View1<const std::uint32_t> active_rungs, std::uint32_t step_offset) const {
  core().redraw(active_rungs, step_offset);
}
void WorkContext::restore_best(View1<const std::uint32_t> active_rungs,
                               std::uint32_t step_offset) const {
  core().restore_best(active_rungs, step_offset);
}
void WorkContext::sweep(View1<const double> beta, std::uint32_t step_offset, bool energies_needed,
                        SweepRule rule, View1<const double> parameter,
                        View1<const std::uint32_t> active_rungs) const {
  core().sweep(beta, step_offset, energies_needed, rule, parameter, active_rungs);
}
void WorkContext::sweep_in_row(View2<const double> beta, bool energies_needed,
                               SweepRule rule) const {
  core().sweep_in_row(beta, energies_needed, rule);
}
std::optional<MetropolisSweep> WorkContext::sweep_kernel(View2<const double> beta,
                                                         SweepRule rule) const {
  return core().sweep_kernel(beta, rule);
}
void WorkContext::evaluate(View1<double> energy, View1<const std::uint32_t> active_rungs,
                           View2<double> constraint) const {
  core().evaluate(energy, active_rungs, constraint);
}
void WorkContext::track_best() const { core().track_best(); }
void WorkContext::tell_evaluation(const Evaluation& one) const {
  if (core().options().on_evaluation) core().options().on_evaluation(one);
}

const FrontBox& InitializeContext::front_box() const { return core().front_box(); }
bool TickContext::ends_with_budget() const noexcept { return core().ends_with_budget(); }
bool TickContext::may_follow(std::int64_t ticks) const noexcept {
  return core().tick_may_follow(static_cast<std::uint64_t>(std::max<std::int64_t>(1, ticks)));
}
std::int64_t TickContext::ticks_until(std::int64_t ticks) const noexcept {
  return static_cast<std::int64_t>(
      core().ticks_until(static_cast<std::uint64_t>(std::max<std::int64_t>(1, ticks))));
}
std::int64_t TickContext::ticks_at_once() const noexcept { return core().ticks_at_once(); }
void TickContext::enqueued(std::int64_t ticks) const { core().enqueued(ticks); }
void TickContext::refuse_more(std::string reason) const { core().refuse_more(std::move(reason)); }
void TickContext::keep_tick() const noexcept { ArmedQueue::disarm(queue()); }
void TickContext::finish_tick() const { core().finish_tick(); }
EndTick TickContext::end_kernel() const { return core().end_kernel(); }
void DescendContext::end_tick() const { core().end_tick(); }
void DescendContext::end_tick_of_no_steps() const { core().end_tick_of_no_steps(); }

const std::vector<double>& ReportContext::best_energies() const noexcept {
  return core().best_energies();
}
std::int64_t ReportContext::earlier_steps() const noexcept { return core().earlier().sweeps; }
double ReportContext::seconds_at(std::uint64_t step) const { return core().seconds_at(step); }
std::int64_t ReportContext::box_evaluations() const noexcept { return core().box_evaluations(); }
const std::vector<std::int64_t>& ReportContext::slots_of_replicas() const noexcept {
  return core().slots_of_replicas();
}

}  // namespace kiln
