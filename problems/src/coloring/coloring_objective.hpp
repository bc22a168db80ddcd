// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "kiln/objectives/coloring.hpp"

namespace kiln::problems {

std::shared_ptr<const ColoringObjective> make_coloring_objective(std::string name,
                                                                 ColoringModel model);

}  // namespace kiln::problems
