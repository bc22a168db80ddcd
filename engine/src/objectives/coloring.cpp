// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/coloring.hpp"

namespace kiln {

ColoringObjective::~ColoringObjective() = default;

}  // namespace kiln
