// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kiln/problem.hpp"
#include "kiln/result.hpp"
#include "kiln/schedule.hpp"

#include "experiments/evaluation_variables.hpp"

namespace kiln::cli {

/// The lines of evaluations.csv, row by row: study and batch, the variables by name, value,
/// constraints (g1, g2, ...) and the best feasible value of the study so far; cells without a
/// number are empty. Of several objectives a value for each under its name, and no best one.
class EvaluationTable {
 public:
  explicit EvaluationTable(const Problem& problem);
  std::string header() const;
  /// Of evaluations in order: the last cell has the best feasible value of the study so far.
  std::string row(const Evaluation& one);
  /// An evaluation that has its row: later rows know its value.
  void learn(const Evaluation& one);

 private:
  const Problem& problem_;
  EvaluationVariables variables_;
  std::map<std::int64_t, double> best_;  // by study
};

/// Gives a schedule the evaluations of such a file, or of another table (problems::read_csv): a
/// column for each variable, by its name, x[1] or x1; the value under the name of the objective
/// (Units::value_name) or as `value`, and g1, g2, ... in the user's sense and units, empty or nan
/// where the evaluation failed; of several objectives a value for each. Other columns are not read.
///
/// @return a note on the file; "" where there is none.
/// @throws InvalidArgument if the schedule does not take past evaluations; InputError if the file
///   cannot be read; ParseError, with the lines, for what is no such table, columns that are
///   missing or there twice, a last one without a name, and values that the problem does not know.
std::string add_past_evaluations(const std::string& path, const Problem& problem,
                                 Schedule& schedule);

/// What the model says, for people; "" where there is none.
std::string model_text(const ModelSummary& model);

}  // namespace kiln::cli
