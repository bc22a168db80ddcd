// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "glm_tile_impl.hpp"

namespace kiln::cpu {

void glm_tile_avx2(const GlmTile& tile) { glm_tile(tile); }

}  // namespace kiln::cpu
