// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "potts/potts_objective.hpp"

namespace kiln::problems {
namespace {

LargeVector<std::int16_t> weights_i16(const PairwisePlan& plan) {
  LargeVector<std::int16_t> weights;
  if (plan.arithmetic != Arithmetic::narrow) return weights;
  weights.resize(plan.entries.size());
  for (std::size_t e = 0; e < weights.size(); ++e) {
    weights[e] = static_cast<std::int16_t>(plan.entries[e].weight);
  }
  return weights;
}

}  // namespace

PottsPlan plan_potts(const Potts& model) {
  PottsPlan plan;
  plan.values = model.q;
  plan.pairs = plan_pairwise({model.n, {}, model.couplings, 0.0});
  plan.weights_i16 = weights_i16(plan.pairs);
  plan.integral = integer_scale(model) == 1;
  if (model.fields.empty()) return plan;

  const auto values = static_cast<std::size_t>(model.q);
  std::vector<std::size_t> site_of(static_cast<std::size_t>(model.n));
  for (std::size_t site = 0; site < plan.pairs.variable.size(); ++site) {
    const std::int32_t variable = plan.pairs.variable[site];
    if (variable >= 0) site_of[static_cast<std::size_t>(variable)] = site;
  }
  plan.field.assign(plan.pairs.variable.size() * values, 0.0);
  for (const PottsField& field : model.fields) {
    const std::size_t site = site_of[static_cast<std::size_t>(field.variable)];
    plan.field[site * values + static_cast<std::size_t>(field.value)] = field.amount;
  }
  return plan;
}

double integer_scale(const Potts& model) {
  // All that counts there are the numbers, not to which variable they belong.
  Ising numbers{model.n, {}, model.couplings, 0.0};
  numbers.fields.reserve(model.fields.size());
  for (const PottsField& field : model.fields) numbers.fields.push_back(field.amount);
  return integer_scale(numbers);
}

}  // namespace kiln::problems
