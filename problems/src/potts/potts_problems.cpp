// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/problems/potts.hpp"

#include "potts/potts_objective.hpp"
#include "sum_of_terms.hpp"

namespace kiln {
namespace {

using Values = std::span<const std::int32_t>;

Values potts_values(StateSpan state) { return std::get<Values>(state.front()); }

// Sum of the sizes of all terms, in units of the model.
double size_of(const Potts& model) {
  double size = 0;
  for (const PottsField& field : model.fields) size += std::abs(field.amount);
  for (const Edge& e : model.couplings) size += std::abs(e.weight);
  return size;
}

bool all_integers(const Potts& model) {
  const auto whole = [](double x) { return std::floor(x) == x; };
  bool all = true;
  for (const PottsField& field : model.fields) all = all && whole(field.amount);
  for (const Edge& e : model.couplings) all = all && whole(e.weight);
  return all;
}

// Scales the model to integers where that is exact; returns stored units per unit of energy.
double store_as_integers(Potts& model, const std::string& name) {
  if (!std::isfinite(4 * size_of(model))) {
    throw InvalidArgument("problem.value", name + ": the coefficients are too large to add up",
                          "the absolute values of the coefficients must sum to less than 4e307");
  }
  const double scale = problems::integer_scale(model);
  if (scale == 0) return 1;
  for (PottsField& field : model.fields) field.amount *= scale;
  for (Edge& e : model.couplings) e.weight *= scale;
  return scale;
}

// One value per line.
std::string format_lines(Values values) {
  std::string text;
  for (const std::int32_t value : values) text += std::to_string(value) + "\n";
  return text;
}

}  // namespace

Problem make_potts(Potts potts, std::string name) {
  if (potts.n < 1) {
    throw InvalidArgument("problem.size", name + ": a problem needs at least one variable");
  }
  problems::canonicalize(potts);
  Potts model = potts;
  const double scale = store_as_integers(model, name);

  Problem problem;
  problem.identity.name = name;
  problem.identity.family = "potts";
  problem.units.value_name = "energy";
  problem.units.integral = all_integers(potts) && problems::integer_scale(model) == 1;
  problem.units.stored_integers = problems::integer_scale(model) == 1;
  problem.units.rounding = problems::rounding_of_rows(potts.n, potts.couplings, size_of(potts));
  problem.units.energy_of_stored = {0, 1 / scale};
  problem.units.objective_of_stored = problem.units.energy_of_stored;
  problem.identity.sizes = {{"n", std::to_string(potts.n)},
                            {"m", std::to_string(potts.couplings.size())},
                            {"q", std::to_string(potts.q)}};
  problem.objective = problems::make_potts_objective(std::move(name), std::move(model));
  const auto raw = std::make_shared<const Potts>(std::move(potts));
  problem.solution.verify = [raw](StateSpan state) {
    return problems::potts_energy(*raw, potts_values(state));
  };
  problem.solution.format = [](StateSpan state) { return format_lines(potts_values(state)); };
  return problem;
}

}  // namespace kiln
