// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/hd.hpp"

// Loops over the dimensions of a chain: unrolled where the bound is a constant, so that the vectors
// of a small model stay in registers.
#if defined(__CUDA_ARCH__)
#define KILN_UNROLL _Pragma("unroll")
#else
#define KILN_UNROLL
#endif

namespace kiln {

/// The threads that work on one chain together: one, a warp, or a block.
///
/// Code for a team is called by all its threads at once. Thread `rank()` takes the elements rank,
/// rank + size, ... of a vector; `sum` adds a value of every thread, in an order that depends on
/// the size of the team alone, and gives the total to all; after `sync` all see what the others
/// have written. This is the team of the CPU, and of a GPU thread that has a chain to itself;
/// kiln/cuda/team.cuh has the others.
struct SingleTeam {
  KILN_HD static constexpr int rank() { return 0; }
  KILN_HD static constexpr int size() { return 1; }
  KILN_HD static double sum(double value) { return value; }
  /// Adds several values at once, in place.
  template <int n>
  KILN_HD static void sum(double (&)[n]) {}
  /// Adds a value of every thread of a lane, up to 32 of them (TeamRows).
  KILN_HD static double lane_sum(double value) { return value; }
  /// The least of a value of every thread.
  KILN_HD static double least(double value) { return value; }
  KILN_HD static void sync() {}
};

/// Whether the teams of several chains meet at the same barriers, which they say by a type
/// Team::shares_barriers. What has barriers is then done for all these chains or for none, and
/// Team::most() gives the largest of their values, for loops that all must go through together.
template <class Team>
inline constexpr bool shares_barriers = requires {
  typename Team::shares_barriers;
};

}  // namespace kiln
