// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "evaluation_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/schedules/bayesian_optimization.hpp"

#include "errors.hpp"
#include "input_file.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

using Cells = std::vector<std::string>;

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n#") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

// The cells of a line, some of them in double quotes.
Cells cells_in(const std::string& line) {
  Cells cells(1);
  bool within = false, was_quoted = false;
  const auto end_cell = [&] {
    if (!was_quoted) cells.back() = trimmed(cells.back());
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (within && i + 1 < line.size() && line[i + 1] == '"') {
        cells.back() += line[i++];
        continue;
      }
      within = !within;
      if (within && trimmed(cells.back()).empty()) cells.back().clear();
      was_quoted = true;
    } else if (c == ',' && !within) {
      end_cell();
      cells.emplace_back();
    } else if (within || !was_quoted) {
      cells.back() += c;  // what stands between a quote and a comma is left out
    }
  }
  end_cell();
  return cells;
}

/// Which column has what.
class PastTable {
 public:
  PastTable(std::string file, const Problem& problem)
      : file_(std::move(file)),
        variables_(problem),
        constraints_(static_cast<std::size_t>(problem.objective->abilities().constraints)) {}

  void read(std::istream& in, BayesianOptimization& schedule) {
    LineReader lines(in, file_);
    std::string line;
    std::int64_t rows = 0;
    while (lines.next(line)) {
      ++line_;
      const std::string text = trimmed(line);
      if (text.empty() || text.front() == '#') continue;
      const Cells cells = cells_in(line);
      if (header_.empty()) {
        header_ = cells;
        find_columns();
        continue;
      }
      if (cells.size() != header_.size()) {
        fail(fmt::format("the line has {} values for {} columns", cells.size(), header_.size()));
      }
      add(cells, schedule);
      ++rows;
    }
    if (header_.empty()) fail("there is no line with the names of columns", wanted());
    if (rows == 0) fail("there are no evaluations");
  }

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& expected = {}) const {
    throw ParseError(file_, {{line_, 0, message, expected}}, 1);
  }

  std::string wanted() const {
    std::string names;
    for (std::size_t k = 0; k < variables_.count(); ++k) names += clean(variables_.name(k)) + ", ";
    names += "value";
    for (std::size_t j = 0; j < constraints_; ++j) names += fmt::format(", g{}", j + 1);
    return names;
  }

  // A variable may be called like one of the other columns, which stand around those of the
  // variables.
  void find_columns() {
    const bool numbered = header_.size() > 2 && header_[0] == "study" && header_[1] == "batch";
    for (std::size_t k = 0; k < variables_.count(); ++k) {
      std::size_t at = numbered ? 2 : 0;
      while (at < header_.size() && !variables_.is_named(k, header_[at])) ++at;
      if (at == header_.size()) missing(variables_.name(k));
      variable_at_.push_back(at);
    }
    value_at_ = last_of("value");
    for (std::size_t j = 0; j < constraints_; ++j) {
      constraint_at_.push_back(last_of(fmt::format("g{}", j + 1)));
    }
  }
  std::size_t last_of(const std::string& name) const {
    for (std::size_t at = header_.size(); at-- > 0;) {
      const bool taken = std::ranges::find(variable_at_, at) != variable_at_.end();
      if (header_[at] == name && !taken) return at;
    }
    missing(name);
  }
  [[noreturn]] void missing(const std::string& name) const {
    fail(fmt::format("there is no column '{}'", clean(name)), wanted());
  }

  // NaN for what stands for a failure.
  double value_of(const Cells& cells, std::size_t at) const {
    const std::string& text = cells[at];
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc() && rest == text.data() + text.size();
    if (text.empty() || text == "NaN" || text == "NA") {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (!number) {
      fail(fmt::format("column '{}': '{}' is not a number", clean(header_[at]), clean(text)),
           "a number, or nothing where the evaluation failed");
    }
    return value;
  }

  void add(const Cells& cells, BayesianOptimization& schedule) const {
    Cells values;
    for (const std::size_t at : variable_at_) values.push_back(cells[at]);
    std::vector<double> constraints;
    for (const std::size_t at : constraint_at_) constraints.push_back(value_of(cells, at));
    const double value = value_of(cells, value_at_);
    try {
      schedule.add_past(variables_.state_of(values), value, std::move(constraints));
    } catch (const InvalidArgument& error) {
      fail(error.message(), error.expected());
    }
  }

  std::string file_;
  EvaluationVariables variables_;
  std::size_t constraints_;
  std::int64_t line_ = 0;
  Cells header_;
  std::vector<std::size_t> variable_at_, constraint_at_;
  std::size_t value_at_ = 0;
};

}  // namespace

EvaluationTable::EvaluationTable(const Problem& problem) : problem_(problem), variables_(problem) {}

std::string EvaluationTable::header() const {
  std::string text = "study,batch,";
  for (std::size_t k = 0; k < variables_.count(); ++k) {
    text += quoted(clean(variables_.name(k))) + ",";
  }
  text += "value";
  const int constraints = problem_.objective->abilities().constraints;
  for (int j = 1; j <= constraints; ++j) text += fmt::format(",g{}", j);
  return text + ",best\n";
}

std::string EvaluationTable::row(const Evaluation& one) {
  std::string text = fmt::format("{},{}", one.study, one.batch);
  for (const std::string& value : variables_.cells_of(one.state)) text += "," + quoted(value);
  text += "," + cell(one.value);
  for (const double g : one.constraints) text += "," + cell(g);
  const bool met = std::ranges::all_of(one.constraints, [](double g) { return g <= 0; });
  const auto known = best_.find(one.study);
  if (met && std::isfinite(one.value) &&
      (known == best_.end() || problem_.better(one.value, known->second))) {
    best_[one.study] = one.value;
  }
  text += best_.contains(one.study) ? "," + cell(best_[one.study]) : ",";
  return text + "\n";
}

std::string evaluations_csv(const Evaluations& evaluations, const Problem& problem) {
  EvaluationTable table(problem);
  std::string text = table.header();
  for (const Evaluation& one : evaluations.all) text += table.row(one);
  return text;
}

void add_past_evaluations(const std::string& path, const Problem& problem, Schedule& schedule) {
  auto* const takes = dynamic_cast<BayesianOptimization*>(&schedule);
  if (takes == nullptr) {
    throw InvalidArgument(
        "cli.conflict",
        fmt::format("--past is for schedule bayesian-optimization, which {} is not",
                    schedule.name()),
        {}, "--schedule bayesian-optimization");
  }
  std::ifstream in = open_input(path);
  PastTable(clean(path), problem).read(in, *takes);
}

std::string model_text(const ModelSummary& model) {
  if (model.lengths.empty()) return {};
  constexpr std::size_t most = 8;
  std::string text =
      fmt::format("model  fit {} ({:.2f})   noise {:.2g} % of the spread of the values\n",
                  model.fit_in_words(), model.fit, 100 * model.noise);
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
