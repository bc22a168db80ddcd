// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/problems/potts.hpp"

#include "pairwise/stored_scale.hpp"
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

template <class Visit>
bool all_of(const Potts& model, Visit visit) {
  for (const PottsField& field : model.fields) {
    if (!visit(field.amount)) return false;
  }
  for (const Edge& e : model.couplings) {
    if (!visit(e.weight)) return false;
  }
  return true;
}

std::string name_of(const Potts& model, std::size_t index) {
  if (index < model.fields.size()) {
    const PottsField& field = model.fields[index];
    return "field on value " + std::to_string(field.value) + " of variable " +
           std::to_string(field.variable);
  }
  const Edge& e = model.couplings[index - model.fields.size()];
  return "coupling of variables " + std::to_string(e.u) + " and " + std::to_string(e.v);
}

struct PottsUnits {
  double scale = 1;  // stored units per unit of energy
  double shift = 0;  // bound of the change of an energy by rounding
  bool integers = false;
  double decimal = 0;     // the scale where coefficients are decimal fractions
  std::string note = {};  // why real numbers are stored
};

// Stores integers where that is possible, as stored_model() does.
PottsUnits store_as_integers(Potts& model, const std::string& name) {
  if (!std::isfinite(4 * size_of(model))) {
    throw InvalidArgument("problem.value", name + ": the coefficients are too large to add up",
                          "the absolute values of the coefficients must sum to less than 4e307");
  }
  PottsUnits units{problems::integer_scale(model)};
  units.integers = units.scale != 0;
  if (!units.integers) {
    const auto count = static_cast<std::int64_t>(model.fields.size() + model.couplings.size());
    const problems::IntegerScale chosen = problems::integer_scale_of(
        [&](auto test) { return all_of(model, test); }, {size_of(model), count, 1});
    if (chosen.scale == 0) {
      return {.note = problems::why_no_integers(chosen, name_of(model, chosen.misfit.index))};
    }
    const bool exact = chosen.shift == 0;
    units = {chosen.scale, chosen.shift, exact, exact ? chosen.scale : 0};
  }
  for (PottsField& field : model.fields) {
    field.amount = problems::whole_of(field.amount, units.scale);
  }
  for (Edge& e : model.couplings) e.weight = problems::whole_of(e.weight, units.scale);
  return units;
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
  const PottsUnits units = store_as_integers(model, name);

  Problem problem;
  problem.identity.name = name;
  problem.identity.family = "potts";
  problem.units.value_name = "energy";
  problem.units.integral = all_integers(potts) && units.integers;
  problem.units.stored_integers = units.integers;
  problem.units.rounding =
      problems::rounding_of_rows(potts.n, potts.couplings, size_of(potts)) + units.shift;
  problem.units.energy_of_stored = {0, 1, units.scale};
  problem.units.objective_of_stored = problem.units.energy_of_stored;
  problem.identity.sizes = {{"n", std::to_string(potts.n)},
                            {"m", std::to_string(potts.couplings.size())},
                            {"q", std::to_string(potts.q)}};
  if (!units.note.empty()) problem.identity.notes.push_back(units.note);
  const auto raw = std::make_shared<const Potts>(std::move(potts));
  problem.objective = problems::make_potts_objective(std::move(name), std::move(model));
  problem.solution.verify = [raw, decimal = units.decimal](StateSpan state) {
    return problems::potts_energy(*raw, potts_values(state), decimal);
  };
  problem.solution.format = [](StateSpan state) { return format_lines(potts_values(state)); };
  return problem;
}

}  // namespace kiln
