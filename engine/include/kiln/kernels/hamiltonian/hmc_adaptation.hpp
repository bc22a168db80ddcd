// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/views.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"

namespace kiln {

/// The schedule of the adaptation, the same for all pools of a run.
struct HmcPlan {
  std::uint64_t warmup = 0;            ///< transitions; everything is frozen after them
  View1<const std::uint32_t> windows;  ///< [n + 1], rising: each but the first sets a new metric,
                                       ///< from the transitions since the previous one
  double target_acceptance = 0.8;
  double length_rate = 0.025;   ///< of the logarithm of the trajectory length (ChEES)
  double largest_change = 1.0;  ///< eigenvalues in [1/(1+x), 1+x] count as 1
  std::int32_t max_leapfrogs = 1024;
  std::int32_t max_depth = 10;
  std::int32_t groups = 1;  ///< member m is of super-chain m modulo this: relocated within it
  std::int32_t fixed_leapfrogs = 0;  ///< > 0: the number of leapfrogs of every transition
  bool adapts_step = true;
  bool adapts_length = false;  ///< by ChEES
  bool adapts_metric = true;
  bool never_frozen = false;  ///< annealing: the step follows the temperature
};

/// The state of the adaptation of a pool of chains.
struct HmcAdaptation {
  // No gaps between the members: runs are compared and saved byte by byte.
  // The first step size is found by doubling or halving until the acceptance crosses 0.8.
  std::int32_t search = 1;           ///< 1: not begun, 2: doubling, 3: halving, 0: done
  std::int32_t collects = 0;         ///< 1: transitions belong to a window
  std::uint32_t window = 0;          ///< the next entry of HmcPlan::windows
  std::uint32_t relocated = 0;       ///< chains that continued from the state of another one
  std::uint32_t updates = 0;         ///< of the step size since its search ended
  std::uint32_t length_updates = 0;  ///< of the trajectory length since the last window
  // Dual averaging of the logarithm of the step size.
  double log_step = 0, log_step_mean = 0, error_mean = 0, log_step_goal = 0;
  // Adam on the logarithm of the trajectory length.
  double log_length = 0, log_length_mean = 0, slope_square = 0;
  double log_length_floor = -12;
  double observations = 0;  ///< in the present window
  /// Chains of a higher Hamiltonian have not reached the bulk yet.
  double ceiling = exact::infinity();

  /// Whether the state of a chain is informative about the shape of the target.
  KILN_HD bool tells(const TransitionStatistics& s, std::int64_t slot) const {
    return (!s.retreat || s.retreat[slot] == 0) &&
           (!s.hamiltonian || s.hamiltonian[slot] <= ceiling);
  }
};
static_assert(sizeof(HmcAdaptation) == 6 * 4 + 10 * 8);

/// Sums over the chains of a pool and the transitions of a window, of positions and gradients less
/// their centre.
struct PoolMoments {
  std::int64_t dimension = 0;
  bool cross = false;       ///< whether products of different coordinates are kept
  View1<double> centre[2];  ///< [pools * dimension], of positions and of gradients
  View1<double> sum[2];     ///< the same shape
  View1<double> square[2];  ///< [pools * dimension], or [pools * dimension^2] with cross

  KILN_HD std::int64_t squares() const { return cross ? dimension * dimension : dimension; }
};

}  // namespace kiln
