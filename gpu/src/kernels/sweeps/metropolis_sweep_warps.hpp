// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/queue.hpp"

#include "dense_shape.hpp"

namespace kiln::cuda {

/// Bits of DenseView::valid.
inline constexpr std::uint32_t dense_valid = 1;     ///< fields belong to bits
inline constexpr std::uint32_t dense_by_block = 2;  ///< a sweep was left to the kernel by blocks
inline constexpr std::uint32_t dense_planes = 4;    ///< planes of fields belong to bits

/// Sweeps a dense model by the warps of the shape: int8 weights with fields of 16 bits, int16
/// weights with fields of 32 bits.
/// @param guarded  beside int8 weights: fields can be larger than 16 bits hold. A replica in which
///                 that may happen is left as it was, marked with dense_by_block.
/// @pre shape.by_warps, and can_sweep()
void launch_warp_sweep(const MetropolisSweep& kernel, const DenseShape& shape, bool guarded,
                       Queue& queue);

}  // namespace kiln::cuda
