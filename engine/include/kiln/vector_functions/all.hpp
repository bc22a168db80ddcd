// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every vector function of the catalogue, for code that goes from a VectorFunctionRef to its type.
#include "kiln/vector_functions/catalog.hpp"
#include "kiln/vector_functions/cut_pair.hpp"
#include "kiln/vector_functions/dtlz.hpp"
#include "kiln/vector_functions/engineering_design.hpp"
#include "kiln/vector_functions/knapsack.hpp"
#include "kiln/vector_functions/routing.hpp"
#include "kiln/vector_functions/wfg.hpp"
#include "kiln/vector_functions/zdt.hpp"

namespace kiln {

/// Calls visitor(function) with the vector function that `ref` holds.
template <class Visitor>
void visit_vector_function(const VectorFunctionRef& ref, const Visitor& visitor) {
  switch (ref.id) {
#define KILN_VISIT(type)       \
  case VectorFunctionId::type: \
    visitor(ref.as<type>());   \
    break;
    KILN_VECTOR_FUNCTIONS(KILN_VISIT)
#undef KILN_VISIT
  }
}

}  // namespace kiln
