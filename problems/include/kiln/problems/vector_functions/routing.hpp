// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/vector_function.hpp"

namespace kiln {

/// Assignment of queries to language models: category i is the model for all queries of class i. f
/// is the total cost of all queries, their mean latency, and their negative mean quality.
///
/// The tables hold the contribution of a class to each sum for each model, so that nothing is
/// multiplied here and all devices give the same bits.
struct Routing {
  static constexpr const char* name = "routing";
  const double* cost = nullptr;     ///< [queries][models], of all queries of the class
  const double* latency = nullptr;  ///< [queries][models], seconds times the share of the class
  const double* quality = nullptr;  ///< [queries][models], times the share of the class
  /// [queries][models], relative excess of the latency of one answer over the limit; read if
  /// `limited`.
  const double* lateness = nullptr;
  double budget = 0;  ///< of the cost; 0: no budget
  std::int32_t queries = 0;
  std::int32_t models = 0;
  std::int32_t limited = 0;  ///< 1: the latency of each answer has a limit

  KILN_HD static constexpr int objectives() { return 3; }
  KILN_HD int constraints() const { return (budget > 0 ? 1 : 0) + limited; }

  /// The constraint of the budget comes before that of the latency, if both exist.
  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double* g) const {
    double late = 0;
    f[0] = f[1] = f[2] = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::int64_t at = i * models + static_cast<std::int64_t>(x[i]);
      f[0] += cost[at];
      f[1] += latency[at];
      f[2] -= quality[at];
      if (limited != 0) late += lateness[at];
    }
    int next = 0;
    if (budget > 0) g[next++] = f[0] / budget - 1;
    if (limited != 0) g[next] = late;
  }
};

}  // namespace kiln
