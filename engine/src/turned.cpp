// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/turned.hpp"

#include <algorithm>
#include <vector>

#include "kiln/coloring.hpp"
#include "kiln/errors.hpp"

namespace kiln {

Problem turned(const Problem& problem) {
  const bool maximized = problem.sense == Sense::maximize;
  if (problem.objectives) {
    throw InvalidArgument("problem.sense",
                          "'" + problem.name + "' has several objectives, each with its own sense",
                          {}, "leave --sense, --minimize and --maximize out");
  }
  if (problem.posterior) {
    throw InvalidArgument("problem.sense",
                          "'" + problem.name +
                              "' is a density: minus its logarithm is minimised, which finds its "
                              "mode",
                          {}, "leave --sense and --maximize out");
  }
  const auto* coloring = dynamic_cast<const ColoringObjective*>(problem.objective.get());
  if (coloring != nullptr && coloring->model().fewest) {
    throw InvalidArgument("problem.sense",
                          "'" + problem.name + "' asks for the fewest colours: it has no most", {},
                          "leave --sense and --maximize out");
  }
  const double sign = maximized ? 1 : -1;
  const int constraints = problem.objective->abilities().constraints;
  Problem other = problem;
  if (coloring != nullptr) other.default_schedule.clear();  // it looks for few conflicts
  other.bound.reset();
  other.known_states.clear();
  other.sense = maximized ? Sense::minimize : Sense::maximize;
  other.objective = make_constrained_host_objective(
      problem.objective->name(), problem.objective->space(), constraints,
      [sign, verify = problem.verify, constraint_values = problem.constraint_values](
          StateSpan state, std::span<double> g) {
        if (constraint_values) std::ranges::copy(constraint_values(state), g.begin());
        return sign * verify(state);
      });
  other.energy_of_stored = {};
  other.objective_of_stored = {0, sign};
  other.best_known.reset();
  other.best_known_source.clear();
  return other;
}

}  // namespace kiln
