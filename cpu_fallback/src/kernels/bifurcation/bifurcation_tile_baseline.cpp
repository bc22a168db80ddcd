// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bifurcation_tile_impl.hpp"

namespace kiln::cpu {

const BifurcationFunctions bifurcation_baseline{&show_tile, &step_tile};

}  // namespace kiln::cpu
