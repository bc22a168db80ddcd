// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of all kernels, by families.
#include "backends/tolerances_densities.hpp"
#include "backends/tolerances_fronts.hpp"
#include "backends/tolerances_processes.hpp"
#include "backends/tolerances_sweeps.hpp"
