// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objective.hpp"

namespace kiln {

Objective::~Objective() = default;
BoundObjective::~BoundObjective() = default;

void BoundObjective::prepare(ReplicaBatch&, Queue&) {}
void BoundObjective::save(Archive&) const {}
void BoundObjective::load(const Archive&) {}

}  // namespace kiln
