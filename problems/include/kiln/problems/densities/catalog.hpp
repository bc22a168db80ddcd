// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every density that comes with Kiln: X(type) for each, with its header
// kiln/problems/densities/<name>.hpp. GeneralizedLinear is beside its kernel. A density is compiled
// once for each backend, in problems/src/densities.
#define KILN_DENSITIES(X)      \
  X(TestFunction)              \
  X(EightSchools)              \
  X(SamplingTarget)            \
  X(LinearRegression)          \
  X(ShrinkageLogistic)         \
  X(ItemResponse)              \
  X(StochasticVolatility)      \
  X(GaussianProcessRegression) \
  X(LotkaVolterra)             \
  X(Expression)                \
  X(GeneralizedLinear)

namespace kiln {

#define KILN_DECLARE(type) struct type;
KILN_DENSITIES(KILN_DECLARE)
#undef KILN_DECLARE

}  // namespace kiln
