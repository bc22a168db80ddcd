// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/hamiltonian/generalized_linear.hpp"

namespace kiln {

/// The arithmetic of the forces of GlmTransition on a GPU. Energies are always in double.
enum class GlmForces : std::uint8_t {
  single,  ///< products as three of TF32, about 2^-22 relative: accurate for any data
  tf32,    ///< entries of X and residuals have 11 bits, weights 22: faster, and as good if the
           ///< rounding of a column is small relative to its spread; else proposals are rejected
};

/// HmcTransition for a generalised linear model that computes the gradients of many chains
/// together.
///
/// Draws, decision and statistics are those of HmcTransition, and so is the density. Only the
/// gradient differs: passes over tiles of X serve 32 chains (16 on the CPU) at once, and nothing of
/// size rows x chains reaches memory. On a GPU forces are in single precision (see GlmForces) and
/// summed in a fixed order, energies in double. Any force that is a fixed function of the position
/// leaves the map reversible and volume preserving, so the transition is exact for the energies;
/// coarse forces only reduce acceptance. On the CPU forces are in double.
/// @par Source  HmcTransition; reversibility: Neal, "MCMC using Hamiltonian dynamics" (2011), 5.3.
struct KILN_API GlmTransition {
  static constexpr const char* name = "glm_transition";
  static constexpr const char* summary =
      "makes one HMC transition of a generalised linear model, with shared passes over the data";
  static constexpr const char* accuracy = "S6";
  /// Maximum number of columns of X on a GPU; wider models use HmcTransition.
  static constexpr int max_columns = 64;

  GeneralizedLinear density;
  ChainState chains;
  MetricView metric;
  View1<const HmcTuning> tuning;  ///< [pools]
  TransitionStatistics statistics;
  GlmForces forces = GlmForces::single;

  /// With one pass over the data, in the precision of a GPU.
  double bytes() const {
    const double data = static_cast<double>(density.rows) * (density.width + 1) * sizeof(float);
    return chains.bytes() + data;
  }
  /// The number of columns of X in memory for a number of weights.
  static constexpr int width_for(int columns) {
    constexpr int widths[] = {8, 16, 24, 32, 48, max_columns};
    for (const int width : widths) {
      if (columns <= width) return width;
    }
    return (columns + 7) / 8 * 8;
  }
};

}  // namespace kiln
