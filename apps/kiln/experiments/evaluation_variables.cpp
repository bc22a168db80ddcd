// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "experiments/evaluation_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"

#include "output/text.hpp"
#include "output/wording.hpp"
#include "run/initial_states.hpp"

namespace kiln::cli {
namespace {

std::optional<double> finite_number_in(const std::string& cell) {
  try {
    return detail::parse_real(cell, "");
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

State lowest_state(const Space& space) {
  std::vector<double> values;
  for (const Block& block : space.blocks()) {
    for (std::int64_t i = 0; i < block.count; ++i) values.push_back(block.bounds(i).lower);
  }
  return canonical_state(space, values);
}

[[noreturn]] void refuse(const std::string& column, const std::string& complaint,
                         const std::string& expected) {
  throw InvalidArgument("past.value", fmt::format("column '{}': {}", clean(column), complaint),
                        expected);
}

// Without coordinates, named values say what a solution means, and not a value for each variable.
bool names_variables(const Problem& problem) {
  return problem.solution.named_values && !problem.coordinates.empty();
}

}  // namespace

EvaluationVariables::EvaluationVariables(const Problem& problem) : problem_(problem) {
  const Space& space = problem.objective->space();
  for (const Block& block : space.blocks()) {
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::size_t k = columns_.size();
      const bool named = k < problem.coordinates.size() && !problem.coordinates[k].name.empty();
      columns_.push_back({named ? problem.coordinates[k].name : fmt::format("x[{}]", k + 1),
                          named,
                          block.kind,
                          block.bounds(i),
                          {}});
    }
  }
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  bare_ = without_units(names);
  if (!names_variables(problem)) return;
  // What the levels are called: the names of a state in which only this variable changes.
  State state = lowest_state(space);
  std::size_t k = 0;
  for (std::size_t b = 0; b < space.blocks().size(); ++b) {
    const Block& block = space.blocks()[b];
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i, ++k) {
      if (block.kind != BlockKind::category) continue;
      std::int32_t& level = std::get<std::vector<std::int32_t>>(state[b])[i];
      for (; level <= static_cast<std::int32_t>(block.upper); ++level) {
        columns_[k].words.push_back(problem.solution.named_values(spans_of(state)).at(k).second);
      }
      level = 0;
    }
  }
}

std::size_t EvaluationVariables::column_in(const std::vector<std::string>& names,
                                           std::size_t k) const {
  const auto place_of = [&](const auto& fits) {
    return static_cast<std::size_t>(std::ranges::find_if(names, fits) - names.begin());
  };
  const auto names_one = [&](const std::string& text) {
    return std::ranges::any_of(columns_, [&](const Column& c) { return is_name(c.name, text); });
  };
  for (const std::string& name : {columns_[k].name, bare_[k]}) {
    const std::size_t own = place_of([&](const std::string& text) { return is_name(name, text); });
    if (own < names.size()) return own;
  }
  // x2 may be the name of another variable.
  for (const std::string& number : {fmt::format("x[{}]", k + 1), fmt::format("x{}", k + 1)}) {
    const std::size_t at =
        place_of([&](const std::string& text) { return text == number && !names_one(text); });
    if (at < names.size()) return at;
  }
  return names.size();
}

bool EvaluationVariables::is_number_of(std::size_t k, const std::string& text) const {
  const Column& column = columns_[k];
  if (column.named && (is_name(column.name, text) || is_name(bare_[k], text))) return false;
  return text == fmt::format("x[{}]", k + 1) || text == fmt::format("x{}", k + 1);
}

std::vector<std::string> EvaluationVariables::cells_of(StateSpan state) const {
  std::vector<std::string> cells;
  if (names_variables(problem_)) {
    for (const auto& [name, value] : problem_.solution.named_values(state)) {
      cells.push_back(escaped(value));
    }
    return cells;
  }
  for (const BlockSpan& block : state) {
    std::visit(
        [&](const auto& values) {
          for (const auto value : values) cells.push_back(fmt::format("{}", value));
        },
        block);
  }
  return cells;
}

double EvaluationVariables::word_of(const Column& column, const std::string& cell) const {
  auto same = std::ranges::find(column.words, cell, escaped);
  if (same == column.words.end()) same = std::ranges::find(column.words, cell);
  if (same != column.words.end()) return static_cast<double>(same - column.words.begin());
  // 1.0 is 1 where no other word is that, too.
  const std::optional<double> number = finite_number_in(cell);
  const auto is_number = [&](const std::string& word) { return finite_number_in(word) == number; };
  if (number && std::ranges::count_if(column.words, is_number) == 1) {
    return static_cast<double>(std::ranges::find_if(column.words, is_number) -
                               column.words.begin());
  }
  std::string all;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, column.words.size()); ++i) {
    all += (i == 0 ? "" : ", ") + clean(column.words[i]);
  }
  refuse(column.name, fmt::format("'{}' is not a value of this variable", clean(cell)),
         all + (column.words.size() > 8 ? ", ..." : ""));
}

double EvaluationVariables::number_of(const Column& column, const std::string& cell) const {
  if (!column.words.empty()) return word_of(column, cell);
  const std::optional<double> number = finite_number_in(cell);
  if (!number) refuse(column.name, fmt::format("'{}' is not a number", clean(cell)), {});
  const bool whole = column.kind == BlockKind::real || *number == std::floor(*number);
  if (!whole) refuse(column.name, fmt::format("{} is not a whole number", *number), {});
  // Values in units of the user's are judged by the problem.
  const bool own_units = names_variables(problem_) && problem_.solution.parse;
  const Bounds& bounds = column.bounds;
  if (own_units || (*number >= bounds.lower && *number <= bounds.upper)) return *number;
  refuse(column.name, fmt::format("{} is outside {} .. {}", *number, bounds.lower, bounds.upper),
         {});
}

State EvaluationVariables::state_of(const std::vector<std::string>& cells) const {
  std::vector<double> values;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    values.push_back(number_of(columns_[k], cells[k]));
  }
  const bool own_units = names_variables(problem_) && problem_.solution.parse;
  return own_units ? problem_.solution.parse(values)
                   : canonical_state(problem_.objective->space(), values);
}

}  // namespace kiln::cli
