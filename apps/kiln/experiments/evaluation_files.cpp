// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "experiments/evaluation_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "kiln/errors.hpp"
#include "kiln/problems/csv.hpp"

#include "errors.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

using Cells = std::vector<std::string>;

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

/// The columns of values: of one objective under its own name.
std::vector<std::string> value_names_of(const Problem& problem) {
  if (problem.objectives) return problem.objectives->names;
  return {problem.units.value_name};
}

/// The columns of evaluations.csv.
Cells own_names_of(const Problem& problem) {
  Cells names{"study", "batch"};
  const EvaluationVariables variables(problem);
  for (std::size_t k = 0; k < variables.count(); ++k) names.push_back(escaped(variables.name(k)));
  if (problem.objectives) {
    for (const std::string& name : problem.objectives->names) names.push_back(escaped(name));
  } else {
    names.emplace_back("value");
  }
  const int constraints = problem.objective->constraints();
  for (int j = 1; j <= constraints; ++j) names.push_back(fmt::format("g{}", j));
  if (!problem.objectives) names.emplace_back("best");
  return names;
}

/// Whether this is the name of a variable without one: x[1] or x1.
bool is_variable_number(std::string_view text) {
  if (!text.starts_with('x')) return false;
  text.remove_prefix(1);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Which column has what.
class PastTable {
 public:
  PastTable(std::string file, const Problem& problem)
      : file_(std::move(file)),
        value_names_(value_names_of(problem)),
        variables_(problem),
        constraints_(static_cast<std::size_t>(problem.objective->constraints())),
        own_names_(own_names_of(problem)) {}

  /// Who gets an evaluation: its state, the value of each objective, and the constraints.
  using Taker = std::function<void(State, std::vector<double>, std::vector<double>)>;

  /// Gives a note on the file; "" where there is none.
  std::string read(std::string text, const Taker& take) {
    std::string torn = leave_out_torn_line(text);
    table_ = problems::read_csv(text, file_);
    if (names().empty()) fail(0, "there is no line with column names", wanted());
    if (names().back().empty()) {
      fail(table_.header.line, "the last column has no name",
           "a name for the column, or no separator at the end of the lines");
    }
    find_columns();
    if (table_.rows.empty()) fail(table_.header.line, "the file has no evaluations");
    if (!text.ends_with('\n')) torn = doubt_last_line(text);
    std::string note = problems::take_decimal_commas(table_, columns_of_numbers());
    for (const Row& row : table_.rows) add(row, take);
    return torn.empty() || note.empty() ? torn + note : torn + "; " + note;
  }

 private:
  using Row = problems::CsvTable::Row;

  // Kiln ends every line that it writes: one without an end is the rest of one, and its last number
  // may have lost digits. Gives a note on that.
  std::string leave_out_torn_line(std::string& text) const {
    const std::size_t rest = text.rfind('\n') + 1;
    if (rest == 0 || rest == text.size()) return {};
    const std::optional<Cells> header = problems::csv_names(text);
    if (!header || *header != own_names_) return {};
    text.resize(rest);
    return file_ +
           " ends in an incomplete line, whose last number may lack digits; Kiln ignores this line";
  }

  // Tables by hand often lack the last line end, and only what stands there can have lost digits.
  std::string doubt_last_line(std::string_view text) const {
    const Row& last = table_.rows.back();
    const std::size_t at = names().size() - 1;
    const bool ends_so = last.line == 1 + std::ranges::count(text, '\n');
    if (!ends_so || !is_taken(at) || last.cells[at].empty()) return {};
    return fmt::format(
        "the last line of {} has no line end, and '{}' in column '{}' may lack digits; if the "
        "number is complete, add a line end",
        file_, clean(last.cells[at]), clean(names()[at]));
  }

  const Cells& names() const { return table_.header.cells; }
  bool is_taken(std::size_t at) const {
    return std::ranges::count(variable_at_, at) + std::ranges::count(value_at_, at) +
               std::ranges::count(constraint_at_, at) >
           0;
  }

  [[noreturn]] void fail(std::int64_t line, const std::string& message,
                         const std::string& expected = {}, const std::string& fix = {}) const {
    throw ParseError(file_, {{line, 0, message, expected}}, 1, fix);
  }

  std::string wanted() const {
    std::string names;
    for (std::size_t k = 0; k < variables_.count(); ++k) names += clean(variables_.name(k)) + ", ";
    for (const std::string& name : value_names_) {
      names += (name == value_names_.front() ? "" : ", ") + clean(name);
    }
    if (value_names_.size() == 1 && value_names_.front() != "value") names += " or value";
    for (std::size_t j = 0; j < constraints_; ++j) names += fmt::format(", g{}", j + 1);
    return names;
  }

  // Kiln's own files have the columns where they stand: a variable may be called like another one.
  void find_columns() {
    if (names() == own_names_) {
      std::size_t at = 2;
      for (std::size_t k = 0; k < variables_.count(); ++k) variable_at_.push_back(at++);
      for (std::size_t k = 0; k < value_names_.size(); ++k) value_at_.push_back(at++);
      for (std::size_t j = 0; j < constraints_; ++j) constraint_at_.push_back(at++);
      return;
    }
    problems::require_distinct_names(table_);
    for (std::size_t k = 0; k < variables_.count(); ++k) {
      const std::size_t at = variables_.column_in(names(), k);
      if (at == names().size()) missing(variables_.name(k));
      variable_at_.push_back(at);
    }
    const std::vector<std::string> bare = without_units(value_names_);
    for (std::size_t k = 0; k < bare.size(); ++k) {
      const std::string& name = value_names_[k];
      std::optional<std::size_t> at = last_of(name);
      if (!at) at = last_of(bare[k]);
      // Tables of measurements name the objective; evaluations.csv calls one objective `value`.
      if (!at && value_names_.size() == 1) at = last_of("value");
      value_at_.push_back(found(at, name));
    }
    for (std::size_t j = 0; j < constraints_; ++j) {
      const std::string name = fmt::format("g{}", j + 1);
      constraint_at_.push_back(found(last_of(name), name));
    }
    refuse_further_variables();
  }
  // A value depends on every variable, so that these are evaluations of another problem. Variables
  // are columns with numbers like those of the problem's, and all between `batch` and the values.
  void refuse_further_variables() const {
    bool numbered = false;
    for (std::size_t k = 0; k < variables_.count(); ++k) {
      numbered |= variables_.is_number_of(k, names()[variable_at_[k]]);
    }
    const bool own_layout = names().size() > 2 && names()[0] == "study" && names()[1] == "batch";
    const std::size_t values = own_layout ? *std::ranges::min_element(value_at_) : 0;
    for (std::size_t at = 0; at < names().size(); ++at) {
      if (is_taken(at)) continue;
      if (!(numbered && is_variable_number(names()[at])) && (at < 2 || at >= values)) continue;
      std::string own;
      for (std::size_t k = 0; k < std::min<std::size_t>(8, variables_.count()); ++k) {
        own += (k == 0 ? "" : ", ") + clean(variables_.name(k));
      }
      if (variables_.count() > 8) own += ", ...";
      fail(table_.header.line,
           fmt::format("column '{}' is a variable that this problem does not have",
                       clean(names()[at])),
           "columns for " + own,
           "give evaluations of this problem, or remove the column if the value does not depend on "
           "it");
    }
  }
  std::optional<std::size_t> last_of(const std::string& name) const {
    for (std::size_t at = names().size(); at-- > 0;) {
      if (!is_taken(at) && is_name(name, names()[at])) return at;
    }
    return std::nullopt;
  }
  std::set<std::size_t> columns_of_numbers() const {
    std::set<std::size_t> columns(value_at_.begin(), value_at_.end());
    columns.insert(constraint_at_.begin(), constraint_at_.end());
    for (std::size_t k = 0; k < variables_.count(); ++k) {
      if (!variables_.has_words(k)) columns.insert(variable_at_[k]);
    }
    return columns;
  }
  std::size_t found(std::optional<std::size_t> at, const std::string& name) const {
    if (!at) missing(name);
    return *at;
  }
  [[noreturn]] void missing(const std::string& name) const {
    std::string all;
    constexpr std::size_t most = 12;
    for (std::size_t at = 0; at < std::min(most, names().size()); ++at) {
      all += (at == 0 ? "" : ", ") + clean(names()[at]);
    }
    if (names().size() > most) all += ", ...";
    fail(table_.header.line, fmt::format("there is no column '{}'", clean(name)),
         fmt::format("{}; the file has {}", wanted(), all));
  }

  // NaN for what stands for a failure.
  double value_of(const Row& row, std::size_t at) const {
    const std::string& text = row.cells[at];
    if (text.empty() || text == "NaN" || text == "NA") {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const std::optional<double> value = number_in(text);
    if (!value) {
      fail(row.line,
           fmt::format("column '{}': '{}' is not a number", clean(names()[at]), clean(text)),
           "a number, or an empty cell for a failed evaluation");
    }
    return *value;
  }

  void add(const Row& row, const Taker& take) const {
    Cells variables;
    for (const std::size_t at : variable_at_) variables.push_back(row.cells[at]);
    std::vector<double> values, constraints;
    for (const std::size_t at : value_at_) values.push_back(value_of(row, at));
    for (const std::size_t at : constraint_at_) constraints.push_back(value_of(row, at));
    try {
      take(variables_.state_of(variables), std::move(values), std::move(constraints));
    } catch (const InvalidArgument& error) {
      fail(row.line, error.message(), error.expected());
    }
  }

  std::string file_;
  std::vector<std::string> value_names_;
  EvaluationVariables variables_;
  std::size_t constraints_;
  Cells own_names_;
  problems::CsvTable table_;
  std::vector<std::size_t> variable_at_, value_at_, constraint_at_;
};

// Adds past evaluations to the schedule. Throws if it uses none.
PastTable::Taker taker_of(Schedule& schedule, const Problem& problem) {
  auto* const learner = schedule.as<TakesPastEvaluations>();
  if (learner == nullptr) {
    const char* const takes = problem.objectives ? "bayesian-front" : "bayesian-optimization";
    throw InvalidArgument(
        "cli.conflict",
        fmt::format("--past is for schedule {}, but the schedule is {}", takes, schedule.name()),
        {}, fmt::format("--schedule {}", takes));
  }
  return [learner](State state, std::vector<double> values, std::vector<double> constraints) {
    learner->add_past(std::move(state), std::move(values), std::move(constraints));
  };
}

}  // namespace

EvaluationTable::EvaluationTable(const Problem& problem) : problem_(problem), variables_(problem) {}

std::string EvaluationTable::header() const {
  std::string text;
  for (const std::string& name : own_names_of(problem_)) {
    text += (text.empty() ? "" : ",") + problems::csv_cell(name);
  }
  return text + "\n";
}

std::string EvaluationTable::row(const Evaluation& one) {
  std::string text = fmt::format("{},{}", one.study, one.batch);
  for (const std::string& value : variables_.cells_of(spans_of(one.state))) {
    text += "," + problems::csv_cell(value);
  }
  if (one.objectives.empty()) text += "," + cell(one.value);
  for (const double value : one.objectives) text += "," + cell(value);
  for (const double g : one.constraints) text += "," + cell(g);
  if (problem_.objectives) return text + "\n";
  learn(one);
  text += best_.contains(one.study) ? "," + cell(best_[one.study]) : ",";
  return text + "\n";
}

void EvaluationTable::learn(const Evaluation& one) {
  const bool met = std::ranges::all_of(one.constraints, [](double g) { return g <= 0; });
  const auto known = best_.find(one.study);
  if (met && std::isfinite(one.value) &&
      (known == best_.end() || problem_.better(one.value, known->second))) {
    best_[one.study] = one.value;
  }
}

std::string add_past_evaluations(const std::string& path, const Problem& problem,
                                 Schedule& schedule) {
  const PastTable::Taker take = taker_of(schedule, problem);
  return PastTable(clean(path), problem).read(table_text_of(path), take);
}

std::string model_text(const ModelSummary& model) {
  if (model.lengths.empty()) return {};
  constexpr std::size_t most = 8;
  std::string text =
      fmt::format("model  fit {} ({:.2f})   noise sd {:.6g}, {:.2g} % of the sd of the values\n",
                  model.fit_in_words(), model.fit, model.noise_of_values(), 100 * model.noise);
  auto lengths = model.lengths;
  std::ranges::stable_sort(lengths, {}, [](const auto& one) { return one.second; });
  std::string scales;
  for (std::size_t k = 0; k < std::min(most, lengths.size()); ++k) {
    scales +=
        fmt::format("{}{} {:.2g}", k == 0 ? "" : "   ", clean(lengths[k].first), lengths[k].second);
  }
  if (lengths.size() > most) scales += fmt::format("   and {} longer", lengths.size() - most);
  return text + fmt::format("  {:<14} {}\n", "length scales", scales);
}

}  // namespace kiln::cli
