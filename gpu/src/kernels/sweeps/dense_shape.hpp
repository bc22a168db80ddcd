// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sweep_shape.hpp"

namespace kiln::cuda {

/// How a dense model is swept; never changes the bits.
struct DenseShape {
  bool by_warps = false;       ///< by warps that decide 128 sites at once, else by a block
  bool by_signs = false;       ///< by warps, with fields in planes and rows of signs
  int warps = 1;               ///< by warps: of a replica, 1, 2 or 4
  int replicas_per_block = 1;  ///< by warps: 1, 2, 4, 8, 16; 1 beside several warps
};

/// What decides the shape.
struct DenseDemand {
  std::int64_t sites = 0;
  std::int64_t replicas = 0;
  int bytes_per_weight = 1;
  int sign_planes = 0;  ///< of DenseView
  bool heat_bath = false;
};

/// Rows of flips that a warp copies to shared memory at once, by signs.
inline constexpr int sign_rows_at_once = 7;

/// Dynamic shared memory of a block, in bytes. By warps a block holds the states of its replicas
/// and the fields or rows of its warps; by signs and one warp a replica also the diagonal blocks of
/// all sites.
std::int64_t shared_bytes_of(const DenseShape& shape, const DenseDemand& demand);

/// Warps sweep models of signs, and of int8 and int16 weights, by the Metropolis rule; a block
/// sweeps all others. One warp has a replica of signs wherever its fields fit.
///
/// Two or four warps share a replica whose fields do not fit into one, or a batch that leaves warps
/// idle. As many replicas share a block, and its cache, as its shared memory holds and as leave no
/// multiprocessor without work. Never a shape that can_sweep() refuses.
DenseShape choose_dense_shape(const DenseDemand& demand, const SweepLimits& limits);

/// Whether the kernel of the shape can sweep this on a device.
bool can_sweep(const DenseShape& shape, const DenseDemand& demand, const SweepLimits& limits);

/// KILN_CUDA_SWEEP_SHAPE="w1x16": one warp for each replica and 16 replicas a block; "w4x1": four
/// warps; "v1x16", "v4x1": the same by signs; "b": a block. For tests that compare the bits of
/// shapes, and for tuning.
std::optional<DenseShape> parse_dense_shape(std::string_view text);

}  // namespace kiln::cuda
