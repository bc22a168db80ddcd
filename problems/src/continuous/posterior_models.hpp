// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/export.hpp"
#include "kiln/problems/densities/shrinkage_logistic.hpp"
#include "kiln/problems/model_data.hpp"

#include "density_model.hpp"

namespace kiln::problems {

// Each makes a posterior from its data; ParseError where they do not fit.

DensityModel eight_schools(const ModelData& data, bool centered);
/// All other columns of a table, standardised, and a constant behind them explain the target, which
/// has two values; "" for the last column. Weights N(0, 1), or as the kind has them.
DensityModel logistic_regression(const ModelData& data, const std::string& target);
DensityModel shrinkage_logistic(const ModelData& data, const std::string& target,
                                ShrinkageKind kind);
DensityModel item_response(const ModelData& data);
DensityModel stochastic_volatility(const ModelData& data);
DensityModel gaussian_process(const ModelData& data, bool counts);
DensityModel lotka_volterra(const ModelData& data);

/// What the logistic models make of a table: a regression of 0 and 1.
struct LogisticTable {
  std::vector<std::vector<double>> columns;  ///< with mean 0 and variance 1; the last is constant
  std::vector<std::int32_t> label;           ///< 0 for the smaller value of the target
};
KILN_TEST_API LogisticTable logistic_table(const ModelData& data, const std::string& target);

/// The model of `posterior:NAME`. @throws as posterior_by_name().
KILN_TEST_API DensityModel posterior_model(const std::string& text, const ModelData* data);

}  // namespace kiln::problems
