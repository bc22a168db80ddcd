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
  /// Whether these have names of categories, and no numbers.
  bool has_words(std::size_t k) const { return !columns_[k].words.empty(); }
  /// Where a variable has its column: under its name, else without its unit, else as x[1], else as
  /// x1; names.size() where there is none.
  std::size_t column_in(const std::vector<std::string>& names, std::size_t k) const;
  /// Whether this text is a number of variable k, x[1] or x1, and not its own name.
  bool is_number_of(std::size_t k, const std::string& text) const;

  /// A state as text that state_of() knows; see escaped().
  std::vector<std::string> cells_of(StateSpan state) const;
  /// @throws InvalidArgument for what is no value of a variable, and says of which.
  State state_of(const std::vector<std::string>& cells) const;

 private:
  struct Column {
    std::string name;
    bool named = false;  // else the name is the number
    BlockKind kind = BlockKind::real;
    Bounds bounds;
    std::vector<std::string> words;  // of categories that have names
  };
  double number_of(const Column& column, const std::string& cell) const;
  double word_of(const Column& column, const std::string& cell) const;

  const Problem& problem_;
  std::vector<Column> columns_;
  std::vector<std::string> bare_;  // their names without units
};

}  // namespace kiln::cli
