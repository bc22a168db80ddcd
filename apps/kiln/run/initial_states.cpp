// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/initial_states.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <span>
#include <string_view>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/problems/unpacked.hpp"

#include "errors.hpp"
#include "output/text.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

// What stands at a column of a line; both count from 1.
double number_at(std::string_view word, const std::string& name, std::int64_t line,
                 std::int64_t column) {
  try {
    return detail::parse_real(word, name);
  } catch (const InvalidArgument&) {
    throw ParseError(name,
                     {{line, column, fmt::format("'{}' is not a number", clean(word)),
                       "one value per variable, as in solution.txt"}},
                     1);
  }
}

std::vector<double> numbers_of(std::istream& in, const std::string& name) {
  LineReader lines(in, name);
  std::vector<double> numbers;
  std::string line;
  for (std::int64_t line_number = 1; lines.next(line); ++line_number) {
    const std::string_view text = std::string_view(line).substr(0, line.find('#'));
    for (std::size_t begin = text.find_first_not_of(" \t\r,"); begin != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(" \t\r,", begin), text.size());
      const std::string_view word = text.substr(begin, end - begin);
      numbers.push_back(number_at(word, name, line_number, static_cast<std::int64_t>(begin) + 1));
      begin = text.find_first_not_of(" \t\r,", end);
    }
  }
  return numbers;
}

std::vector<double> read_numbers(std::istream& file, const std::string& name) {
  problems::UnpackedStream in(file, name);
  try {
    return numbers_of(in, name);
  } catch (const IoError& error) {
    throw InputError("input.read", error.message());
  }
}

}  // namespace

State canonical_state(const Space& space, std::span<const double> values) {
  State state;
  for (const Block& block : space.blocks()) {
    const std::span<const double> own = values.first(static_cast<std::size_t>(block.count));
    values = values.subspan(own.size());
    const auto as = [&]<class T>(T) {
      std::vector<T> list;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const double value = own[i];
        const Bounds bounds = block.bounds(static_cast<std::int64_t>(i));
        if (!(value >= bounds.lower && value <= bounds.upper) ||
            (std::is_integral_v<T> && value != std::floor(value))) {
          throw InvalidArgument("state.value",
                                fmt::format("{} is not a value of a variable of kind {}", value,
                                            to_string(block.kind)),
                                fmt::format("{} .. {}", bounds.lower, bounds.upper));
        }
        list.push_back(static_cast<T>(value));
      }
      state.emplace_back(std::move(list));
    };
    switch (block.kind) {
      case BlockKind::spin:
      case BlockKind::binary:
        as(std::int8_t{});
        break;
      case BlockKind::real:
        as(double{});
        break;
      default:
        as(std::int32_t{});
    }
  }
  return state;
}

std::vector<State> read_initial_states(const std::string& path, const Problem& problem) {
  std::ifstream file = open_input(path);
  return read_states(file, clean(path), problem);
}

std::vector<State> read_states(std::istream& in, const std::string& name, const Problem& problem) {
  const std::vector<double> numbers = read_numbers(in, name);
  const Space& space = problem.objective->space();
  const std::int64_t whole = problem.solution.whole_variables;
  const auto n = static_cast<std::size_t>(whole > 0 ? whole : space.variables());
  if (numbers.empty() || numbers.size() % n != 0) {
    throw ParseError(
        name,
        {{0, 0, fmt::format("the file has {} values for {} variables", numbers.size(), n),
          "one value for each variable, for one or more states"}},
        1);
  }
  std::vector<State> states;
  for (std::size_t begin = 0; begin < numbers.size(); begin += n) {
    const auto values = std::span(numbers).subspan(begin, n);
    try {
      states.push_back(problem.solution.parse ? problem.solution.parse(values)
                                              : canonical_state(space, values));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(error.code(), name + ": " + error.message(), error.expected());
    }
  }
  return states;
}

}  // namespace kiln::cli
