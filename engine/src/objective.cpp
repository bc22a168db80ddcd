// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objective.hpp"

#include "kiln/errors.hpp"

namespace kiln {

Objective::~Objective() = default;
BoundObjective::~BoundObjective() = default;

void BoundObjective::prepare(ReplicaBatch&, Queue&) {}
void BoundObjective::watch(EvaluationWatcher) {}
void BoundObjective::prepare_transitions(bool, Queue&) {}
void BoundObjective::prepare_descent(Queue&) {}

void BoundObjective::evaluate(const EvaluateArgs&, Queue&) {
  throw InvalidArgument("objective.ability", "this objective does not offer evaluate");
}

void BoundObjective::metropolis_sweep(const SweepArgs&, Queue&) {
  throw InvalidArgument("objective.ability", "this objective does not offer metropolis_sweep");
}

void BoundObjective::evaluate_objectives(const ObjectivesArgs&, Queue&) {
  throw InvalidArgument("objective.ability", "this objective has one value only");
}

void BoundObjective::hmc_transition(const TransitionArgs&, Queue&) {
  throw InvalidArgument("objective.ability", "this objective does not offer hmc_transition");
}

void BoundObjective::descend(const DescentArgs&, Queue&) {
  throw InvalidArgument("objective.ability", "this objective does not offer descent");
}

void BoundObjective::nuts_transition(const TransitionArgs&, Queue&) {
  throw InvalidArgument("objective.ability", "this objective does not offer nuts_transition");
}

void BoundObjective::save(Archive&) const {}
void BoundObjective::load(const Archive&) {}

}  // namespace kiln
