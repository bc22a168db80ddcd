// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln::cli {

/// How `kiln analyze RUN` estimates.
struct RunAnalysisOptions {
  std::int64_t surrogates = 40;  ///< of each estimate, at least 20
  double significance = 0.05;    ///< rate of false discoveries of a ladder; level of an input
  std::int64_t points = 4000;    ///< delay vectors of an estimate at most: the last ones
  std::int64_t rows = 500;       ///< evaluations at most, evenly spread
  std::uint64_t seed = 1;        ///< of surrogates
};

}  // namespace kiln::cli
