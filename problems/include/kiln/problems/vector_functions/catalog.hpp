// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every vector function that comes with Kiln: X(type) for each, with its header
// kiln/problems/vector_functions/<name>.hpp. Each is compiled once for each backend, in
// problems/src/vector_functions.
#define KILN_VECTOR_FUNCTIONS(X) \
  X(Zdt)                         \
  X(Dtlz)                        \
  X(Wfg)                         \
  X(EngineeringDesign)           \
  X(Knapsack)                    \
  X(CutPair)                     \
  X(Routing)

namespace kiln {

#define KILN_DECLARE(type) struct type;
KILN_VECTOR_FUNCTIONS(KILN_DECLARE)
#undef KILN_DECLARE

}  // namespace kiln
