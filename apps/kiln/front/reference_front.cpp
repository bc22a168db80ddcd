// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front/reference_front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"
#include "kiln/problems/csv.hpp"
#include "kiln/problems/fronts.hpp"

#include "errors.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

// Points of a true front that a front is compared with.
constexpr std::int64_t true_points = 2000;

// Whether a line of the text has cells between tabs, and a comma in one of them.
bool has_comma_between_tabs(const std::string& text) {
  if (text.find('\t') == std::string::npos || text.find(',') == std::string::npos) return false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto cells = problems::csv_names(line);
    const auto has_comma = [](const std::string& cell) { return cell.find(',') < cell.size(); };
    if (cells && cells->size() > 1 && std::ranges::any_of(*cells, has_comma)) return true;
  }
  return false;
}

// A table whose first line names the objectives: their columns may stand anywhere.
class FrontTable {
 public:
  FrontTable(std::string file, const Objectives& objectives)
      : file_(std::move(file)), objectives_(objectives) {}

  /// Whether the text is such a table and no plain list of points; finds the columns.
  bool begins(const std::string& text) {
    const auto names = problems::csv_names(text);
    if (!names) return false;
    names_ = *names;
    const std::vector<std::string> bare = without_units(objectives_.names);
    for (std::size_t k = 0; k < bare.size(); ++k) {
      std::size_t at = column_of(objectives_.names[k]);
      if (at == names_.size()) at = column_of(bare[k]);
      if (at == names_.size()) return false;
      value_at_.push_back(at);
    }
    violation_at_ = column_of("violation");
    // With nothing else, and in this order, it is a file of points: its separators may be mixed.
    return names_.size() > value_at_.size() || !std::ranges::is_sorted(value_at_);
  }

  /// Whether a list of points has cells as a table has them: in quotes, or between semicolons or
  /// tabs with decimal commas in them. Every column is a coordinate then.
  bool has_cells(const std::string& text) {
    const auto first = problems::csv_names(text);
    if (!first || first->size() < 2) return false;
    const bool marked = text.find_first_of("\";") != std::string::npos;
    if (!marked && !has_comma_between_tabs(text)) return false;
    const auto begins_number = [](const std::string& cell) {
      return cell.find_first_of("0123456789+-.") == 0;
    };
    names_ = *first;
    if (std::ranges::any_of(names_, begins_number)) {
      given_names_ = objectives_.names;
      for (std::size_t k = given_names_.size(); k < first->size(); ++k) {
        given_names_.push_back(fmt::format("column {}", k + 1));
      }
      given_names_.resize(first->size());
      names_ = given_names_;
    }
    value_at_.clear();  // begins() may have found some
    for (std::size_t k = 0; k < names_.size(); ++k) value_at_.push_back(k);
    violation_at_ = names_.size();
    return true;
  }

  /// @param note  gets a note on the numbers
  ReferenceFront read(const std::string& text, std::string& note) {
    problems::CsvTable table = problems::read_csv(text, file_, given_names_);
    if (!stand_first()) problems::require_distinct_names(table);
    note = problems::take_decimal_commas(table, columns_of_numbers());
    ReferenceFront front;
    for (const Row& row : table.rows) {
      std::vector<double> point;
      for (const std::size_t at : value_at_) point.push_back(value_of(row, at));
      const bool judged = violation_at_ < names_.size();
      if (judged && value_of(row, violation_at_) > 0) {
        ++front.infeasible;
      } else {
        front.points.push_back(std::move(point));
      }
    }
    if (front.points.empty()) refuse_empty(front.infeasible);
    return front;
  }

  std::string wanted() const {
    std::string names;
    for (const std::string& name : objectives_.names) {
      names += (names.empty() ? "" : ", ") + clean(name);
    }
    return names;
  }

 private:
  using Row = problems::CsvTable::Row;

  std::size_t column_of(const std::string& name) const {
    for (std::size_t at = 0; at < names_.size(); ++at) {
      const bool taken = std::ranges::find(value_at_, at) != value_at_.end();
      if (!taken && is_name(name, names_[at])) return at;
    }
    return names_.size();
  }
  // As in front.csv, where a variable may be called like an objective.
  bool stand_first() const {
    for (std::size_t k = 0; k < value_at_.size(); ++k) {
      if (value_at_[k] != k) return false;
    }
    return true;
  }
  std::set<std::size_t> columns_of_numbers() const {
    std::set<std::size_t> columns(value_at_.begin(), value_at_.end());
    if (violation_at_ < names_.size()) columns.insert(violation_at_);
    return columns;
  }
  double value_of(const Row& row, std::size_t at) const {
    const std::optional<double> value = number_in(row.cells[at]);
    if (value && std::isfinite(*value)) return *value;
    throw ParseError(file_,
                     {{row.line, 0,
                       fmt::format("column '{}': '{}' is not a finite number", clean(names_[at]),
                                   clean(row.cells[at])),
                       "a finite number in each row"}},
                     1);
  }
  [[noreturn]] void refuse_empty(std::int64_t infeasible) const {
    if (infeasible == 0) throw ParseError(file_, {{0, 0, "the file has no points", {}}}, 1);
    throw InputError(
        "front.infeasible",
        fmt::format("{}: none of the {} points meets the constraints", file_, infeasible),
        "at least one point whose violation is 0", "use the front of a longer search");
  }

  std::string file_;
  const Objectives& objectives_;
  std::vector<std::string> names_;        // of the columns
  std::vector<std::string> given_names_;  // the same, where the text has no line with them
  std::vector<std::size_t> value_at_;
  std::size_t violation_at_ = 0;
};

// Volumes of runs that are compared with the same front are then in the same units.
void take_box(const Points& points, Problem& problem) {
  Points front;
  for (const std::size_t i : nondominated(points)) front.push_back(points[i]);
  for (std::size_t k = 0; k < front.front().size(); ++k) {
    const auto of = [k](const std::vector<double>& point) { return point[k]; };
    const auto [least, most] = std::ranges::minmax_element(front, {}, of);
    if (!((*most)[k] - (*least)[k] > 0)) return;
  }
  const FrontBox box = box_around(front);
  auto objectives = std::make_shared<Objectives>(*problem.objectives);
  objectives->ideal = box.ideal;
  objectives->nadir = box.nadir;
  problem.objectives = std::move(objectives);
}

}  // namespace

Points thinned_front(Points points, std::size_t most) {
  if (points.size() <= most) return points;
  std::sort(points.begin(), points.end());
  Points kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(std::move(points[most == 1 ? 0 : i * (points.size() - 1) / (most - 1)]));
  }
  return kept;
}

ReferenceFront load_reference_front(const std::string& path, const Problem& problem,
                                    std::string& note) {
  const Objectives& objectives = *problem.objectives;
  std::error_code error;
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file, error)) file /= "front.csv";
  const std::string name = clean(file.string());
  const std::string text = table_text_of(file.string());
  ReferenceFront front;
  FrontTable table(name, objectives);
  if (table.begins(text) || table.has_cells(text)) {
    front = table.read(text, note);
  } else {
    std::istringstream lines(text);
    front.points = problems::read_front(lines, name);
  }
  if (front.points.front().size() != objectives.count()) {
    throw InvalidArgument(
        "front.dimension",
        fmt::format("the points of {} have {} objectives, but {} has {} objectives", name,
                    front.points.front().size(), clean(problem.identity.name), objectives.count()),
        "lines with a number for each objective, or a column named after each objective: " +
            table.wanted());
  }
  for (std::vector<double>& point : front.points) {
    for (std::size_t k = 0; k < point.size(); ++k) {
      if (objectives.maximized[k]) point[k] = 0.0 - point[k];
    }
  }
  return front;
}

Points reference_front_of(const std::string& path, Problem& problem,
                          std::vector<std::string>& notes) {
  const Objectives& objectives = *problem.objectives;
  if (path.empty()) return objectives.true_front ? objectives.true_front(true_points) : Points{};
  std::string note;
  ReferenceFront front = load_reference_front(path, problem, note);
  if (!note.empty()) notes.push_back(std::move(note));
  if (front.infeasible > 0) {
    notes.push_back(fmt::format("{} points of {} do not meet the constraints and are left out",
                                front.infeasible, clean(path)));
  }
  if (objectives.ideal.empty()) take_box(front.points, problem);
  if (front.points.size() > max_reference_points) {
    notes.push_back(fmt::format("Kiln compares the front with only {} of the {} points of {}",
                                max_reference_points, front.points.size(), clean(path)));
  }
  return thinned_front(std::move(front.points), max_reference_points);
}

}  // namespace kiln::cli
