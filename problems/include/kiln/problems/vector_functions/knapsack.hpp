// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/vector_function.hpp"

namespace kiln {

/// Several knapsacks with one choice of items: bit i puts item i into all of them. The profit of
/// each knapsack is maximised, so f_k is the negative profit, and each has a capacity: g_k is its
/// load as a multiple of the capacity, less 1.
/// @par Source  Zitzler, Thiele, IEEE Transactions on Evolutionary Computation 3 (1999) 257.
struct Knapsack {
  static constexpr const char* name = "knapsack";
  const double* profit = nullptr;    ///< [knapsacks][items]
  const double* weight = nullptr;    ///< [knapsacks][items]
  const double* capacity = nullptr;  ///< [knapsacks], above 0
  std::int32_t items = 0;
  std::int32_t knapsacks = 2;  ///< 2 .. max_objectives

  KILN_HD int objectives() const { return knapsacks; }
  KILN_HD int constraints() const { return knapsacks; }

  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double* g) const {
    for (int k = 0; k < knapsacks; ++k) f[k] = g[k] = 0;
    for (std::int64_t i = 0; i < items; ++i) {
      if (!(x[i] > 0)) continue;
      for (std::int64_t k = 0; k < knapsacks; ++k) {
        f[k] -= profit[k * items + i];
        g[k] += weight[k * items + i];
      }
    }
    for (int k = 0; k < knapsacks; ++k) g[k] = g[k] / capacity[k] - 1;
  }
};

}  // namespace kiln
