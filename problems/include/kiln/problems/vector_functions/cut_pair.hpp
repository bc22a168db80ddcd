// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/vector_function.hpp"

namespace kiln {

/// Max-Cut with two weightings of the same edges: a spin for each vertex gives its side. Both cuts,
/// the sums of the weights of edges between the sides, are maximised; f is their negative.
struct CutPair {
  static constexpr const char* name = "cut_pair";
  const std::int32_t* from = nullptr;  ///< [edges]
  const std::int32_t* to = nullptr;    ///< [edges]
  const double* first = nullptr;       ///< [edges], weights of the first cut
  const double* second = nullptr;      ///< [edges], of the second
  std::int32_t edges = 0;

  KILN_HD static constexpr int objectives() { return 2; }
  KILN_HD static constexpr int constraints() { return 0; }

  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double*) const {
    f[0] = f[1] = 0;
    for (std::int32_t e = 0; e < edges; ++e) {
      if (x[from[e]] * x[to[e]] > 0) continue;
      f[0] -= first[e];
      f[1] -= second[e];
    }
  }
};

}  // namespace kiln
