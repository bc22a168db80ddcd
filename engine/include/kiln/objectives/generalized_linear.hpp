// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/glm_transition.hpp"
#include "kiln/objectives/density_objective.hpp"

namespace kiln {

/// The data of a generalised linear model; see GeneralizedLinear.
struct GlmData {
  GlmLink link = GlmLink::logistic;
  std::int64_t rows = 0;
  int columns = 0;
  std::vector<double> x;            ///< [rows][columns]; a constant is a column of ones
  std::vector<double> y;            ///< [rows]
  double noise = 1;                 ///< standard deviation of GlmLink::identity
  std::vector<double> prior_scale;  ///< [columns], or one for all
  std::optional<GlmForces> forces;  ///< of transitions on a GPU; none: forces_for() of these data
};

/// GlmForces::tf32 if the columns of x survive the rounding to 11 bits, else single: the root of
/// the summed squares of rounding error over spread (over size, for a constant column) is at most
/// 0.002.
KILN_API GlmForces forces_for(const GlmData& data);

/// Makes a density from data, for make_density_objective: the data are uploaded once per run, and
/// fixed-length transitions use GlmTransition.
/// @throws InvalidArgument `glm.shape` if the sizes do not fit each other, `glm.value` for a value
/// that is invalid for the link or a scale that is not positive.
KILN_API std::shared_ptr<const DensitySource> make_generalized_linear(const GlmData& data);

}  // namespace kiln
