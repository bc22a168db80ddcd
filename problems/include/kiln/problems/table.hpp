// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

namespace kiln::problems {

/// A user's options for a table of configurations.
struct TableOptions {
  std::string target;                         ///< the column with the value
  Sense sense = Sense::maximize;              ///< most tables hold measured yields and scores
  std::vector<std::string> categorical = {};  ///< columns of unordered numbers
  std::vector<std::string> ignore = {};       ///< columns that are not inputs
};

/// Measured configurations and their values.
struct ConfigurationTable {
  struct Column {
    std::string name;
    bool categorical = false;
    std::vector<std::string> labels;  ///< of the levels: numbers ascending, words by first row
    std::vector<double> values;       ///< of the levels of a column of numbers
  };
  std::vector<Column> inputs;        ///< those with at least two levels
  std::vector<std::int32_t> levels;  ///< [configuration][input]; configurations are distinct
  std::vector<double> values;        ///< [configuration]; the mean if it has several rows
  std::int64_t rows = 0;
  Sense sense = Sense::maximize;
  std::vector<std::string> notes = {};  ///< doubts about the table, in sentences

  /// The level of each input of a configuration.
  std::span<const std::int32_t> setting(std::size_t configuration) const {
    return std::span(levels).subspan(configuration * inputs.size(), inputs.size());
  }
};

/// Reads a table with the names of the columns in its first line, separated by commas, semicolons
/// or tabs; cells may be in double quotes (RFC 4180, within a line). A column is numeric if all its
/// values are numbers. If commas are not separators, numbers may have decimal commas; a note then
/// reports it.
/// @throws ParseError with the lines at fault; InvalidArgument `table.column` for an unknown
/// column, with the nearest one, and `table.objective` without a target, with the available ones.
KILN_API ConfigurationTable read_table(std::istream& in, const std::string& file_name,
                                       const TableOptions& options);

/// The shell command that searches the table in a file: `kiln solve table:a.csv --objective y`.
KILN_API std::string table_call(const std::string& file, const std::string& objective);

/// Makes the problem of looking a configuration up: a category block for each input, whose values
/// number its levels. A combination that is not in the table has no value. The best row is the
/// known optimum.
KILN_API Problem make_table_problem(ConfigurationTable table, std::string name);

/// Makes the problem `table:FILE` with its options by name: objective, sense, categorical, ignore.
/// @throws as read_table(); IoError if the file cannot be read.
KILN_API Problem table_by_name(const std::string& file, const ProblemSettings& settings);

}  // namespace kiln::problems
