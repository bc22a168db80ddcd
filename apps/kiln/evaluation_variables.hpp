// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problem.hpp"

namespace kiln::cli {

/// The variables of a problem as columns of text.
class EvaluationVariables {
 public:
  explicit EvaluationVariables(const Problem& problem);

  std::size_t count() const { return columns_.size(); }
  const std::string& name(std::size_t k) const { return columns_[k].name; }
  /// Whether a column of that name is that of a variable: its name, x[1] or x1.
  bool is_named(std::size_t k, const std::string& column) const;

  std::vector<std::string> cells_of(const State& state) const;
  /// @throws InvalidArgument for what is no value of a variable, and says of which.
  State state_of(const std::vector<std::string>& cells) const;

 private:
  struct Column {
    std::string name;
    BlockKind kind = BlockKind::real;
    Bounds bounds;
    std::vector<std::string> words;  // of categories that have names
  };
  double number_of(const Column& column, const std::string& cell) const;
  double word_of(const Column& column, const std::string& cell) const;

  const Problem& problem_;
  std::vector<Column> columns_;
};

}  // namespace kiln::cli
