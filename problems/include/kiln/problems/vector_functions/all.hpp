// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every vector function that comes with Kiln.
#include "kiln/problems/vector_functions/catalog.hpp"
#include "kiln/problems/vector_functions/cut_pair.hpp"
#include "kiln/problems/vector_functions/dtlz.hpp"
#include "kiln/problems/vector_functions/engineering_design.hpp"
#include "kiln/problems/vector_functions/knapsack.hpp"
#include "kiln/problems/vector_functions/routing.hpp"
#include "kiln/problems/vector_functions/wfg.hpp"
#include "kiln/problems/vector_functions/zdt.hpp"
