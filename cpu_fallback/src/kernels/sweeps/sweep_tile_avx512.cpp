// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "sweep_tile_impl.hpp"

namespace kiln::cpu {

void sweep_tile_avx512(TileJob& job) { sweep_tile(job); }

}  // namespace kiln::cpu
