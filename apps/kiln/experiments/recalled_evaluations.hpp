// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/evaluations.hpp"
#include "kiln/objectives/recall.hpp"
#include "kiln/problem.hpp"

#include "experiments/evaluation_variables.hpp"

namespace kiln::cli {

/// Lines of evaluations.csv have a sum in evaluations.sums: 16 hexadecimal digits of the SHA-256 of
/// run.json, of who made the evaluation, and of the line. The order of sums says nothing.
class LineSums {
 public:
  static constexpr const char* file = "evaluations.sums";
  enum class Origin : std::uint8_t { own, past };  ///< the run, or what was known before it

  /// @param run  run.json
  explicit LineSums(const std::filesystem::path& run);
  /// Of a line, with or without its line feed.
  std::string of(std::string_view line, Origin origin) const;

 private:
  std::string run_;
};

/// The evaluations in the folder of a run that continues: those that this very run made, by the
/// text of their variables, which is what a program was given.
class RecalledEvaluations {
 public:
  /// Reads evaluations.csv. A last line without an end, and lines that the run did not write as
  /// they are, are no evaluations.
  RecalledEvaluations(const std::filesystem::path& folder, const Problem& problem);

  std::optional<RecalledEvaluation> find(StateSpan state) const;
  /// In the order of the file, without their states.
  const std::vector<Evaluation>& all() const { return all_; }
  /// Which lines are not of this run; "" where all are.
  std::string warning() const;
  /// A line for the terminal on what is known; "" where nothing is.
  std::string text() const;
  /// The bytes of the whole lines of evaluations.csv and of evaluations.sums.
  std::uint64_t csv_bytes() const { return csv_bytes_; }
  std::uint64_t sums_bytes() const { return sums_bytes_; }

 private:
  using Cells = std::vector<std::string>;
  void take(const Cells& cells);

  Problem problem_;
  EvaluationVariables variables_;
  std::string file_;
  std::vector<Evaluation> all_;
  std::map<Cells, std::size_t> places_;  // in all_, by variables
  std::vector<std::int64_t> changed_;    // lines, from 1
  std::uint64_t csv_bytes_ = 0, sums_bytes_ = 0;
};

}  // namespace kiln::cli
