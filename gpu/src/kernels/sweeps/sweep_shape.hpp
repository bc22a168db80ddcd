// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// The distribution of a sweep over the device; never changes its bits.
struct SweepShape {
  int words_per_block =
      1;                   ///< words of 32 replicas that a block holds: 1 or 2; in slices 2, 4 or 8
  int warps = 1;           ///< warps of a block; they share the sites of a class
  bool in_shared = true;   ///< states in shared memory, else in global memory
  bool in_slices = false;  ///< neighbours are counted for 32 replicas at once
  bool by_planes = false;  ///< and attempts are decided for 32 replicas at once
  int blocks = 1;          ///< in slices: blocks that share the memory of a multiprocessor

  /// In slices: the same with other words and warps of a block.
  SweepShape with(int words, int of_block) const;
};

struct SweepLimits {
  int multiprocessors = 1;
  std::int64_t shared_bytes = 0;  ///< that one block can have
};

/// The limits of a queue's device.
SweepLimits sweep_limits_of(Queue& queue);

/// Chooses a shape that keeps the device busy: the more replicas share a block, the fewer times the
/// model is read; with fewer blocks each gets more warps.
SweepShape choose_sweep_shape(std::int64_t words, std::int64_t sites, std::int64_t quads_per_class,
                              bool sequential, const SweepLimits& limits);

/// What decides the shape of a sweep in slices.
struct SliceDemand {
  std::int64_t words = 0;
  std::int64_t variables = 0;
  std::int64_t quads_per_class = 0;
  std::int64_t table_bytes = 0;  ///< of the thresholds
};

/// Chooses the shape of a sweep in slices. Two blocks on a multiprocessor hide each other's waits
/// at the barrier behind a class; one block with more words reads a large model less often. States
/// that do not fit stay in global memory.
SweepShape choose_slice_shape(const SliceDemand& demand, const SweepLimits& limits);

/// Chooses the shape of a sweep by planes: as many words a block as leave no multiprocessor without
/// one. States that do not fit stay in global memory, and those of many sites where blocks are few.
SweepShape choose_plane_shape(const SliceDemand& demand, const SweepLimits& limits);

/// KILN_CUDA_SWEEP_SHAPE="2x8": two words and eight warps a block; "2x8g" keeps states in global
/// memory; "s8x16" and "s8x16g" count in slices, "p8x16" and "p8x16g" decide by planes. For tests
/// that compare the bits of shapes, and for tuning.
std::optional<SweepShape> parse_sweep_shape(std::string_view text);

}  // namespace kiln::cuda
