// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Assignments: the problems, their tables, and their name.
#include "kiln/problems/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>

#include "kiln/errors.hpp"
#include "kiln/problems/pairwise.hpp"

#include "choices/checks.hpp"
#include "expensive/settings.hpp"
#include "readers/text_reader.hpp"
#include "tables/named_matrix.hpp"

namespace kiln {
namespace {

std::span<const std::int8_t> assigned_bits(StateSpan state) {
  return std::get<std::span<const std::int8_t>>(state.front());
}

struct Names {
  std::vector<std::string> items, places;
};

// How far rows and columns are from one place for each item, and at most one item at each place.
std::vector<double> violations_of(const Names& names, std::span<const std::int8_t> bits) {
  const std::size_t m = names.places.size();
  std::vector<std::int64_t> row(names.items.size()), column(m);
  for (std::size_t k = 0; k < bits.size(); ++k) {
    row[k / m] += bits[k];
    column[k % m] += bits[k];
  }
  std::int64_t rows = 0, columns = 0;
  for (const std::int64_t sum : row) rows += std::abs(sum - 1);
  for (const std::int64_t sum : column) columns += std::max<std::int64_t>(sum - 1, 0);
  return {static_cast<double>(rows), static_cast<double>(columns)};
}

std::vector<std::pair<std::string, std::string>> pairs_of(const Names& names,
                                                          std::span<const std::int8_t> bits) {
  const std::size_t m = names.places.size();
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < names.items.size(); ++i) {
    std::string places;
    for (std::size_t j = 0; j < m; ++j) {
      if (bits[i * m + j] != 0) places += (places.empty() ? "" : ", ") + names.places[j];
    }
    pairs.emplace_back(names.items[i], places.empty() ? "none" : places);
  }
  return pairs;
}

std::string format_pairs(const Names& names, std::span<const std::int8_t> bits) {
  const std::size_t m = names.places.size();
  std::string text;
  for (std::size_t k = 0; k < bits.size(); ++k) {
    text += bits[k] == 0
                ? "0\n"
                : fmt::format("1  # {} = {}\n", problems::detail::in_one_line(names.items[k / m]),
                              problems::detail::in_one_line(names.places[k % m]));
  }
  return text;
}

template <class Data>
Problem make_from(Data data, Names own_names, std::string name) {
  problems::AssignmentModel model = problems::assignment_model(data);
  Problem problem = make_qubo(std::move(model.qubo), data.sense, std::move(name));
  problem.identity.family = "assignment";
  problem.units.value_name = "cost";
  if (!problem.units.integral) problem.units.rounding += model.rounding;
  problem.known = {};
  const auto names = std::make_shared<const Names>(std::move(own_names));
  const auto raw = std::make_shared<const Data>(std::move(data));
  problem.solution.verify = [raw](StateSpan state) {
    return problems::cost_of(*raw, assigned_bits(state));
  };
  problem.solution.constraint_values = [names](StateSpan state) {
    return violations_of(*names, assigned_bits(state));
  };
  problem.solution.named_values = [names](StateSpan state) {
    return pairs_of(*names, assigned_bits(state));
  };
  problem.solution.format = [names](StateSpan state) {
    return format_pairs(*names, assigned_bits(state));
  };
  return problem;
}

std::string fingerprint_of_assignment(const Names& names,
                                      std::initializer_list<const std::vector<double>*> matrices,
                                      Sense sense) {
  problems::detail::Sha256 hash;
  problems::detail::add_to(hash, names.items);
  problems::detail::add_to(hash, names.places);
  for (const std::vector<double>* matrix : matrices) problems::detail::add_to(hash, *matrix);
  hash.update(sense == Sense::maximize ? "maximize" : "minimize");
  return hash.hex().substr(0, 16);
}

}  // namespace

Problem make_assignment(Assignment assignment, std::string name) {
  problems::detail::require_valid(assignment);
  const Names names{assignment.workers, assignment.tasks};
  const std::string fingerprint =
      fingerprint_of_assignment(names, {&assignment.costs}, assignment.sense);
  Problem problem = make_from(std::move(assignment), names, std::move(name));
  problem.identity.fingerprint = fingerprint;
  problem.identity.sizes = {{"rows", std::to_string(names.items.size())},
                            {"columns", std::to_string(names.places.size())}};
  return problem;
}

Problem make_quadratic_assignment(QuadraticAssignment assignment, std::string name) {
  problems::detail::require_valid(assignment);
  const Names names{assignment.facilities, assignment.places};
  const std::string fingerprint = fingerprint_of_assignment(
      names, {&assignment.flows, &assignment.distances}, assignment.sense);
  Problem problem = make_from(std::move(assignment), names, std::move(name));
  problem.identity.fingerprint = fingerprint;
  problem.identity.sizes = {{"facilities", std::to_string(names.items.size())},
                            {"places", std::to_string(names.places.size())}};
  return problem;
}

namespace problems {
namespace {

std::vector<std::string> names_or_numbers(std::vector<std::string> names, std::int64_t n,
                                          const char* word) {
  for (std::int64_t k = std::ssize(names); k < n; ++k) {
    names.push_back(word + std::to_string(k + 1));
  }
  return names;
}

// Rows and columns have the same names, and only one of them may have any.
std::vector<std::string> names_of_square(const detail::NamedMatrix& matrix, const std::string& file,
                                         const char* word) {
  const auto refuse = [&](std::int64_t line, const std::string& message, const char* expected) {
    throw ParseError(file, {{line, 0, message, expected}}, 1);
  };
  if (matrix.n_rows != matrix.n_columns) {
    refuse(0,
           "the table has " + std::to_string(matrix.n_rows) + " rows and " +
               std::to_string(matrix.n_columns) + " columns of numbers",
           "as many rows as columns");
  }
  if (!matrix.rows.empty() && !matrix.columns.empty() && matrix.rows != matrix.columns) {
    const auto [row, column] = std::ranges::mismatch(matrix.rows, matrix.columns);
    refuse(1,
           "row '" + detail::printable(*row) + "' stands where column '" +
               detail::printable(*column) + "' stands",
           "the same names in the same order");
  }
  return names_or_numbers(matrix.columns.empty() ? matrix.rows : matrix.columns, matrix.n_rows,
                          word);
}

}  // namespace

Problem assignment_by_name(const std::string& file, const ProblemSettings& settings) {
  if (file.empty()) {
    throw InvalidArgument("problem.parameters",
                          "'assignment:' does not have the form assignment:FILE",
                          "a table of costs with a row for each worker and a column for each task",
                          "kiln solve assignment:costs.csv");
  }
  const Sense sense = detail::sense_of(settings, Sense::minimize);
  const std::string flows = detail::setting_or(settings, "flows", "");
  detail::NamedMatrix matrix = detail::load_named_matrix(file);
  const std::string name = "assignment:" + file;
  if (flows.empty()) {
    return make_assignment({names_or_numbers(matrix.rows, matrix.n_rows, "row "),
                            names_or_numbers(matrix.columns, matrix.n_columns, "column "),
                            std::move(matrix.values), sense},
                           name);
  }
  detail::NamedMatrix flow = detail::load_named_matrix(flows);
  return make_quadratic_assignment(
      {names_of_square(flow, flows, "facility "), names_of_square(matrix, file, "place "),
       std::move(flow.values), std::move(matrix.values), sense},
      name);
}

void detail::add_to(Sha256& hash, const std::vector<double>& numbers) {
  hash.update(std::to_string(numbers.size()) + "\n");
  hash.update({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
}

void detail::add_to(Sha256& hash, const std::vector<std::string>& names) {
  hash.update(std::to_string(names.size()) + "\n");
  for (const std::string& name : names) hash.update(std::to_string(name.size()) + " " + name);
}

}  // namespace problems
}  // namespace kiln
