// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/outside.hpp"

#include "kiln/errors.hpp"

#include "command_states.hpp"
#include "named_variables.hpp"
#include "settings.hpp"

namespace kiln::problems {

Problem make_outside_problem(const std::vector<CommandVariable>& variables, int constraints,
                             Sense sense) {
  detail::check_variables(variables, "the study", "lr");
  detail::check_constraints(constraints, "a study");
  const detail::CommandStates states(variables);
  Problem problem = make_problem(make_constrained_host_objective(
      "outside", states.space(), constraints, [](StateSpan, std::span<double>) -> double {
        throw ObjectiveError("outside.value", "the values of this problem come from outside");
      }));
  problem.identity.family = "outside";
  problem.units.sense = sense;
  problem.units.objective_of_stored = {0, sense == Sense::maximize ? -1.0 : 1.0};
  problem.experiment.emplace().noisy = true;
  detail::describe_variables(problem, variables);
  return problem;
}

Problem outside_by_settings(const ProblemSettings& settings) {
  return make_outside_problem(detail::variables_of(settings), detail::constraints_of(settings),
                              detail::sense_of(settings, Sense::minimize));
}

}  // namespace kiln::problems
