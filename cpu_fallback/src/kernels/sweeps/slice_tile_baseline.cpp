// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "slice_tile_impl.hpp"

namespace kiln::cpu {

const SliceFunctions slice_baseline{
    &sweep_slices, &energies_of_slices, false, {16, 32, 28, 6, 12, 24, 20}};

}  // namespace kiln::cpu
