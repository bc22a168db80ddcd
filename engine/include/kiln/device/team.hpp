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

/// The threads that work together on one chain: one, a warp, or a block.
///
/// All threads of a team call its code at once. Thread `rank()` takes the elements rank, rank +
/// size, ... of a vector. `sum` adds a value of every thread, in an order that depends on the size
/// of the team alone, and returns the total to all. After `sync` every thread sees the writes of
/// the others. SingleTeam serves the CPU, and a GPU thread with a whole chain; kiln/cuda/team.cuh
/// has the others.
struct SingleTeam {
  KILN_HD static constexpr int rank() { return 0; }
  KILN_HD static constexpr int size() { return 1; }
  KILN_HD static double sum(double value) { return value; }
  /// Adds several values at once, in place.
  template <int n>
  KILN_HD static void sum(double (&)[n]) {}
  /// Adds a value of every thread of a lane of up to 32 threads (TeamRows).
  KILN_HD static double lane_sum(double value) { return value; }
  /// The minimum over the threads.
  KILN_HD static double least(double value) { return value; }
  KILN_HD static void sync() {}
};

/// Whether the teams of several chains meet at the same barriers, which they declare by a type
/// Team::shares_barriers. Code with barriers then runs for all these chains or for none, and
/// Team::most() returns the largest of their values, for loops that all must execute together.
template <class Team>
inline constexpr bool shares_barriers = requires {
  typename Team::shares_barriers;
};

}  // namespace kiln
