// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/turned.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

// A search by the value alone would not see the constraints.
void require_evaluated_constraints(const Problem& problem) {
  if (!problem.solution.constraint_values || problem.objective->constraints() > 0) return;
  throw InvalidArgument("problem.sense",
                        "'" + problem.identity.name +
                            "' has constraints that are penalties of its objective, for one sense",
                        {}, "make the problem with the opposite sense");
}

void turn_on_host(const Problem& problem, Problem& other) {
  const double sign = problem.units.sense == Sense::maximize ? 1 : -1;
  const int constraints = problem.objective->constraints();
  other.objective = make_constrained_host_objective(
      problem.objective->name(), problem.objective->space(), constraints,
      [sign, verify = problem.solution.verify,
       constraint_values = problem.solution.constraint_values](StateSpan state,
                                                               std::span<double> g) {
        if (constraint_values) std::ranges::copy(constraint_values(state), g.begin());
        return sign * verify(state);
      });
  other.units.stored_integers = false;
  other.units.energy_of_stored = {};
  other.units.objective_of_stored = {0, sign};
}

// Stored energies have the other sign, and energies with them; values stay what they are.
void turn_model(std::shared_ptr<const Objective> model, Problem& other) {
  other.objective = std::move(model);
  other.units.energy_of_stored.offset = 0.0 - other.units.energy_of_stored.offset;
  other.units.objective_of_stored.factor = 0.0 - other.units.objective_of_stored.factor;
}

}  // namespace

Problem turned(const Problem& problem) {
  if (problem.objectives) {
    throw InvalidArgument("problem.sense",
                          "'" + problem.identity.name +
                              "' has several objectives, and each objective has a separate sense",
                          {}, Fix::keep_sense("any"));
  }
  if (problem.posterior) {
    throw InvalidArgument(
        "problem.sense",
        "'" + problem.identity.name +
            "' is a density: a run minimises the negative log density, to find the mode",
        {}, Fix::keep_sense("maximize"));
  }
  const auto* const own = problem.objective->as<Turnable>();
  const std::string reason = own == nullptr ? std::string{} : own->why_not_turned();
  if (!reason.empty()) {
    throw InvalidArgument("problem.sense", "'" + problem.identity.name + "' " + reason, {},
                          Fix::keep_sense("maximize"));
  }
  Problem other = problem;
  other.known.bound.reset();
  other.start.states.clear();
  other.units.sense = problem.units.sense == Sense::maximize ? Sense::minimize : Sense::maximize;
  std::shared_ptr<const Objective> model = own == nullptr ? nullptr : own->turned();
  if (!model) require_evaluated_constraints(problem);
  if (model) {
    turn_model(std::move(model), other);
  } else {
    turn_on_host(problem, other);
  }
  if (own != nullptr)
    other.start.schedule.clear();  // it was for moves that only improve this sense
  other.known.best.reset();
  other.known.best_source.clear();
  return other;
}

}  // namespace kiln
