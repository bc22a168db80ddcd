// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/coloring.hpp"

namespace kiln {

ColoringObjective::~ColoringObjective() = default;

}  // namespace kiln
