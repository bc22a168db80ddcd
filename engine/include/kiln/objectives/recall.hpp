// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// What an evaluation gave.
struct RecalledEvaluation {
  double value = 0;                 ///< in the user's sense and units; NaN: the evaluation failed
  std::vector<double> constraints;  ///< as many as the objective has
};

/// Gives the evaluation of a state that an earlier process of the run made; empty: it made none.
/// Called from several threads.
using EvaluationRecall = std::function<std::optional<RecalledEvaluation>(StateSpan)>;

/// The same problem, which evaluates no state that `recall` knows: its objective and the check of
/// the answer take value and constraints from there.
///
/// A problem is left as it is unless its objective is a host objective, and its values are those
/// of the objective or their negatives: other units would not give them back bit for bit.
KILN_API Problem with_recall(Problem problem, const EvaluationRecall& recall);

}  // namespace kiln
