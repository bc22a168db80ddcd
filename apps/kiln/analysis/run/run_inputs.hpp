// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/backend.hpp"

#include "analysis/run/run_options.hpp"
#include "report/run_files.hpp"

namespace kiln::cli {

/// An input of an expensive objective, and what it says of the value.
struct RankedInput {
  std::string name;
  double information = 0;  ///< nats, beyond the inputs before it; infinite: it determines the rest
  double p_value = 1;      ///< that none of the inputs left says anything
};

/// Which inputs of an objective matter.
struct InputRanking {
  std::vector<RankedInput> matter;       ///< in the order in which they were found
  RankedInput next;                      ///< the best of the others, which is not significant
  std::vector<std::string> constant;     ///< inputs of one value
  std::vector<std::string> not_numbers;  ///< inputs with words, which are left out
  std::int64_t inputs = 0;               ///< looked at
  std::int64_t rows = 0, failed = 0;     ///< evaluations; without a value
  std::int64_t used = 0;                 ///< rows of the estimates
  bool value_is_constant = false;        ///< all evaluations have one value
};

/// Finds the inputs that say something of the value, one after the other: the one with the highest
/// mutual information of ranks, then the one with the highest conditional mutual information, given
/// those that were found. It ends when the best of the others does not stand out from rows whose
/// values are permuted: the p-value is of the highest information of all inputs left, so that it
/// stays honest for any number of inputs, which may depend on each other.
///
/// Ranks, because values of an objective have few large outliers. k = 6: with 100 evaluations the
/// spread counts for more than the bias.
/// @return nothing that matters if fewer than `min_rows` evaluations have a value
InputRanking rank_inputs(const EvaluationRows& evaluations, const RunAnalysisOptions& options,
                         Backend& backend);

/// Evaluations below which rank_inputs() does not estimate.
constexpr std::int64_t min_rows = 20;

}  // namespace kiln::cli
