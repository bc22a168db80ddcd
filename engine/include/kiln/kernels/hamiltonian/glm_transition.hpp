// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/hamiltonian/generalized_linear.hpp"

namespace kiln {

/// In which arithmetic a GPU computes the forces of GlmTransition. Energies are in double always.
enum class GlmForces : std::uint8_t {
  single,  ///< products as three of TF32, about 2^-22 relative: right for any data
  tf32,    ///< entries of X and residuals have 11 bits, weights 22: faster, and as good where the
           ///< rounding of a column is small beside its spread, else proposals are rejected
};

/// HmcTransition for a generalised linear model, with the gradients of many chains made together.
///
/// Draws, decision and statistics are those of HmcTransition, and so is the density: only the
/// gradient is made otherwise, by passes over tiles of X that serve 32 chains (16 on the CPU) at
/// once, and nothing of size rows x chains reaches memory. On a GPU forces are in single precision
/// (see GlmForces) and summed in a fixed order, energies in double. A force that is any fixed
/// function of the position leaves the map reversible and volume preserving, so the transition is
/// exact for the energies; coarse forces cost acceptance only. On the CPU forces are in double.
/// @par Source  HmcTransition; reversibility: Neal, "MCMC using Hamiltonian dynamics" (2011), 5.3.
struct KILN_API GlmTransition {
  static constexpr const char* name = "glm_transition";
  static constexpr const char* summary =
      "a Hamiltonian transition of a generalised linear model, gradients of many chains at once";
  static constexpr const char* accuracy = "S6";
  /// Most columns of X on a GPU; wider models take HmcTransition.
  static constexpr int max_columns = 64;

  GeneralizedLinear density;
  ChainState chains;
  MetricView metric;
  View1<const HmcTuning> tuning;  ///< [pools]
  TransitionStatistics statistics;
  GlmForces forces = GlmForces::single;

  /// The columns that X has in memory for a number of weights.
  static constexpr int width_for(int columns) {
    constexpr int widths[] = {8, 16, 24, 32, 48, max_columns};
    for (const int width : widths) {
      if (columns <= width) return width;
    }
    return (columns + 7) / 8 * 8;
  }
};

}  // namespace kiln
