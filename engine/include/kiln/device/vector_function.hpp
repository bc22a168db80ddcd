// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// The maximum number of objectives, and of constraints, of a vector function.
inline constexpr int max_objectives = 16;
inline constexpr int max_constraints = 16;

/// The variables of one slot, numbered through all blocks of its space, as canonical values.
struct SlotPoint {
  const StateBlock* blocks = nullptr;
  int n_blocks = 0;
  std::int64_t slot = 0;

  KILN_HD double operator[](std::int64_t variable) const {
    int block = 0;
    while (variable >= blocks[block].variables && block + 1 < n_blocks) {
      variable -= blocks[block++].variables;
    }
    return blocks[block].get(variable, slot);
  }
};

/// The same interface on plain values, for calls on the host.
struct ValuesPoint {
  const double* x = nullptr;
  KILN_HD double operator[](std::int64_t variable) const { return x[variable]; }
};

/// A *vector function* is a trivially copyable functor from states to several objectives, all of
/// them minimised, and constraints:
///
///     struct MyFunction {
///       KILN_HD int objectives() const;    // 2 .. max_objectives
///       KILN_HD int constraints() const;   // 0 .. max_constraints
///       template <class Point>
///       KILN_HD void operator()(const Point& x, double* f, double* g) const;
///     };
///
/// x[i] is the canonical value of variable i (a spin -1 or +1, a bit 0 or 1, an index, a number),
/// whatever the blocks and layouts are. The call writes all of f [objectives] and g [constraints];
/// a constraint is met if g <= 0, and a positive value adds to the violation. A NaN keeps the state
/// off every front; it is counted and is not an error. Pointers to data are valid on the device
/// that the functor was made for. One source serves the CPU and CUDA, with one thread per state.
///
/// The total violation: the sum of max(g, 0) over the constraints, NaN if one of them is.
KILN_HD inline double total_violation(const double* g, int constraints) {
  double sum = 0;
  for (int i = 0; i < constraints; ++i) {
    if (!(g[i] <= 0)) sum += g[i];
  }
  return sum;
}

}  // namespace kiln
