// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace kiln::cuda::detail {

/// The teams that make a sweep by ProposalTree. A team of 32 threads makes five variables in the
/// time of one and 6.4 times the evaluations of a thread for each replica, a team of eight makes
/// three variables and 2.7 times. So teams pay while the multiprocessors wait more than they
/// compute.
struct TreeLaunch {
  int levels = 0;  ///< of a tree: 5, 3, or 0 for a thread of each replica
  unsigned blocks = 0, threads = 0;
  std::size_t shared = 0;  ///< bytes of a block

  /// @param replicas  > 0
  /// @param multiprocessors  of the device
  /// @param bytes_of  gives the bytes of a team for the levels of its tree
  template <class BytesOf>
  static TreeLaunch of(std::int64_t replicas, std::int64_t multiprocessors,
                       const BytesOf& bytes_of) {
    for (const int levels : {5, 3}) {
      const std::int64_t lanes = std::int64_t{1} << levels, bytes = bytes_of(levels);
      // Up to 16 warps of a multiprocessor, all of them there at once.
      if (replicas * lanes > max_threads * multiprocessors) continue;
      if (replicas * bytes > max_resident * multiprocessors) continue;
      for (const std::int64_t threads : {128, 32}) {
        const std::int64_t teams = threads / lanes;
        if (teams * bytes > max_shared_of_block) continue;
        return {levels, static_cast<unsigned>((replicas + teams - 1) / teams),
                static_cast<unsigned>(threads), static_cast<std::size_t>(teams * bytes)};
      }
    }
    return {};
  }

 private:
  static constexpr std::int64_t max_threads = 16 * 32;
  static constexpr std::int64_t max_resident = 96 * 1024;
  static constexpr std::int64_t max_shared_of_block = 40 * 1024;  // without an opt-in
};

}  // namespace kiln::cuda::detail
