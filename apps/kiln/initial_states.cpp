// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "initial_states.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>

#include "errors.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

// A number may carry a sign of plus, which from_chars does not know.
bool parse_number(std::string_view word, double& value) {
  if (word.size() > 1 && word.front() == '+' && word[1] != '-') word.remove_prefix(1);
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && rest == end && std::isfinite(value);
}

std::vector<double> read_numbers(const std::string& path, const std::string& name) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw InputError("input.open",
                     fmt::format("{}: cannot be opened: {}", name, std::strerror(errno)));
  }
  std::vector<double> numbers;
  std::string line;
  for (std::int64_t line_number = 1; std::getline(in, line); ++line_number) {
    const std::string_view text = std::string_view(line).substr(0, line.find('#'));
    for (std::size_t begin = text.find_first_not_of(" \t\r,"); begin != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(" \t\r,", begin), text.size());
      const std::string_view word = text.substr(begin, end - begin);
      double value = 0;
      if (!parse_number(word, value)) {
        throw ParseError(name,
                         {{line_number, static_cast<std::int64_t>(begin) + 1,
                           fmt::format("'{}' is not a number", clean(std::string(word))),
                           "one value per variable, as in solution.txt"}},
                         1);
      }
      numbers.push_back(value);
      begin = text.find_first_not_of(" \t\r,", end);
    }
  }
  if (in.bad()) throw InputError("input.read", name + ": cannot be read");
  return numbers;
}

// Values in the order of the blocks, as they are.
State canonical_state(const Space& space, std::span<const double> values) {
  State state;
  for (const Block& block : space.blocks()) {
    const std::span<const double> own = values.first(static_cast<std::size_t>(block.count));
    values = values.subspan(own.size());
    const auto as = [&]<class T>(T) {
      std::vector<T> list;
      for (const double value : own) {
        if (!(value >= block.lower && value <= block.upper) ||
            (std::is_integral_v<T> && value != std::floor(value))) {
          throw InvalidArgument(
              "state.value",
              fmt::format("{} is no value of a variable of kind {}", value, to_string(block.kind)),
              fmt::format("{} .. {}", block.lower, block.upper));
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

}  // namespace

std::vector<State> read_initial_states(const std::string& path, const Problem& problem) {
  const std::string name = clean(path);
  const std::vector<double> numbers = read_numbers(path, name);
  const Space& space = problem.objective->space();
  const auto n = static_cast<std::size_t>(space.variables());
  if (numbers.empty() || numbers.size() % n != 0) {
    throw ParseError(name,
                     {{0, 0, fmt::format("there are {} values for {} variables", numbers.size(), n),
                       "one value per variable, or several states one after the other"}},
                     1);
  }
  std::vector<State> states;
  for (std::size_t begin = 0; begin < numbers.size(); begin += n) {
    const auto values = std::span(numbers).subspan(begin, n);
    try {
      states.push_back(problem.parse_solution ? problem.parse_solution(values)
                                              : canonical_state(space, values));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(error.code(), name + ": " + error.message(), error.expected());
    }
  }
  return states;
}

}  // namespace kiln::cli
