// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/fixed_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"
#include "kiln/problems/unpacked.hpp"

#include "errors.hpp"
#include "output/text.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

constexpr const char* blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  const std::size_t end = text.find_last_not_of(blanks);
  return end == std::string_view::npos ? std::string_view{} : text.substr(begin, end - begin + 1);
}

/// Why a text fixes no variable.
struct Complaint {
  std::string message;
  std::string expected = {};
};

/// Takes one text after another.
class Fixer {
 public:
  Fixer(const Model& model, std::int32_t first)
      : first_(first),
        variables_(model.outline().variables),
        low_(model.as<Ising>() != nullptr ? -1 : 0),
        known_(static_cast<std::size_t>(variables_)) {}

  /// @param text  NAME=VALUE or NAME VALUE
  std::optional<Complaint> take(std::string_view text) {
    text = trimmed(text);
    const std::size_t end = text.find_first_of("= \t");
    const std::string_view name = text.substr(0, end);
    std::string_view value = end == std::string_view::npos ? "" : trimmed(text.substr(end));
    if (value.starts_with('=')) value = trimmed(value.substr(1));
    if (name.empty() || value.empty()) {
      return Complaint{fmt::format("'{}' is not NAME=VALUE", clean(std::string(text))),
                       "the number of a variable and its value"};
    }
    std::int64_t number = 0;
    const char* const last = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), last, number);
    const bool exists =
        error == std::errc{} && stop == last && number >= first_ && number - first_ < variables_;
    if (!exists) {
      return Complaint{fmt::format("there is no variable '{}'", clean(std::string(name))),
                       fmt::format("a number {} .. {}", first_, variables_ - 1 + first_)};
    }
    const std::optional<std::int8_t> state = state_of(value);
    if (!state) {
      return Complaint{
          fmt::format("variable {} cannot have the value '{}'", number, clean(std::string(value))),
          fmt::format("{} or 1", low_)};
    }
    const auto variable = static_cast<std::int32_t>(number - first_);
    if (known_[static_cast<std::size_t>(variable)]) {
      return Complaint{fmt::format("variable {} is fixed twice", number)};
    }
    known_[static_cast<std::size_t>(variable)] = true;
    fixed_.push_back({variable, *state});
    return {};
  }

  /// Of two variables that exist, or of the first of few.
  std::string example() const {
    const std::int64_t last = variables_ - 1 + first_;
    if (last > 9) return fmt::format("for example --fix '7=1; 9={}'", low_);
    if (variables_ < 3) return fmt::format("for example --fix {}=1", first_);
    return fmt::format("for example --fix '{}=1; {}={}'", first_, first_ + 1, low_);
  }

  std::vector<FixedVariable> finish() { return std::move(fixed_); }

 private:
  std::optional<std::int8_t> state_of(std::string_view text) const {
    double value = 0;
    try {
      value = detail::parse_real(text, "value");
    } catch (const InvalidArgument&) {
      return {};
    }
    if (value != low_ && value != 1) return {};
    return static_cast<std::int8_t>(value);
  }

  std::int32_t first_;
  std::int64_t variables_;
  int low_;
  std::vector<bool> known_;
  std::vector<FixedVariable> fixed_;
};

void take_text(const std::string& text, Fixer& fixer) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    begin = end + 1;
    if (trimmed(one).empty() && !trimmed(text).empty()) continue;
    if (const std::optional<Complaint> complaint = fixer.take(one)) {
      const bool form = !complaint->expected.empty();
      throw InvalidArgument(
          "problem.fixed", "--fix: " + complaint->message,
          form ? "expected: " + complaint->expected : "",
          form ? fixer.example() : "give each variable once, in --fix or in --fix-file");
    }
  }
}

void take_file(const std::string& path, Fixer& fixer) {
  constexpr std::size_t max_shown = 5;
  const std::string name = clean(path);
  std::ifstream file = open_input(path);
  std::vector<ParseIssue> issues;
  std::int64_t wrong = 0;
  try {
    problems::UnpackedStream in(file, name);
    LineReader lines(in, name);
    std::string line;
    for (std::int64_t number = 1; lines.next(line); ++number) {
      const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (text.empty()) continue;
      const std::optional<Complaint> complaint = fixer.take(text);
      if (!complaint) continue;
      ++wrong;
      if (issues.size() == max_shown) continue;
      const auto column = static_cast<std::int64_t>(text.data() - line.data()) + 1;
      issues.push_back({number, column, complaint->message, complaint->expected});
    }
  } catch (const IoError& error) {
    throw InputError("input.read", error.message());
  }
  if (wrong > 0) throw ParseError(name, std::move(issues), wrong);
}

}  // namespace

Problem fixed_problem(const FixedOptions& options, const Model& model, Format format, Sense sense,
                      const std::string& name) {
  if (model.as<Graph>() == nullptr && model.as<Qubo>() == nullptr && model.as<Ising>() == nullptr) {
    refuse_fixed(name);
  }
  Fixer fixer(model, problems::first_number_of(format));
  if (!options.file.empty()) take_file(options.file, fixer);
  for (const std::string& text : options.texts) take_text(text, fixer);
  const std::vector<FixedVariable> fixed = fixer.finish();
  return make_fixed(model, fixed, sense, name);
}

void refuse_fixed(const std::string& name) {
  throw InvalidArgument(
      "cli.conflict",
      fmt::format("--fix and --fix-file are for quadratic models, and {} is none", name),
      "a graph for Max-Cut, a QUBO or an Ising model", "remove --fix and --fix-file");
}

}  // namespace kiln::cli
