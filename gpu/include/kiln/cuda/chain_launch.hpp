// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kiln::cuda::detail {

inline constexpr int threads_of_warps = 128;  // of a block of warp teams
inline constexpr int threads_of_block = 256;  // of a block team
// Bytes that a block gets without an opt-in, less the memory of its sums.
inline constexpr std::int64_t max_shared = 40 * 1024;

/// The grid of a density kernel, and the shared memory of a block for the vectors of its chains: 0
/// if they do not fit, and are in device memory.
struct ChainLaunch {
  unsigned blocks, threads;
  std::size_t shared;

  /// A thread for each chain.
  static ChainLaunch by_threads(std::int64_t chains) {
    // Small blocks, so that few chains still spread over the multiprocessors.
    const unsigned threads = chains <= 32 * 1024 ? 32 : threads_of_warps;
    return {static_cast<unsigned>((chains + threads - 1) / threads), threads, 0};
  }
  /// Teams of a part of a warp.
  /// @param per_warp  teams
  /// @param memory  bytes of a chain
  static ChainLaunch by_teams(std::int64_t chains, int per_warp, std::int64_t memory) {
    // As few warps per block as the number of chains allows, for the same reason.
    const int warps = chains <= 1024 * per_warp ? 1 : threads_of_warps / 32;
    const int teams = warps * per_warp;  // of a block
    return {static_cast<unsigned>(std::min((chains + teams - 1) / teams, max_blocks)),
            static_cast<unsigned>(32 * warps), shared_of(teams, memory)};
  }
  /// A block for each chain.
  static ChainLaunch by_blocks(std::int64_t chains, std::int64_t memory) {
    return {static_cast<unsigned>(std::min(chains, max_blocks)), threads_of_block,
            shared_of(1, memory)};
  }

 private:
  static constexpr std::int64_t max_blocks = 1 << 20;  // teams loop over the rest
  static std::size_t shared_of(int teams, std::int64_t memory) {
    return static_cast<std::size_t>(teams * memory <= max_shared ? teams * memory : 0);
  }
};

}  // namespace kiln::cuda::detail
