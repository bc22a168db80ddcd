// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of all kernels, by families.
#include "tolerances_densities.hpp"
#include "tolerances_fronts.hpp"
#include "tolerances_processes.hpp"
#include "tolerances_sweeps.hpp"
