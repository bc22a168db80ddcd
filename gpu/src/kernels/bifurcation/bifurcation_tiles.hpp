// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {
class Queue;
struct BifurcationSteps;
}  // namespace kiln

namespace kiln::cuda {

/// Launches the steps as products of int8 on tensor cores, with the bits of the rows of the model.
/// Returns false, and launches nothing, where the model has no matrix of int8 or the device no such
/// instructions.
bool launch_tiles(const BifurcationSteps& kernel, Queue& queue);

}  // namespace kiln::cuda
