// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/objectives/density_objective.hpp"

// The threads of a GPU that work on each chain of a density, and the scratch memory that they need.
namespace kiln {

/// A thread for small vectors, a warp for most, a block for long ones.
ChainLayout layout_of(const DensitySource& source, std::int64_t chains);
/// The layout of kernels with more vectors than a thread has registers for: NUTS and descents.
ChainLayout without_threads(const DensitySource& source, std::int64_t chains);
/// The layout of trajectories of a fixed length.
ChainLayout of_trajectories(const DensitySource& source, std::int64_t chains);

/// Scratch memory of a GPU's kernels for each slot, in doubles. A thread that has a chain alone has
/// all vectors, and only the density's memory there.
/// @param size  Kernel::scratch_size()
std::int64_t scratch_of(std::int64_t size, ChainLayout layout, std::int64_t workspace);
/// The same for what every run does.
std::int64_t min_scratch(std::int64_t dimension, std::int64_t workspace, ChainLayout layout);

}  // namespace kiln
