// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/stored_model.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/large_vector.hpp"

#include "pairwise/pairwise_objective.hpp"
#include "pairwise/stored_scale.hpp"
#include "sum_of_terms.hpp"

namespace kiln::problems {
namespace {

void scale_by(Ising& model, double factor) {
  for (double& h : model.fields) h *= factor;
  for (Edge& e : model.couplings) e.weight *= factor;
}

// Calls visit(coefficient) in the order of the model until one call returns false.
template <class Visit>
bool all_of(const Ising& model, Visit visit) {
  for (const double h : model.fields) {
    if (!visit(h)) return false;
  }
  for (const Edge& e : model.couplings) {
    if (!visit(e.weight)) return false;
  }
  return true;
}
template <class Visit>
bool all_of(const Qubo& qubo, Visit visit) {
  for (const double a : qubo.linear) {
    if (!visit(a)) return false;
  }
  for (const QuboTerm& term : qubo.quadratic) {
    if (!visit(term.value)) return false;
  }
  return true;
}

// A graph has no fields, and counts as if they were 0.
std::size_t count_of(const Ising& model) {
  return static_cast<std::size_t>(model.n) + model.couplings.size();
}
std::size_t count_of(const Qubo& qubo) { return qubo.linear.size() + qubo.quadratic.size(); }

// Without the offset, in units of 1 / scale.
Ising whole_numbers(const Ising& model, double scale) {
  Ising whole{model.n, model.fields, model.couplings, 0};
  for (double& h : whole.fields) h = whole_of(h, scale);
  for (Edge& e : whole.couplings) e.weight = whole_of(e.weight, scale);
  return whole;
}
Qubo whole_numbers(const Qubo& qubo, double scale) {
  Qubo whole{qubo.n, qubo.linear, qubo.quadratic, 0};
  for (double& a : whole.linear) a = whole_of(a, scale);
  for (QuboTerm& term : whole.quadratic) term.value = whole_of(term.value, scale);
  return whole;
}

Ising energy_model(Ising model, double) { return model; }
Ising energy_model(const Qubo& qubo, double sign) {
  Ising model;
  model.n = qubo.n;
  model.fields.resize(static_cast<std::size_t>(qubo.n), 0.0);
  TermSum offset;
  offset.add(sign * qubo.offset);
  for (std::size_t i = 0; i < qubo.linear.size(); ++i) {
    model.fields[i] -= sign * qubo.linear[i] / 2;
    offset.add(sign * qubo.linear[i] / 2);
  }
  // x_i x_j = (1 - s_i)(1 - s_j) / 4
  reserve_large(model.couplings, qubo.quadratic.size());
  for (const QuboTerm& term : qubo.quadratic) {
    const double quarter = sign * term.value / 4;
    model.fields[static_cast<std::size_t>(term.i)] -= quarter;
    model.fields[static_cast<std::size_t>(term.j)] -= quarter;
    offset.add(quarter);
    model.couplings.push_back({term.i, term.j, quarter});
  }
  model.offset = offset.value();
  return model;
}

// Stored units for a unit of a coefficient: a QUBO has quarters.
double growth_of(const Ising&) { return 1; }
double growth_of(const Qubo&) { return 4; }

void keep(Ising&& model, StoredModel& stored) {
  stored.sizes = sizes_of(model);
  stored.model = std::make_shared<const Ising>(std::move(model));
}

// The model of the rounded coefficients; nothing where it is too large for exact sums.
template <class Raw>
std::optional<StoredModel> in_units(const Raw& raw, double sign, const IntegerScale& chosen) {
  const double scale = chosen.scale;
  Ising model = energy_model(whole_numbers(raw, scale), sign);
  const double quarters = integer_scale(model);
  if (quarters == 0) return {};
  scale_by(model, quarters);
  StoredModel stored;
  stored.scale = scale * quarters;
  stored.shift = chosen.shift;
  stored.integers = stored.shift == 0;
  const double constant = model.offset * quarters, offset = sign * raw.offset;
  keep(std::move(model), stored);
  const std::optional<Affine> map =
      exact_map(offset, stored.scale, std::abs(constant) + stored.sizes.sum);
  if (!map) {
    stored.energy_of_stored = {offset + constant / stored.scale, 1 / stored.scale};
    return stored;
  }
  stored.energy_of_stored = {map->offset + map->factor * constant, map->factor, map->divisor};
  if (stored.integers) stored.decimal = scale;
  stored.energy_of_whole = {map->offset, map->factor * quarters, map->divisor};
  return stored;
}

template <class Pair>
std::string both(const Pair& a, const Pair& b) {
  return std::to_string(a) + " and " + std::to_string(b);
}

std::string name_of(const Ising& model, std::size_t index, bool is_graph) {
  if (index < model.fields.size()) return "field of spin " + std::to_string(index);
  const Edge& e = model.couplings[index - model.fields.size()];
  return (is_graph ? "weight of the edge between vertices " : "coupling of spins ") +
         both(e.u, e.v);
}
std::string name_of(const Qubo& qubo, std::size_t index, bool) {
  if (index < qubo.linear.size()) return "linear coefficient of variable " + std::to_string(index);
  const QuboTerm& term = qubo.quadratic[index - qubo.linear.size()];
  return "coefficient of variables " + both(term.i, term.j);
}

// As integers that are equal to the coefficients, or almost; nothing, and the reason in `note`,
// where there are none.
template <class Raw>
std::optional<StoredModel> in_integers(const Raw& raw, double sign, double size, bool is_graph,
                                       std::string& note) {
  const ScaleLimit limit{size, static_cast<std::int64_t>(count_of(raw)), growth_of(raw)};
  const IntegerScale chosen = integer_scale_of([&](auto test) { return all_of(raw, test); }, limit);
  // Integers whose sizes add up to more than 2^52 stay as they are: fixed point would round them.
  const bool rounds_integers =
      chosen.shift > 0 && all_of(raw, [](double x) { return std::floor(x) == x; });
  if (chosen.scale != 0 && rounds_integers) return {};
  if (chosen.scale != 0) return in_units(raw, sign, chosen);
  note = why_no_integers(chosen, name_of(raw, chosen.misfit.index, is_graph));
  return {};
}

// Energies are sums of the coefficients; twice for the sum over both ends of each coupling.
void require_finite_sums(double size, double offset, const std::string& name) {
  if (std::isfinite(4 * (size + std::abs(offset)))) return;
  throw InvalidArgument("problem.value", name + ": the coefficients are too large to add up",
                        "the absolute values of the coefficients must sum to less than 4e307");
}

// @param raw  the coefficients that the model was made of, or the model itself
template <class Raw>
StoredModel store(std::shared_ptr<const Ising> model, const Raw& raw, double sign, bool is_graph,
                  const std::string& name) {
  StoredModel stored;
  stored.model = std::move(model);
  stored.sizes = sizes_of(*stored.model);
  const double offset = stored.model->offset, size = stored.sizes.sum;
  require_finite_sums(size, offset, name);
  const double power_of_two = integer_scale(*stored.model, stored.sizes);
  if (power_of_two != 0) {
    stored.scale = power_of_two;
    stored.integers = true;
    if (power_of_two != 1) {
      Ising scaled = *stored.model;
      scale_by(scaled, power_of_two);
      keep(std::move(scaled), stored);
    }
  } else if (auto rounded = in_integers(raw, sign, size, is_graph, stored.note)) {
    return *std::move(rounded);
  }
  stored.energy_of_stored = {offset, 1 / stored.scale};
  return stored;
}

}  // namespace

StoredModel stored_model(std::shared_ptr<const Ising> ising, const std::string& name,
                         bool is_graph) {
  return store(ising, *ising, 1, is_graph, name);
}
StoredModel stored_model(const Qubo& qubo, const std::string& name, double sign) {
  return store(std::make_shared<const Ising>(energy_model(qubo, sign)), qubo, sign, false, name);
}

}  // namespace kiln::problems
