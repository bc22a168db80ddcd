// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How many replicas a run has, in how many groups, and how it names its draws.
#include <algorithm>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/options.hpp"
#include "kiln/own_work.hpp"
#include "kiln/plan.hpp"

#include "plan_naming.hpp"
#include "run_parts.hpp"

namespace kiln {
namespace {

// Whether only the number of replicas may stand between a run and planes.
bool may_have_planes(const RunPlan& plan, const Objective& objective, const RunOptions& options) {
  return options.draw_naming != DrawNaming::words &&
         obstacle_to_planes(objective, plan.needs).empty();
}

// Runs that draw by words as earlier versions did keep their replicas, too.
std::int64_t default_replicas(const Problem& problem, const Schedule& schedule,
                              const RunOptions& options, const RunPlan& plan) {
  const Objective& objective = *problem.objective;
  const auto* const own = schedule.as<OwnWork>();
  WorkShape work = own == nullptr ? objective.work_shape() : own->own_work(problem);
  if (objective.execution().pace == Pace::host) work.unit = WorkUnit::host_call;
  work.by_planes = plan.needs.groups_share_words && may_have_planes(plan, objective, options);
  const std::int64_t replicas = choose_shape(work, plan.device).replicas;
  // Many small groups are no words of 32, unless they have to be.
  const std::int64_t words = 32 * plan.needs.groups;
  if (work.by_planes && plan.needs.shared_noise) return round_up(replicas, words);
  if (!work.by_planes || plan.device.gpu) return replicas;
  if (words <= replicas) return round_up(replicas, words);
  work.by_planes = false;
  return choose_shape(work, plan.device).replicas;
}

// Either the groups are given, or their size. A default number of replicas that fills a block of
// ladders makes whole blocks, if `in_blocks`.
BatchShape shape_for(const Needs& needs, const RunOptions& options, std::int64_t default_replicas,
                     bool in_blocks, const std::string& schedule) {
  const std::int64_t step = needs.group_size > 0 ? needs.group_size : needs.groups;
  BatchShape shape{options.replicas, needs.groups, options.seed};
  if (shape.replicas == 0 && needs.default_replicas > 0) shape.replicas = needs.default_replicas;
  if (shape.replicas == 0) {
    const std::int64_t wanted = std::max(default_replicas, needs.min_replicas);
    const std::int64_t block = ladders_of_block * step, whole = wanted / block * block;
    const bool fills = in_blocks && whole >= std::max(block, needs.min_replicas);
    shape.replicas = fills ? whole : round_up(wanted, step);
  }
  if (needs.group_size == 0) return shape;
  shape.groups = shape.replicas / step;
  if (shape.replicas % step != 0) {
    throw InvalidArgument("run.replicas",
                          std::to_string(shape.replicas) +
                              " replicas cannot be divided into groups of " + std::to_string(step),
                          "schedule '" + schedule + "' needs a multiple of " + std::to_string(step),
                          Fix::set_replicas(fitting_multiple(shape.replicas, step)));
  }
  return shape;
}

}  // namespace

void check_groups(const BatchShape& shape, std::int64_t of_group) {
  if (shape.replicas < 1 || shape.replicas > max_replicas) {
    throw InvalidArgument("batch.replicas", "a batch has 1 .. 2147483647 replicas, not " +
                                                std::to_string(shape.replicas));
  }
  if (shape.groups >= 1 && shape.replicas % shape.groups == 0) return;
  const std::int64_t step = of_group * std::max<std::int64_t>(1, shape.groups);
  const std::int64_t fitting = fitting_multiple(shape.replicas, step);
  throw InvalidArgument("batch.groups",
                        std::to_string(shape.replicas) +
                            " replicas cannot be divided equally among " +
                            std::to_string(shape.groups) + " groups",
                        {}, fitting > 0 ? Fix::set_replicas(fitting) : Fix("use fewer groups"));
}

ShapeAndNaming shape_and_naming(const Problem& problem, const Schedule& schedule,
                                const RunOptions& options, const RunPlan& plan) {
  const bool in_blocks =
      plan.needs.ladders_in_blocks && may_have_planes(plan, *problem.objective, options);
  const std::int64_t wanted = default_replicas(problem, schedule, options, plan);
  ShapeAndNaming chosen;
  chosen.shape = shape_for(plan.needs, options, wanted, in_blocks, schedule.name());
  const std::int64_t step = plan.needs.group_size > 0 ? plan.needs.group_size : plan.needs.groups;
  // Words of each group may be what makes so many.
  const bool raised = step > wanted || (plan.needs.shared_noise && step > 1 && wanted == 32 * step);
  chosen.given = options.replicas > 0                         ? GivenNumber::replicas
                 : plan.needs.default_replicas == 0 && raised ? GivenNumber::groups
                                                              : GivenNumber::none;
  check_groups(chosen.shape, plan.needs.shared_noise ? 32 : 1);
  chosen.naming = NamingChoice(problem, plan.needs, options, chosen.shape).naming();
  return chosen;
}

}  // namespace kiln
