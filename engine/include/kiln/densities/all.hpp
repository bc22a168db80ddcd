// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every density of the catalogue, for code that goes from a DensityRef to its type.
#include "kiln/densities/catalog.hpp"
#include "kiln/densities/eight_schools.hpp"
#include "kiln/densities/gaussian_process_regression.hpp"
#include "kiln/densities/generalized_linear.hpp"
#include "kiln/densities/item_response.hpp"
#include "kiln/densities/linear_regression.hpp"
#include "kiln/densities/lotka_volterra.hpp"
#include "kiln/densities/sampling_target.hpp"
#include "kiln/densities/shrinkage_logistic.hpp"
#include "kiln/densities/stochastic_volatility.hpp"
#include "kiln/densities/test_function.hpp"

namespace kiln {

/// Calls visitor(density) with the density that `ref` holds.
template <class Visitor>
void visit_density(const DensityRef& ref, const Visitor& visitor) {
  switch (ref.id) {
#define KILN_VISIT(type)     \
  case DensityId::type:      \
    visitor(ref.as<type>()); \
    break;
    KILN_DENSITIES(KILN_VISIT)
#undef KILN_VISIT
  }
}

}  // namespace kiln
