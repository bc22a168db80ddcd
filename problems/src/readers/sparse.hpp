// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/problems/qubo.hpp"

#include "canonical.hpp"
#include "text_reader.hpp"

// Common code of the sparse formats: those of graphs, of quadratic functions and of Potts models.
namespace kiln::problems::detail {

inline constexpr std::int64_t max_free_variables = std::int64_t{1} << 20;
inline constexpr std::int64_t max_variables_per_line = 64;  // beyond max_free_variables of them

/// A number in the text decides the memory for variables, so a tiny file must not request
/// gigabytes.
inline std::int64_t max_variables(std::int64_t n_lines) {
  return max_free_variables + max_variables_per_line * n_lines;
}

/// Number of lines that a writer adds to `n_lines` so that the reader accepts n variables.
inline std::int64_t missing_lines(std::int64_t n, std::int64_t n_lines) {
  const std::int64_t beyond = std::max<std::int64_t>(n - max_free_variables, 0);
  const std::int64_t needed = (beyond + max_variables_per_line - 1) / max_variables_per_line;
  return std::max<std::int64_t>(needed - n_lines, 0);
}

/// Complains where the header promises more variables than the lines that were read allow.
void check_promise(TextReader& text, std::int64_t n, std::string_view variables,
                   std::int64_t n_lines, std::string_view lines);

/// A writer's counterpart, for formats that have no lines to add. @throws InvalidArgument
void require_readable(const Graph& graph);

/// Moves terms with i = j to the linear coefficients; returns how many repeated an earlier one.
std::int64_t move_diagonal(Qubo& qubo);

/// A comment fit for one line: a line break in it would turn the rest into data.
std::string one_line(std::string comment);

/// Writes `i i value` for each linear coefficient that is not 0 and for the first `n_zeros` that
/// are.
template <class Writer>
void write_diagonal(Writer& writer, const std::vector<double>& linear, std::int64_t n_zeros) {
  for (std::size_t i = 0; i < linear.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (linear[i] != 0.0 || n_zeros-- > 0) writer.line(index, index, linear[i]);
  }
}

}  // namespace kiln::problems::detail
