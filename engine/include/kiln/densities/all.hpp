// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every density that comes with Kiln.
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
