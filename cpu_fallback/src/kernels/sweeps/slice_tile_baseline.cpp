// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "shared_tile_impl.hpp"

namespace kiln::cpu {

const SliceFunctions slice_baseline{
    &sweep_slices, &sweep_planes, &sweep_shared, &energies_of_slices, false, kCosts, kIntLanes};

}  // namespace kiln::cpu
