// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/kernels/run/track_best.hpp"
#include "kiln/options.hpp"
#include "kiln/own_work.hpp"

#include "executors/check_executor.hpp"
#include "limits/plan_work.hpp"
#include "pipelines/run_stages.hpp"
#include "plan_naming.hpp"
#include "refuse_ability.hpp"
#include "run_core.hpp"
#include "run_parts.hpp"
#include "run_scratch.hpp"

namespace kiln {

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
  if (budget.work_limit && *budget.work_limit < 1) {
    throw InvalidArgument("budget.work_limit", "a work limit must be at least 1");
  }
  check(budget.until);
  if (budget.stop_when) check_gain(*budget.stop_when);
}

namespace {

// Whether the schedule takes as many values as the objective gives.
void check_outputs(const Objective& objective, const Schedule& schedule, const Needs& needs) {
  const bool several = objective.space().outputs() > 1;
  if (several == needs.requires_ability<VectorValued>()) return;
  const std::string name = "objective '" + objective.name() + "' gives ";
  if (!several) {
    throw InvalidArgument("objective.outputs", name + "one value",
                          "schedule '" + schedule.name() + "' needs several objectives",
                          "choose another schedule");
  }
  throw InvalidArgument(
      "objective.outputs", name + std::to_string(objective.space().outputs()) + " values",
      "schedule '" + schedule.name() + "' minimises one value",
      Fix::choose_schedule("several_objectives").or_else("scalarized() in a program"));
}

// Whether the schedule knows what to do with states that are not feasible.
void check_constraints(const Objective& objective, const Schedule& schedule, const Needs& needs) {
  const int constraints = objective.constraints();
  const bool in_violation = objective.space().outputs() > 1;
  if (constraints == 0 || needs.constraints || in_violation) return;
  throw InvalidArgument("objective.constraints",
                        "objective '" + objective.name() + "' has " + std::to_string(constraints) +
                            (constraints == 1 ? " constraint" : " constraints") +
                            ", which schedule '" + schedule.name() + "' does not support",
                        {}, Fix::choose_schedule("constraints"));
}

void check_objective(const Problem& problem) {
  if (!problem.objective) throw InvalidArgument("problem.empty", "a problem needs an objective");
  const Objective& objective = *problem.objective;
  if (objective.space().outputs() == 1 && !objective.offers<Evaluates>()) {
    refuse_ability(objective, Evaluates::interface_name,
                   "every run evaluates the energies of its initial states");
  }
  if (problem.known.bound && std::isnan(*problem.known.bound)) {
    throw InvalidArgument("problem.bound",
                          "the bound of problem '" + problem.identity.name + "' is not a number");
  }
  if (objective.space().blocks().size() > TrackBest::max_blocks) {
    throw InvalidArgument("space.blocks", "a space can have at most " +
                                              std::to_string(TrackBest::max_blocks) + " blocks");
  }
}

// Whether sweeps by proposal, or the objective's own ones, can draw from all values of a variable.
void check_heat_bath(const Space& space, bool own_sweep) {
  const std::int64_t most = own_sweep ? max_listed_values : max_heat_bath_values;
  for (std::size_t b = 0; b < space.blocks().size(); ++b) {
    const Block& block = space.blocks()[b];
    const std::int64_t values = value_count(block);
    if (values > 0 && values <= most) continue;
    throw InvalidArgument(
        "run.heat_bath",
        "moves=heat-bath draws from all values of a variable, but block " + std::to_string(b) +
            " of the space (" + to_string(block.kind) + ") has " +
            (values == 0 ? "no finite list of values" : std::to_string(values) + " per variable"),
        "spins, bits, categories or integers with at most " + std::to_string(most) + " values",
        Fix::drop_need("heat_bath"));
  }
}

void check_requirements(const Objective& objective, const Needs& needs) {
  const InterfaceSet abilities = objective.abilities();
  for (const Requirement& one : needs.requirements) {
    if (!abilities.has(*one.type)) refuse_ability(objective, one.name, one.purpose, one.fix);
  }
}

// Sweeps by proposal know one member of a family.
void check_layouts(const Objective& objective, const Schedule& schedule, const Needs& needs) {
  if (!needs.requires_ability<Parametric>() || sweeps_itself(objective, needs)) return;
  if (!objective.offers<Sweeps>()) refuse_ability(objective, Sweeps::interface_name);
  throw InvalidArgument(
      "schedule.needs",
      "schedule '" + schedule.name() + "' requires Parametric and sets Needs::unpacked",
      "Parametric needs the sweep of objective '" + objective.name() +
          "', which uses the layout of the objective",
      "clear Needs::unpacked, or do not require Parametric");
}

// The first component that the schedule launches and the backend lacks; "" if there is none.
std::string missing_component(const Needs& needs, const Backend& backend) {
  for (const std::string& component : needs.components) {
    if (!backend.has_kernels(component)) return component;
  }
  return {};
}

[[noreturn]] void refuse_component(const Schedule& schedule, const std::string& component,
                                   const std::string& device) {
  throw InvalidArgument("kernel.component_missing",
                        "schedule '" + schedule.name() + "' has no kernels of '" + component +
                            "' for device " + device,
                        {},
                        device == "cpu" ? Fix("add them with Backend::add_kernels() before the run")
                                        : Fix::use_device("cpu"));
}

OpenedBackend backend_for(const Objective& objective, const Schedule& schedule, const Needs& needs,
                          const RunOptions& options, OpenedBackend opened, bool gpu) {
  const Execution execution = objective.execution();
  if (!gpu && !execution.cpu) {
    throw InvalidArgument("objective.backend",
                          "objective '" + objective.name() + "' does not run on the CPU",
                          opened.fallback_reason, "run with device cuda");
  }
  const std::string missing = missing_component(needs, *opened.backend);
  if (!gpu && !missing.empty()) refuse_component(schedule, missing, "cpu");
  if (!gpu) return opened;
  const bool chosen = options.device != "auto";
  std::string reason = "objective '" + objective.name() + "' runs only on the host";
  if (!missing.empty()) {
    if (chosen) refuse_component(schedule, missing, opened.backend->constants().name);
    if (!execution.cpu) refuse_component(schedule, missing, "cuda");
    reason = "schedule '" + schedule.name() + "' has no kernels of '" + missing + "' for a GPU";
  } else if (execution.cuda) {
    // A GPU would only pass states on.
    const bool idle = execution.pace == Pace::host && needs.pacing != Pacing::models;
    if (chosen || !idle) return opened;
    reason = "objective '" + objective.name() + "' runs on the host, and schedule '" +
             schedule.name() + "' gives a GPU little work";
  } else if (chosen) {
    throw InvalidArgument("objective.backend", reason,
                          "device " + options.device + " was requested", "run with device cpu");
  }
  OpenedBackend cpu = open_backend("cpu", options.threads);
  const std::string lacking = missing_component(needs, *cpu.backend);
  if (!lacking.empty()) refuse_component(schedule, lacking, "cpu");
  cpu.fallback_reason = reason;
  return cpu;
}

bool waits_for_host(const RunPlan& plan, const Objective& objective) {
  return plan.needs.pacing != Pacing::device || objective.execution().pace == Pace::host;
}

bool makes_copies(const RunPlan& plan, const Objective& objective) {
  return plan.needs.sweeps_per_tick > 1 || plan.needs.descends_at_end ||
         waits_for_host(plan, objective);
}

// Most replicas for which a schedule really starts to be counted: it makes arrays on the host.
constexpr std::int64_t max_counted = 1 << 20;
// Schedules may keep a little that depends on the states or on the model.
constexpr std::uint64_t reserve_bytes = 64 * 1024;
// What counts are uncertain by: small arrays share pages.
constexpr auto page_bytes = static_cast<double>(scratch_page_bytes);

// As many groups as fit into `most` replicas, or replicas of a group, at least one.
BatchShape reduced(const RunPlan& plan, std::int64_t most) {
  BatchShape shape = plan.shape;
  const bool of_size = plan.needs.group_size > 0;
  const std::int64_t step = of_size ? shape.replicas / shape.groups : shape.groups;
  shape.replicas = std::min(shape.replicas, std::max(step, most / step * step));
  if (of_size) shape.groups = shape.replicas / step;
  return shape;
}

// Bytes for each further replica, between two counts.
struct Slope {
  Slope(std::uint64_t fewer, std::uint64_t more, std::int64_t replicas)
      : rise(static_cast<double>(more) - static_cast<double>(fewer)),
        run(static_cast<double>(replicas)) {}
  double most() const { return std::max(0.0, rise + page_bytes) / run; }
  double least() const { return std::max(0.0, rise - page_bytes) / run; }
  double rise, run;
};

std::uint64_t bytes_in(const Space& space, const std::vector<Layout>& layouts, std::int64_t slots) {
  std::uint64_t bytes = 0;
  for (std::size_t b = 0; b < space.blocks().size(); ++b) {
    bytes += block_bytes(space.blocks()[b], layouts[b], slots);
  }
  return bytes;
}

// What an objective brings into the layout of its choice to evaluate it.
std::uint64_t repacked_bytes(const Objective& objective, const Needs& needs, std::int64_t slots) {
  const std::vector<Layout> own = objective.execution().layouts;
  return layouts_of(objective, needs) == own ? 0 : bytes_in(objective.space(), own, slots);
}

// What the threads of the CPU sweep in.
std::uint64_t sweep_bytes(const Objective& objective, const DeviceInfo& cpu, std::int64_t slots,
                          DrawNaming naming) {
  const auto* const sweeping = objective.as<HostScratch>();
  if (sweeping == nullptr) return 0;
  return sweeping->host_scratch_bytes(slots / 32, cpu.parallel_units, naming);
}

// Solutions are read from a copy of the replicas that hold them, so many at once.
std::uint64_t solution_bytes(const Objective& objective, const Needs& needs, std::int64_t top,
                             std::int64_t replicas) {
  const std::int64_t slots = round_up(top > 1 ? std::min(replicas, solutions_at_once) : 1, 32);
  return bytes_in(objective.space(), layouts_of(objective, needs), slots);
}

// Counts what engine and schedule take at the shape of the plan, and where needed at half of it:
// that says what larger and smaller shapes take. No array grows faster than the replicas.
class OwnCount {
 public:
  OwnCount(RunPlan& plan, const Problem& problem, Schedule& schedule)
      : plan_(plan), problem_(problem), schedule_(schedule) {}

  void add_to_plan(std::uint64_t solutions, bool other_shapes) {
    most_ = reduced(plan_, max_counted);
    std::optional<RunCore::OwnBytes> counted;
    if (most_.replicas < plan_.shape.replicas) counted = try_count(most_);
    if (!counted) counted = count(most_ = plan_.shape);
    OwnedBytes own = counted->needed;
    own[MemoryOwner::engine] += reserve_bytes + solutions;
    std::uint64_t copied = counted->copied;
    plan_.scratch_fixed_bytes = own.sum();
    const std::int64_t further = plan_.shape.replicas - most_.replicas;
    const BatchShape fewer = reduced(plan_, most_.replicas / 2);
    std::optional<RunCore::OwnBytes> half;
    const bool is_asked = other_shapes || further > 0;
    if (is_asked && fewer.replicas < most_.replicas) half = try_count(fewer);
    if (half) {
      const std::int64_t between = most_.replicas - fewer.replicas;
      double least = 0;
      for (const MemoryOwner owner :
           {MemoryOwner::engine, MemoryOwner::schedule, MemoryOwner::problem}) {
        const Slope slope(half->needed[owner], counted->needed[owner], between);
        own[owner] += bytes_of(slope.most(), further);
        least += slope.least();
      }
      copied += bytes_of(Slope(half->copied, copied, between).most(), further);
      const std::uint64_t varying = bytes_of(least, plan_.shape.replicas);
      plan_.scratch_fixed_bytes = own.sum() - std::min(varying, own.sum());
    }
    plan_.scratch_bytes = own.sum();
    plan_.owned_bytes += own;
    if (plan_.copy_bytes > 0) plan_.copy_bytes += copied;
  }

 private:
  static std::uint64_t bytes_of(double per_replica, std::int64_t replicas) {
    return static_cast<std::uint64_t>(std::ceil(per_replica * static_cast<double>(replicas)));
  }
  RunCore::OwnBytes count(const BatchShape& shape) {
    RunPlan of = plan_;
    of.shape = shape;
    const RunCore::OwnBytes own = RunCore::own_bytes(problem_, schedule_, of);
    schedule_.needs(problem_, plan_.budget);  // forgets what allocate() resolved
    return own;
  }
  // Groups of chains may not divide a shape that nobody asked for.
  std::optional<RunCore::OwnBytes> try_count(const BatchShape& shape) {
    try {
      return count(shape);
    } catch (const InvalidArgument&) {
      schedule_.needs(problem_, plan_.budget);
      return {};
    }
  }

  RunPlan& plan_;
  const Problem& problem_;
  Schedule& schedule_;
  BatchShape most_;
};

// Asks for the free memory, which takes calls of the system, unless an earlier run has left what
// this one takes.
void ask_unless_idle(RunPlan& plan) {
  const Backend& backend = *plan.opened.backend;
  const std::uint64_t needed = plan.bytes_needed();
  // Copies of a device go to the host where it has no room.
  const std::uint64_t copies = plan.device.gpu ? 0 : plan.copy_bytes;
  if (!backend.has_idle(needed, needed + copies)) plan.device = backend.info();
}

}  // namespace

RunPlan plan_run(const Problem& problem, Schedule& schedule, const Budget& budget,
                 const RunOptions& options, OpenedBackend backend) {
  if (const auto* const pipeline = schedule.as<HasStages>()) {
    return joint_plan(plan_stages(problem, pipeline->stages(), budget, options, backend), budget,
                      options);
  }
  return RunCore::plan(problem, schedule, budget, options, std::move(backend), true);
}

RunPlan RunCore::plan(const Problem& problem, Schedule& schedule, const Budget& budget,
                      const RunOptions& options, OpenedBackend backend, bool for_reading) {
  check_objective(problem);
  check_budget(budget);
  if (options.replicas < 0) {
    throw InvalidArgument("run.replicas",
                          "a run cannot have " + std::to_string(options.replicas) + " replicas",
                          "1 or more, or 0 for the default number");
  }
  const Objective& objective = *problem.objective;
  RunPlan plan;
  plan.budget = budget;
  plan.needs = schedule.needs(problem, budget);
  check_until(budget, schedule, plan.needs);
  check_stop_when(budget, schedule, plan.needs, options.telemetry);
  check_outputs(objective, schedule, plan.needs);
  check_constraints(objective, schedule, plan.needs);
  const bool on_gpu = backend.backend->constants().gpu;
  plan.opened = backend_for(objective, schedule, plan.needs, options, backend, on_gpu);
  const Backend& opened = *plan.opened.backend;
  plan.device = for_reading ? opened.info() : opened.constants();
  plan.needs.sweeps_per_tick = std::max<std::uint32_t>(1, plan.needs.sweeps_per_tick);
  check_requirements(objective, plan.needs);
  check_layouts(objective, schedule, plan.needs);
  check_executor(options, plan.device, waits_for_host(plan, objective));
  const ShapeAndNaming chosen = shape_and_naming(problem, schedule, options, plan);
  plan.shape = chosen.shape;
  plan.draw_naming = chosen.naming;
  plan.given = chosen.given;
  plan.naming_given = options.draw_naming.has_value();
  plan_work(plan, problem, schedule);
  if (plan.ladders_in_blocks()) plan.shape.groups /= ladders_of_block;
  plan.batch_bytes =
      ReplicaBatch::bytes_needed(objective.space(), layouts_of(objective, plan.needs), plan.shape);
  const bool own_sweep = sweeps_itself(objective, plan.needs);
  if (plan.needs.heat_bath) check_heat_bath(objective.space(), own_sweep);
  const std::int64_t slots = round_up(plan.shape.replicas, 32);
  const std::uint64_t data =
      objective.device_bytes(plan.device, slots) + repacked_bytes(objective, plan.needs, slots);
  const std::uint64_t sweeping =
      plan.device.gpu ? 0 : sweep_bytes(objective, plan.device, slots, plan.draw_naming);
  plan.objective_bytes = data;
  plan.owned_bytes[MemoryOwner::batch] = plan.batch_bytes;
  plan.owned_bytes[MemoryOwner::problem] = data;
  plan.owned_bytes[MemoryOwner::engine] = sweeping;
  // On the CPU long ticks can be given up.
  const DeviceShape host;
  if (!plan.device.gpu || makes_copies(plan, objective)) {  // what of batch and objective changes
    plan.copy_bytes = ReplicaBatch::bytes_saved(objective.space(),
                                                layouts_of(objective, plan.needs), plan.shape) +
                      objective.device_bytes(host, slots) - objective.device_bytes(host, 0);
  }
  OwnCount(plan, problem, schedule)
      .add_to_plan(solution_bytes(objective, plan.needs, options.top, plan.shape.replicas),
                   for_reading);
  plan.scratch_bytes += sweeping;  // of threads, whose the engine is
  plan.scratch_fixed_bytes += sweeping;
  plan.owned_bytes[MemoryOwner::copies] = plan.copy_bytes;
  if (!for_reading) ask_unless_idle(plan);
  return plan;
}

}  // namespace kiln
