// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "kiln/objective.hpp"
#include "kiln/objectives/coloring.hpp"

namespace kiln::problems {

/// An objective that offers its ColoringModelled.
std::shared_ptr<const Objective> make_coloring_objective(std::string name, ColoringModel model);

}  // namespace kiln::problems
