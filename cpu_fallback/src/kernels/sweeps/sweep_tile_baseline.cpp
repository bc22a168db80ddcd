// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "sweep_tile_impl.hpp"

namespace kiln::cpu {

void sweep_tile_baseline(TileJob* jobs, int n) { sweep_tile(jobs, n); }

}  // namespace kiln::cpu
