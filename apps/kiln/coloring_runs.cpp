// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring_runs.hpp"

#include <algorithm>

#include "kiln/coloring.hpp"

namespace kiln::cli {
namespace {

const ColoringModel* fewest_of(const Problem& problem) {
  const auto* coloring = dynamic_cast<const ColoringObjective*>(problem.objective.get());
  return coloring == nullptr || !coloring->model().fewest ? nullptr : &coloring->model();
}

}  // namespace

Budget with_bound(Budget budget, const Problem& problem) {
  const ColoringModel* model = fewest_of(problem);
  if (model == nullptr) return budget;
  const double bound = model->lower_bound;
  budget.target = std::max(bound, budget.target.value_or(bound));
  return budget;
}

void judge_by(const std::optional<double>& target, Result& result) {
  if (result.target == target) return;
  result.target = target;
  if (result.stop == Stop::target_reached) result.stop = Stop::converged;
}

std::vector<State> greedy_colorings(const Problem& problem) {
  const ColoringModel* model = fewest_of(problem);
  if (model == nullptr) return {};
  return {State{model->first}};
}

}  // namespace kiln::cli
