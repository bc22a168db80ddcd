// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/penalized.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"

namespace kiln {
namespace {

void check_penalty(const Problem& problem, double weight) {
  const std::string name = "'" + problem.identity.name + "'";
  if (problem.objectives) {
    throw InvalidArgument("problem.penalty",
                          name + " has several objectives, and a penalty belongs to one",
                          "a problem with one objective");
  }
  if (problem.posterior) {
    throw InvalidArgument("problem.penalty", name + " is a density, which a penalty would change",
                          "a penalty that is a part of the density");
  }
  // They are to the measure of the objective without this penalty, which could outweigh them.
  if (problem.solution.constraint_values && problem.objective->constraints() == 0) {
    throw InvalidArgument("problem.penalty",
                          name + " has constraints that its objective holds as penalties",
                          "an objective without constraints, or one that evaluates them",
                          "write the penalty into the formula: max(0, g)^2");
  }
  if (std::isfinite(weight) && weight > 0) return;
  throw InvalidArgument("problem.penalty",
                        "the weight of a penalty is " + detail::show_real(weight),
                        "a finite number above 0");
}

}  // namespace

Problem penalized(const Problem& problem, HostFunction penalty, double weight, bool thread_safe) {
  check_penalty(problem, weight);
  const double sign = problem.units.sense == Sense::maximize ? -1 : 1;
  Problem other = problem;
  other.solution.verify = [verify = problem.solution.verify, own = std::move(penalty),
                           share = sign * weight](StateSpan state) {
    return verify(state) + share * own(state);
  };
  other.objective = make_constrained_host_objective(
      problem.objective->name() + " with a penalty", problem.objective->space(),
      problem.objective->constraints(),
      [sign, value = other.solution.verify, constraint_values = problem.solution.constraint_values](
          StateSpan state, std::span<double> g) {
        if (constraint_values) std::ranges::copy(constraint_values(state), g.begin());
        return sign * value(state);
      },
      thread_safe);
  other.units.integral = false;
  other.units.stored_integers = false;
  other.units.rounding = 0;
  other.units.energy_of_stored = {};
  other.units.objective_of_stored = {0, sign};
  other.known = {};
  other.start.schedule.clear();
  return other;
}

}  // namespace kiln
