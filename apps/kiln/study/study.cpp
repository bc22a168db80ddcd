// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "study/study.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/problems/outside.hpp"

#include "run/initial_states.hpp"

namespace kiln::cli {

Problem StudySettings::problem() const {
  return problems::outside_by_settings(
      {{"var", variables}, {"constraints", {constraints}}, {"sense", {sense}}});
}

BayesianOptimizationOptions StudySettings::options() const {
  for (const char* name : {"studies", "evaluations"}) {
    if (!parameters.contains(name)) continue;
    throw InvalidArgument("cli.conflict",
                          std::string("kiln ask has no parameter '") + name +
                              "': a folder has one study, and --evaluations is its length",
                          {}, "--evaluations 40");
  }
  return BayesianOptimizationOptions::table().parse({parameters.begin(), parameters.end()},
                                                    "schedule 'bayesian-optimization'");
}

BayesianOptimizer StudySettings::optimizer(const Problem& problem) const {
  BayesianProblem searched;
  searched.space = problem.objective->space();
  searched.constraints = problem.objective->constraints();
  searched.coordinates = problem.coordinates;
  return BayesianOptimizer(std::move(searched), options(), seed, device);
}

std::int64_t StudyRecord::told() const {
  return std::ranges::count_if(points, [](const auto& one) { return one.second.told; });
}

std::int64_t StudyRecord::failed() const {
  return std::ranges::count_if(
      points, [](const auto& one) { return one.second.told && !std::isfinite(one.second.value); });
}

std::vector<std::int64_t> StudyRecord::pending() const {
  std::vector<std::int64_t> ids;
  for (const auto& [id, point] : points) {
    if (!point.told) ids.push_back(id);
  }
  return ids;
}

const StudyPoint* StudyRecord::best(Sense sense) const {
  const StudyPoint* best = nullptr;
  for (const StudyEvent& event : events) {
    if (event.asked > 0) continue;
    const StudyPoint& point = points.at(event.told.id);
    const bool feasible = std::isfinite(point.value) &&
                          std::ranges::all_of(point.constraints, [](double g) { return g <= 0; });
    if (!feasible) continue;
    const bool better = best == nullptr || (sense == Sense::maximize ? point.value > best->value
                                                                     : point.value < best->value);
    if (better) best = &point;
  }
  return best;
}

State state_of(const Problem& problem, const std::vector<double>& numbers) {
  return canonical_state(problem.objective->space(), numbers);
}

}  // namespace kiln::cli
