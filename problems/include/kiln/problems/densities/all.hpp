// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every density that comes with Kiln.
#include "kiln/kernels/hamiltonian/generalized_linear.hpp"
#include "kiln/problems/densities/catalog.hpp"
#include "kiln/problems/densities/eight_schools.hpp"
#include "kiln/problems/densities/expression.hpp"
#include "kiln/problems/densities/gaussian_process_regression.hpp"
#include "kiln/problems/densities/item_response.hpp"
#include "kiln/problems/densities/linear_regression.hpp"
#include "kiln/problems/densities/lotka_volterra.hpp"
#include "kiln/problems/densities/sampling_target.hpp"
#include "kiln/problems/densities/shrinkage_logistic.hpp"
#include "kiln/problems/densities/stochastic_volatility.hpp"
#include "kiln/problems/densities/test_function.hpp"
