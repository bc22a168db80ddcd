// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/kernels/track_best.hpp"
#include "kiln/options.hpp"

#include "run_parts.hpp"

namespace kiln {
namespace {

void check_budget(const Budget& budget) {
  if (budget.time_limit_s && !(*budget.time_limit_s > 0)) {
    throw InvalidArgument("budget.time_limit", "a time limit must be greater than 0 seconds");
  }
  if (budget.sweeps && *budget.sweeps < 1) {
    throw InvalidArgument("budget.sweeps", "a sweep limit must be at least 1");
  }
  if (budget.target && std::isnan(*budget.target)) {
    throw InvalidArgument("budget.target", "the target is not a number");
  }
}

// Whether the schedule takes as many values as the objective gives.
void check_outputs(const Objective& objective, const Schedule& schedule, const Needs& needs) {
  const bool several = objective.space().outputs() > 1;
  if (several == needs.several_objectives) return;
  const std::string name = "objective '" + objective.name() + "' gives ";
  if (!several) {
    throw InvalidArgument("objective.outputs", name + "one value",
                          "schedule '" + schedule.name() + "' is for several objectives",
                          "choose another schedule");
  }
  throw InvalidArgument("objective.outputs",
                        name + std::to_string(objective.space().outputs()) + " values",
                        "schedule '" + schedule.name() + "' minimises one",
                        "--schedule multi-objective, or scalarized() in a program");
}

// Whether the schedule knows what to do with states that are not feasible.
void check_constraints(const Objective& objective, const Schedule& schedule, const Needs& needs) {
  const int constraints = objective.abilities().constraints;
  if (constraints == 0 || needs.constraints) return;
  throw InvalidArgument("objective.constraints",
                        "objective '" + objective.name() + "' has " + std::to_string(constraints) +
                            (constraints == 1 ? " constraint" : " constraints") +
                            ", which schedule '" + schedule.name() + "' does not take",
                        "bayesian-optimization takes those of one objective, multi-objective "
                        "those of several",
                        "--schedule bayesian-optimization");
}

void check_objective(const Problem& problem) {
  if (!problem.objective) throw InvalidArgument("problem.empty", "a problem needs an objective");
  const Objective& objective = *problem.objective;
  if (!objective.abilities().evaluate && objective.space().outputs() == 1) {
    throw InvalidArgument("objective.ability",
                          "objective '" + objective.name() + "' does not offer evaluate",
                          "every run needs the energies of its first states");
  }
  if (objective.space().blocks().size() > TrackBest::max_blocks) {
    throw InvalidArgument("space.blocks", "a space can have at most " +
                                              std::to_string(TrackBest::max_blocks) + " blocks");
  }
}

void check_heat_bath(const Space& space) {
  for (std::size_t b = 0; b < space.blocks().size(); ++b) {
    const Block& block = space.blocks()[b];
    const std::int64_t values = value_count(block);
    if (values > 0 && values <= most_heat_bath_values) continue;
    throw InvalidArgument(
        "run.heat_bath",
        "moves=heat-bath draws from all values of a variable, but block " + std::to_string(b) +
            " of the space (" + to_string(block.kind) + ") has " +
            (values == 0 ? "no list of them" : std::to_string(values) + " a variable"),
        "spins, bits, categories or integers with at most " +
            std::to_string(most_heat_bath_values) + " values",
        "run with moves=metropolis");
  }
}

bool lists_values(const Space& space) {
  return std::ranges::all_of(space.blocks(), [](const Block& b) { return value_count(b) > 0; });
}

void check_parameters(const Objective& objective, const std::string& schedule) {
  const Abilities abilities = objective.abilities();
  if (abilities.parameters > 0 && abilities.metropolis_sweep) return;
  throw InvalidArgument("objective.ability",
                        "objective '" + objective.name() + "' does not offer parameters",
                        "schedule '" + schedule +
                            "' is to give replicas parameters of their own, which needs a family "
                            "of objectives",
                        "-p coordinate=temperature");
}

std::int64_t default_replicas(const Objective& objective, bool cuda) {
  const std::int64_t preferred = objective.preferred_replicas(cuda);
  if (preferred > 0) return preferred;
  return objective.abilities().pace == Pace::host ? 32 : 128;
}

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// Either the groups are given, or their size.
BatchShape shape_for(const Needs& needs, const RunOptions& options, std::int64_t default_replicas,
                     const std::string& schedule) {
  const std::int64_t step = needs.group_size > 0 ? needs.group_size : needs.groups;
  BatchShape shape{options.replicas, needs.groups, options.seed};
  if (shape.replicas == 0 && needs.default_replicas > 0) shape.replicas = needs.default_replicas;
  if (shape.replicas == 0) {
    shape.replicas = round_up(std::max(default_replicas, needs.least_replicas), step);
  }
  if (needs.group_size == 0) return shape;
  shape.groups = shape.replicas / step;
  if (shape.replicas % step != 0) {
    throw InvalidArgument("run.replicas",
                          std::to_string(shape.replicas) +
                              " replicas cannot be divided into groups" + " of " +
                              std::to_string(step),
                          "schedule '" + schedule + "' needs a multiple of " + std::to_string(step),
                          "--replicas " + std::to_string(round_up(shape.replicas, step)));
  }
  return shape;
}

OpenedBackend backend_for(const Objective& objective, const Schedule& schedule, const Needs& needs,
                          const RunOptions& options, OpenedBackend opened) {
  const Abilities abilities = objective.abilities();
  const bool cuda = opened.backend->info().name != "cpu";
  if (!cuda && !abilities.cpu) {
    throw InvalidArgument("objective.backend",
                          "objective '" + objective.name() + "' does not run on the CPU",
                          opened.fallback_reason, "run with device cuda");
  }
  if (!cuda) return opened;
  const bool chosen = options.device != "auto";
  std::string reason = "objective '" + objective.name() + "' runs on the host only";
  if (abilities.cuda) {
    // A GPU would only pass states on.
    const bool idle = abilities.pace == Pace::host && !needs.works_on_device;
    if (chosen || !idle) return opened;
    reason = "objective '" + objective.name() + "' runs on the host, and schedule '" +
             schedule.name() + "' leaves a GPU little to do";
  } else if (chosen) {
    throw InvalidArgument("objective.backend", reason,
                          "device " + options.device + " was asked for", "run with device cpu");
  }
  OpenedBackend cpu = open_backend("cpu", options.threads);
  cpu.fallback_reason = reason;
  return cpu;
}

// What of the batch and of the objective changes.
std::uint64_t bytes_of_copy(const RunPlan& plan, const Objective& objective) {
  const bool waits = plan.needs.host_paced || objective.abilities().pace == Pace::host;
  if (plan.needs.sweeps_per_tick == 1 && !plan.needs.descends_at_end && !waits) return 0;
  return plan.batch_bytes + objective.device_bytes(false, plan.shape.replicas) -
         objective.device_bytes(false, 0);
}

std::string gib(std::uint64_t bytes) {
  return detail::show_real(std::round(static_cast<double>(bytes) / 0x1p30 * 10) / 10) + " GiB";
}

}  // namespace

std::int64_t RunPlan::fitting_replicas() const {
  if (fits()) return shape.replicas;
  const std::uint64_t usable = bytes_usable();
  if (objective_bytes >= usable) return 0;
  const double share =
      static_cast<double>(usable - objective_bytes) / static_cast<double>(batch_bytes);
  const auto fitting = static_cast<std::int64_t>(static_cast<double>(shape.replicas) * share);
  const std::int64_t size = needs.group_size;
  const std::int64_t step = size > 0 ? std::lcm(std::int64_t{32}, size) : 32 * shape.groups;
  return fitting / step * step;
}

RunPlan plan_run(const Problem& problem, Schedule& schedule, const Budget& budget,
                 const RunOptions& options, OpenedBackend backend) {
  check_objective(problem);
  check_budget(budget);
  if (options.replicas < 0) {
    throw InvalidArgument("run.replicas",
                          "a run cannot have " + std::to_string(options.replicas) + " replicas",
                          "1 or more, or 0 for a default");
  }
  const Objective& objective = *problem.objective;
  RunPlan plan;
  plan.needs = schedule.needs(problem, budget);
  check_outputs(objective, schedule, plan.needs);
  check_constraints(objective, schedule, plan.needs);
  plan.opened = backend_for(objective, schedule, plan.needs, options, std::move(backend));
  plan.device = plan.opened.backend->info();
  plan.needs.sweeps_per_tick = std::max<std::uint32_t>(1, plan.needs.sweeps_per_tick);
  if (plan.needs.parameters) check_parameters(objective, schedule.name());
  const bool cuda = plan.device.name != "cpu";
  plan.shape = shape_for(plan.needs, options, default_replicas(objective, cuda), schedule.name());
  plan.batch_bytes =
      ReplicaBatch::bytes_needed(objective.space(), objective.abilities().layouts, plan.shape);
  plan.copy_bytes = bytes_of_copy(plan, objective);
  const bool own_sweep = objective.abilities().metropolis_sweep;
  if (plan.needs.heat_bath && (!own_sweep || !lists_values(objective.space()))) {
    check_heat_bath(objective.space());
  }
  if (plan.needs.heat_bath && !own_sweep) {
    plan.batch_bytes += static_cast<std::uint64_t>(most_values(objective.space()) *
                                                   round_up(plan.shape.replicas, 32)) *
                        sizeof(double);
  }
  plan.objective_bytes = objective.device_bytes(cuda, plan.shape.replicas);
  return plan;
}

void require_memory(const RunPlan& plan) {
  if (plan.fits()) return;
  const std::int64_t fitting = plan.fitting_replicas();
  throw OutOfDeviceMemory(std::to_string(plan.shape.replicas) + " replicas need " +
                              gib(plan.batch_bytes) + " and the problem " +
                              gib(plan.objective_bytes) + "; " + plan.device.name + " has " +
                              gib(plan.device.memory_free) + " free",
                          plan.bytes_needed(), plan.device.memory_free,
                          fitting > 0 ? "--replicas " + std::to_string(fitting) : "");
}

}  // namespace kiln
