// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/objectives/draws_planes.hpp"
#include "kiln/plan.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"

#include "run_parts.hpp"

namespace kiln {

inline std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

inline constexpr std::int64_t max_replicas = INT32_MAX;

/// The multiple of `step` that is `replicas` or the next above, or the largest that a batch can
/// have; 0 if that has none.
inline std::int64_t fitting_multiple(std::int64_t replicas, std::int64_t step) {
  if (replicas <= max_replicas - step) return (replicas + step - 1) / step * step;
  return max_replicas / step * step;
}

/// @throws InvalidArgument for a number of replicas that no batch has, or that groups do not
/// divide.
/// @param of_group  suggests multiples of so many replicas for each group
void check_groups(const BatchShape& shape, std::int64_t of_group = 1);

/// What a run has once its needs and device are known (RunPlan).
struct ShapeAndNaming {
  BatchShape shape;  ///< its groups are ladders, not their blocks
  DrawNaming naming = DrawNaming::words;
  GivenNumber given = GivenNumber::none;
};
/// Reads needs and device of the plan, and changes nothing of the schedule.
/// @throws InvalidArgument for options that the run cannot have.
ShapeAndNaming shape_and_naming(const Problem& problem, const Schedule& schedule,
                                const RunOptions& options, const RunPlan& plan);

/// Why sweeps cannot decide the 32 replicas of a word together, whatever their number; "" if they
/// can. Nothing of it depends on the device.
inline std::string obstacle_to_planes(const Objective& objective, const Needs& needs) {
  const auto* const able = objective.as<DrawsPlanes>();
  if (able == nullptr || !sweeps_itself(objective, needs)) {
    return "only sweeps of Ising, Max-Cut and QUBO models can";
  }
  if (std::string obstacle = able->obstacle_to_planes(); !obstacle.empty()) return obstacle;
  if (needs.heat_bath) return "heat-bath moves draw by words";
  if (!needs.groups_share_words && !needs.ladders_in_blocks) {
    return "replicas of a group have different temperatures, or leave their slots";
  }
  return {};
}

/// The naming of the draws of a run (RunPlan::draw_naming).
class NamingChoice {
 public:
  NamingChoice(const Problem& problem, const Needs& needs, const RunOptions& options,
               const BatchShape& shape)
      : needs_(needs),
        options_(options),
        states_given_(!options.initial_states.empty() || !problem.start.states.empty()),
        fitting_(fitting_replicas(needs, shape)),
        obstacle_(obstacle_to_planes(*problem.objective, needs)),
        in_words_(!obstacle_.empty() || shape.replicas == fitting_) {
    if (in_words_) return;
    obstacle_ = needs.ladders_in_blocks
                    ? counted(shape.groups, "ladder is", "ladders are") + " no multiple of 32"
                    : "a group of " +
                          counted(shape.replicas / shape.groups, "replica", "replicas") +
                          " is no multiple of 32";
  }

  /// @throws InvalidArgument for a naming that the run cannot have.
  DrawNaming naming() const {
    if (needs_.shared_noise) return shared();
    if (options_.draw_naming == DrawNaming::shared) {
      throw InvalidArgument("run.draw_naming", "the schedule has no shared noise",
                            "simulated annealing with noise=shared",
                            "leave the naming of draws to Kiln");
    }
    const bool possible = obstacle_.empty();
    if (options_.draw_naming != DrawNaming::planes || possible) {
      return options_.draw_naming.value_or(possible ? DrawNaming::planes : DrawNaming::words);
    }
    throw InvalidArgument("run.draw_naming", "this run cannot draw by planes: " + obstacle_, {},
                          or_more_replicas("leave the naming of draws to Kiln"));
  }

 private:
  static std::string counted(std::int64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
  }

  // As many groups of whole words, or as large ladders in whole blocks.
  static std::int64_t fitting_replicas(const Needs& needs, const BatchShape& shape) {
    const std::int64_t step = needs.ladders_in_blocks
                                  ? ladders_of_block * (shape.replicas / shape.groups)
                                  : 32 * shape.groups;
    return fitting_multiple(shape.replicas, step);
  }

  DrawNaming shared() const {
    const Fix without = Fix::drop_need("shared_noise");
    if (options_.draw_naming.value_or(DrawNaming::shared) != DrawNaming::shared) {
      throw InvalidArgument("run.draw_naming",
                            std::string("shared noise excludes the naming of draws by ") +
                                to_string(*options_.draw_naming),
                            {}, Fix("leave the naming of draws to Kiln").or_else(without));
    }
    if (!obstacle_.empty()) {
      throw InvalidArgument("run.noise", "this run cannot have shared noise: " + obstacle_, {},
                            or_more_replicas(without));
    }
    if (states_given_) {
      throw InvalidArgument("run.noise",
                            "shared noise excludes initial states: of 32 replicas with the same "
                            "random numbers those that begin equal remain equal",
                            {}, without);
    }
    return DrawNaming::shared;
  }

  Fix or_more_replicas(const Fix& fix) const {
    return in_words_ || fitting_ == 0 ? fix : Fix::set_replicas(fitting_).or_else(fix);
  }

  const Needs& needs_;
  const RunOptions& options_;
  bool states_given_;
  std::int64_t fitting_;  // replicas that fill words in each group
  std::string obstacle_;
  bool in_words_;  // or more replicas are no remedy
};

}  // namespace kiln
