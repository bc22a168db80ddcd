// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include "kiln/errors.hpp"
#include "kiln/problems/pairwise_family.hpp"

#include "pairwise/pairwise_family_objective.hpp"
#include "sum_of_terms.hpp"

namespace kiln {
namespace {

using Spins = std::span<const std::int8_t>;

double size_with_offset(const Ising& model) {
  double size = std::abs(model.offset);
  for (const double h : model.fields) size += std::abs(h);
  for (const Edge& e : model.couplings) size += std::abs(e.weight);
  return size;
}

double rounding_of(const Ising& model) {
  return problems::rounding_of_rows(model.n, model.couplings, size_with_offset(model)) +
         problems::rounding_of_offset(model.offset);
}

double energy_of(const Ising& model, Spins s) {
  problems::TermSum energy;
  energy.add(model.offset);
  for (std::size_t i = 0; i < s.size(); ++i) energy.add(model.fields[i] * s[i]);
  for (const Edge& e : model.couplings) {
    energy.add(e.weight * s[static_cast<std::size_t>(e.u)] * s[static_cast<std::size_t>(e.v)]);
  }
  return energy.value();
}

void scale_member(Ising& model, double factor) {
  for (double& h : model.fields) h *= factor;
  for (Edge& e : model.couplings) e.weight *= factor;
}

void check(PairwiseFamily& family, const std::string& name) {
  if (family.base.n < 1) {
    throw InvalidArgument("problem.size", name + ": a problem needs at least one variable");
  }
  if (family.base.n != family.term.n) {
    throw InvalidArgument("problem.size",
                          name + ": the model A has " + std::to_string(family.base.n) +
                              " spins, and the model B has " + std::to_string(family.term.n),
                          "two models with the same number of spins");
  }
  problems::canonicalize(family.base);
  problems::canonicalize(family.term);
  if (!std::isfinite(family.target) || !std::isfinite(family.low)) {
    throw InvalidArgument("problem.value", name + ": a value of lambda is not a finite number");
  }
  const double factor = 1 + std::max(std::abs(family.target), std::abs(family.low));
  if (!std::isfinite(4 *
                     (size_with_offset(family.base) + factor * size_with_offset(family.term)))) {
    throw InvalidArgument("problem.value", name + ": the coefficients are too large to add up",
                          "the absolute values of the coefficients must sum to less than 4e307");
  }
}

}  // namespace

Problem make_pairwise_family(PairwiseFamily family, std::string name) {
  check(family, name);
  PairwiseFamily stored = family;
  const double wanted = problems::integer_scale(stored);
  const double scale = wanted == 0 ? 1 : wanted;
  scale_member(stored.base, scale);
  scale_member(stored.term, scale);

  const double lambda = family.target;
  const double offset = family.base.offset + lambda * family.term.offset;
  const double size =
      size_with_offset(family.base) + std::abs(lambda) * size_with_offset(family.term);
  Problem problem;
  problem.identity.name = name;
  problem.identity.family = "pairwise_family";
  problem.units.integral = wanted == 1 && std::floor(lambda) == lambda && size < 0x1p52 &&
                           std::floor(family.base.offset) == family.base.offset &&
                           std::floor(family.term.offset) == family.term.offset;
  problem.objective = problems::make_pairwise_family_objective(name, stored);
  problem.units.rounding = rounding_of(family.base) + std::abs(lambda) * rounding_of(family.term) +
                           problems::rounding_of_offset(offset);
  problem.units.energy_of_stored = {offset, 1 / scale};
  problem.units.objective_of_stored = problem.units.energy_of_stored;
  problem.identity.sizes = {
      {"n", std::to_string(family.base.n)},
      {"m", std::to_string(family.base.couplings.size() + family.term.couplings.size())}};
  const auto raw = std::make_shared<const PairwiseFamily>(std::move(family));
  problem.solution.verify = [raw](StateSpan state) {
    const auto spins = std::get<Spins>(state.front());
    return energy_of(raw->base, spins) + raw->target * energy_of(raw->term, spins);
  };
  problem.solution.format = [](StateSpan state) {
    std::string text;
    for (const std::int8_t spin : std::get<Spins>(state.front())) {
      text += std::to_string(static_cast<int>(spin)) + "\n";
    }
    return text;
  };
  return problem;
}

}  // namespace kiln
