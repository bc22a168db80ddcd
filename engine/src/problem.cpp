// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problem.hpp"

#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"

namespace kiln {
namespace {

std::string format_values(StateSpan state) {
  std::string text;
  for (const BlockSpan& block : state) {
    std::visit(
        [&](auto values) {
          for (const auto value : values) {
            text += detail::show_real(static_cast<double>(value)) + "\n";
          }
        },
        block);
  }
  return text;
}

}  // namespace

ProgramKeeper::~ProgramKeeper() = default;

double Problem::stored_target(double target) const {
  const double slack = target_tolerance();
  const Affine& objective_of_stored = units.objective_of_stored;
  if (!units.integral && !units.stored_integers) {
    return objective_of_stored.inverse(units.sense == Sense::maximize ? target - slack
                                                                      : target + slack);
  }
  // An offset that is no integer rounds, the energies beside it do not.
  const double stored = objective_of_stored.inverse(target), whole = std::round(stored);
  return std::abs(objective_of_stored(whole) - target) <= slack ? whole : stored;
}

double Problem::stored_of(double value) const {
  const double stored = units.objective_of_stored.inverse(value), whole = std::round(stored);
  return units.stored_integers && units.objective_of_stored(whole) == value ? whole : stored;
}

Problem make_problem(std::shared_ptr<const Objective> objective) {
  if (!objective) throw InvalidArgument("problem.empty", "a problem needs an objective");
  Problem problem;
  problem.identity.name = objective->name();
  problem.identity.family = "function";
  problem.identity.sizes = {{"n", std::to_string(objective->space().variables())}};
  problem.solution.format = format_values;
  problem.solution.verify = objective->reference();
  problem.solution.constraint_values = objective->constraint_reference();
  problem.objective = std::move(objective);
  return problem;
}

Problem make_posterior(std::shared_ptr<const Objective> objective, Quantities quantities) {
  Problem problem = make_problem(std::move(objective));
  problem.identity.family = "posterior";
  problem.posterior = Posterior{std::move(quantities)};
  return problem;
}

std::vector<BlockSpan> spans_of(const State& state) {
  std::vector<BlockSpan> spans;
  spans.reserve(state.size());
  for (const BlockValues& block : state) {
    std::visit(
        [&](const auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          spans.emplace_back(std::span<const T>(values));
        },
        block);
  }
  return spans;
}

}  // namespace kiln
