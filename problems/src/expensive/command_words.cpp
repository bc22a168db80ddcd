// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The texts around a command: its words, its variables, and what it prints.
#include "command_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "kiln/errors.hpp"

#include "readers/text_reader.hpp"
#include "settings.hpp"

namespace kiln::problems {
namespace {

using detail::printable;
using Kind = CommandVariable::Kind;

constexpr const char* variable_forms =
    "NAME=real:LOW:HIGH, NAME=real:LOW:HIGH:log, NAME=int:LOW:HIGH or NAME=cat:A,B,C; a "
    "semicolon before NAME= separates two variables";

bool is_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto other = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, other);
}

[[noreturn]] void refuse_variable(std::string_view text, const std::string& why) {
  const std::string_view name = text.substr(0, text.find('='));
  throw InvalidArgument("command.variable", "--var " + printable(text) + ": " + why, variable_forms,
                        detail::example_of_variable(is_name(name) ? std::string(name) : "lr"));
}

void read_categories(std::string_view text, const std::string& list, CommandVariable& variable) {
  variable.kind = Kind::category;
  variable.labels = detail::split_list(list, ',');
  const std::set<std::string> distinct(variable.labels.begin(), variable.labels.end());
  if (distinct.size() < variable.labels.size()) refuse_variable(text, "a value appears twice");
  if (distinct.size() < 2)
    refuse_variable(text, "a categorical variable needs at least two values");
  variable.upper = static_cast<double>(distinct.size() - 1);
}

void check_bounds(std::string_view text, const CommandVariable& variable) {
  const double lower = variable.lower, upper = variable.upper;
  if (!(lower < upper)) refuse_variable(text, "the lower bound is not below the upper bound");
  if (variable.logarithmic && lower <= 0)
    refuse_variable(text, "a logarithmic scale needs a lower bound above 0");
  // Beyond it every share of the interval would be one and the same number.
  if (!std::isfinite(upper - lower)) {
    refuse_variable(text, "the difference of the bounds overflows a double");
  }
  if (variable.logarithmic && !std::isfinite(upper / lower)) {
    refuse_variable(text, "the ratio of the bounds overflows a double");
  }
  if (variable.kind == Kind::real) return;
  constexpr double most = 1e9;
  if (lower != std::floor(lower) || upper != std::floor(upper) || lower < -most || upper > most) {
    refuse_variable(text, "the bounds of an int variable must be whole numbers from -1e9 to 1e9");
  }
}

/// Reads a command letter by letter.
class Splitter {
 public:
  Splitter(const std::string& command, const std::vector<CommandVariable>& variables)
      : command_(command), variables_(variables), used_(variables.size(), false) {}

  std::vector<detail::WordTemplate> words() {
    while (at_ < command_.size()) take(command_[at_]);
    if (quote_ != 0) refuse(std::string("the quote ") + quote_ + " is not closed");
    end_word();
    if (words_.empty()) refuse("the command names no program");
    for (std::size_t v = 0; v < used_.size(); ++v) {
      if (used_[v]) continue;
      throw InvalidArgument(
          "command.variable", "the command does not use the variable '" + variables_[v].name + "'",
          "{" + variables_[v].name + "} in the command, in place of the value of the variable");
    }
    return std::move(words_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw InvalidArgument(
        "command.syntax", "command:" + printable(command_) + ": " + why,
        "a program and its arguments, with {name} in place of the value of a variable",
        "'command:./train.sh {lr} {depth}'");
  }
  void take(char c) {
    ++at_;
    if (c == '\\' && quote_ != '\'') return take_escaped();
    if (quote_ != 0 && c == quote_) {
      quote_ = 0;
    } else if (quote_ == 0 && (c == '\'' || c == '"')) {
      quote_ = c;
      inside_ = true;
    } else if (quote_ == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      end_word();
    } else if (c == '{' || c == '}') {
      take_brace(c);
    } else {
      add(c);
    }
  }
  void take_escaped() {
    if (at_ == command_.size()) refuse("the command ends with a backslash");
    add(command_[at_++]);
  }
  void take_brace(char brace) {
    if (at_ < command_.size() && command_[at_] == brace) {
      ++at_;
      return add(brace);
    }
    const std::size_t end = command_.find('}', at_);
    if (brace == '}' || end == std::string::npos) {
      refuse("the command has an unmatched brace; write {{ and }} for literal braces");
    }
    const std::string name = command_.substr(at_, end - at_);
    at_ = end + 1;
    inside_ = true;
    word_.push_back({{}, index_of(name)});
  }
  int index_of(const std::string& name) {
    std::vector<std::string> names;
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      names.push_back(variables_[v].name);
      if (names.back() != name) continue;
      used_[v] = true;
      return static_cast<int>(v);
    }
    const std::string near = nearest_name(name, names);
    throw InvalidArgument(
        "command.variable",
        "the command has {" + printable(name) + "}, which is not a variable" +
            (near.empty() ? "" : "; the nearest is '" + near + "'"),
        "an option --var for each name in braces; write {{ and }} for literal braces",
        "--var " + printable(name) + "=real:0:1");
  }
  void add(char c) {
    inside_ = true;
    if (word_.empty() || word_.back().variable >= 0) word_.emplace_back();
    word_.back().text += c;
  }
  void end_word() {
    if (inside_) words_.push_back(std::move(word_));
    word_.clear();
    inside_ = false;
  }

  const std::string& command_;
  const std::vector<CommandVariable>& variables_;
  std::vector<bool> used_;
  std::size_t at_ = 0;
  char quote_ = 0;
  bool inside_ = false;  // a word has begun, be it empty
  detail::WordTemplate word_;
  std::vector<detail::WordTemplate> words_;
};

}  // namespace

std::string detail::example_of_variable(const std::string& name) {
  return "--var " + name + "=real:1e-5:1e-1:log";
}

std::string detail::first_braces(const std::string& command) {
  for (std::size_t at = command.find('{'); at != std::string::npos;
       at = command.find('{', at + 2)) {
    const std::size_t end = command.find('}', at);
    if (end == std::string::npos) break;
    const std::string name = command.substr(at + 1, end - at - 1);
    if (is_name(name)) return name;
  }
  return "lr";
}

CommandVariable parse_variable(std::string_view text) {
  CommandVariable variable;
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) refuse_variable(text, "this is not NAME=KIND:...");
  variable.name = text.substr(0, equals);
  if (!is_name(variable.name)) {
    refuse_variable(text, "a name consists of letters, digits, _ and -, and begins with a letter");
  }
  std::string_view rest = text.substr(equals + 1);
  const std::string_view kind = rest.substr(0, rest.find(':'));
  rest.remove_prefix(std::min(kind.size() + 1, rest.size()));
  if (kind == "cat") {
    read_categories(text, std::string(rest), variable);
    return variable;
  }
  if (kind != "real" && kind != "int") {
    refuse_variable(text, "the kind '" + printable(kind) + "' is not real, int or cat");
  }
  if (kind == "int") variable.kind = Kind::integer;
  if (kind == "real" && rest.ends_with(":log")) {
    variable.logarithmic = true;
    rest.remove_suffix(4);
  }
  const std::size_t colon = std::min(rest.find(':'), rest.size());
  const std::string_view low = rest.substr(0, colon);
  const std::string_view high = rest.substr(std::min(colon + 1, rest.size()));
  for (const auto& [word, value] :
       {std::pair{low, &variable.lower}, std::pair{high, &variable.upper}}) {
    const char* const why = detail::why_no_real(word, *value);
    if (why != nullptr) refuse_variable(text, "the bound '" + printable(word) + "'" + why);
  }
  check_bounds(text, variable);
  return variable;
}

namespace detail {

std::vector<WordTemplate> split_command(const std::string& command,
                                        const std::vector<CommandVariable>& variables) {
  return Splitter(command, variables).words();
}

std::vector<WordTemplate> split_command(const CommandOptions& options) {
  if (options.worker == WorkerForm::none) return split_command(options.command, options.variables);
  try {
    return split_command(options.command, {});
  } catch (const InvalidArgument& error) {
    if (error.code() != "command.variable") throw;
    throw InvalidArgument("command.variable",
                          "the command of a worker has a name in braces, but a worker reads its "
                          "points from standard input",
                          "a command without braces; write {{ and }} for literal braces",
                          "remove the braces, or --worker");
  }
}

}  // namespace detail
}  // namespace kiln::problems
