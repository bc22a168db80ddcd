// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/information/information_map.hpp"
#include "kiln/kernels/information/surrogates.hpp"

namespace kiln {

/// A column of a table, or a time series: one value a row.
struct Series {
  std::string name;
  std::vector<double> values;  ///< NaN: missing
};

/// How information is estimated.
struct InformationOptions {
  InformationMeasure measure = InformationMeasure::mutual_information;
  /// Neighbours, 1 .. 16; 0: of 4, 6, 8 and 12 the number around which estimates change the least.
  std::int32_t k = 4;
  /// Type of estimator without a condition: 1 a cube around each point, 2 a rectangle (Kraskov,
  /// Stögbauer, Grassberger, 2004).
  std::int32_t type = 1;
  /// Rows by which a source precedes its target, one estimate each. Empty: 1 for transfer entropy,
  /// 0 for all else.
  std::vector<std::int32_t> lags;
  std::int32_t past = 1;         ///< rows of the target's past, for transfer entropy and storage
  std::int32_t source_past = 1;  ///< rows of the source, the latest `lag` rows before the target
  /// Rows closer in time than this or as close are no neighbours of each other (Theiler window).
  std::int32_t theiler = 0;
  std::int64_t surrogates = 0;  ///< of each estimate; 0: no p-values
  /// Empty: rotations where source and target both depend on the row before (the first
  /// autocorrelation is beyond 4 / sqrt(rows)), else permutations; of active storage permutations.
  std::optional<SurrogateKind> surrogate_kind;
  double false_discovery_rate = 0.05;  ///< of the significant links of a map
  /// Whether a source of transfer entropy must also say something that the other significant
  /// sources of its target do not. Needs surrogates.
  bool direct = false;
  bool standardize = true;  ///< columns are divided by their standard deviations
  bool local = false;       ///< give the values of all points
  std::int32_t bins = 0;    ///< of estimates from bins, 2 .. 64; 0: the cube root of the rows
  std::uint64_t seed = 1;   ///< of surrogates and of the noise that breaks ties
};

/// Which columns an estimate is of, as numbers of a list of columns.
struct InformationColumns {
  std::vector<std::int32_t> sources;     ///< empty: all that are no condition
  std::vector<std::int32_t> targets;     ///< empty: all that are no condition
  std::vector<std::int32_t> conditions;  ///< of conditional mutual information, transfer entropy
};

}  // namespace kiln
