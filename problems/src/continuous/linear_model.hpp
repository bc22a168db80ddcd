// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "kiln/problems/densities/scale_prior.hpp"
#include "kiln/problems/model_data.hpp"

#include "density_model.hpp"

namespace kiln::problems {

/// A column of a linear regression and the normal prior of its coefficient.
struct Regressor {
  std::string name;  ///< of the coefficient: "alpha", "beta[1]"
  std::vector<double> values;
  double prior_mean = 0;
  double prior_sd = std::numeric_limits<double>::infinity();  ///< infinite: flat
};

struct LinearModel {
  std::vector<Regressor> columns;
  std::vector<double> y;
  ScalePrior sigma_prior;
  /// Coordinates u = R (b - b_ls) / s and log(sigma / s) instead of b and log sigma: R is the
  /// triangular factor of the columns, b_ls their least squares, s the deviation that these leave.
  /// Whatever the units of the columns, chains then move in a round law around 0. All priors flat.
  bool whitened = false;
};

/// y ~ N(sum of columns times coefficients, sigma^2) as a density (LinearRegression).
/// @param data  for complaints: where flat priors leave a coefficient or sigma without a law.
DensityModel make_linear(LinearModel model, const ModelData& data);

// The linear models of posteriordb, from their data.
DensityModel kidscore(const std::string& variant, const ModelData& data);
DensityModel nes(const ModelData& data);
DensityModel bayesian_linear_regression(const ModelData& data);
DensityModel kilpisjarvi(const ModelData& data);
DensityModel autoregression(const ModelData& data);

/// All other columns of a table, and a constant, explain the target, "" for the last column.
DensityModel table_regression(const ModelData& data, const std::string& target);

/// The name of the target column: `target`, or the last one.
const DataArray& target_column(const ModelData& data, const std::string& target);

}  // namespace kiln::problems
