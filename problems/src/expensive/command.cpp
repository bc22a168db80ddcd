// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/command.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/track_best.hpp"
#include "kiln/options.hpp"

#include "command_words.hpp"
#include "process.hpp"
#include "readers/text_reader.hpp"
#include "settings.hpp"

namespace kiln::problems {
namespace {

using detail::printable;
using detail::ProcessResult;
using Kind = CommandVariable::Kind;
using Numbers = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int patience = 20;  // calls without one that succeeds

/// Where the variables of a command lie in a state: reals share a block, as shares of their
/// interval; so do integers of the same bounds, and categories of as many values.
class StateMap {
 public:
  explicit StateMap(const std::vector<CommandVariable>& variables) {
    std::vector<Block> blocks;
    std::vector<std::vector<int>> of_block;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const Block block = block_of(variables[v]);
      const auto found = std::ranges::find_if(blocks, [&](const Block& b) {
        return b.kind == block.kind && b.lower == block.lower && b.upper == block.upper;
      });
      const auto at = static_cast<std::size_t>(found - blocks.begin());
      if (found == blocks.end()) {
        blocks.push_back(block);
        of_block.emplace_back();
      }
      blocks[at].count = static_cast<std::int64_t>(of_block[at].size()) + 1;
      of_block[at].push_back(static_cast<int>(v));
    }
    if (blocks.size() > TrackBest::max_blocks) {
      throw InvalidArgument("command.variables",
                            "the variables are of " + std::to_string(blocks.size()) + " sorts",
                            "at most " + std::to_string(TrackBest::max_blocks) +
                                ": integers of the same bounds are one, categories of as many "
                                "values, and all reals");
    }
    for (const auto& list : of_block) order_.insert(order_.end(), list.begin(), list.end());
    space_ = Space(std::move(blocks));
  }

  const Space& space() const { return space_; }
  /// The variables in the order of the state.
  const std::vector<int>& order() const { return order_; }

  static Numbers numbers_of(StateSpan state) {
    Numbers numbers;
    for (const BlockSpan& block : state) {
      std::visit([&](auto list) { numbers.insert(numbers.end(), list.begin(), list.end()); },
                 block);
    }
    return numbers;
  }
  State state_of(const Numbers& numbers) const {
    State state;
    std::size_t at = 0;
    for (const Block& block : space_.blocks()) {
      Numbers reals;
      std::vector<std::int32_t> levels;
      for (std::int64_t i = 0; i < block.count; ++i, ++at) {
        reals.push_back(numbers[at]);
        levels.push_back(static_cast<std::int32_t>(numbers[at]));
      }
      if (block.kind == BlockKind::real) {
        state.emplace_back(std::move(reals));
      } else {
        state.emplace_back(std::move(levels));
      }
    }
    return state;
  }

 private:
  static Block block_of(const CommandVariable& variable) {
    if (variable.kind == Kind::real) return {BlockKind::real, 1, 0, 1};
    const BlockKind kind =
        variable.kind == Kind::integer ? BlockKind::integer : BlockKind::category;
    return {kind, 1, variable.lower, variable.upper};
  }
  Space space_;
  std::vector<int> order_;
};

// The value of a variable for its number in a state, and back.
double value_of(const CommandVariable& variable, double number) {
  if (variable.kind != Kind::real) return number;
  const double low = variable.lower, high = variable.upper;
  const double value =
      variable.logarithmic ? low * std::pow(high / low, number) : low + number * (high - low);
  return std::clamp(value, low, high);
}

double number_of(const CommandVariable& variable, double value) {
  if (variable.kind != Kind::real) return value;
  const double low = variable.lower, high = variable.upper;
  return variable.logarithmic ? std::log(value / low) / std::log(high / low)
                              : (value - low) / (high - low);
}

std::string text_of(const CommandVariable& variable, double number) {
  if (variable.kind == Kind::category) return variable.labels[static_cast<std::size_t>(number)];
  return kiln::detail::show_real(value_of(variable, number));
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return printable(text.substr(text.find_last_of('\n') + 1));
}

/// Calls the program and keeps what it gave; used from several threads.
class Runner {
 public:
  explicit Runner(CommandOptions options)
      : options_(std::move(options)),
        words_(detail::split_command(options_.command, options_.variables)),
        map_(options_.variables) {}

  const CommandOptions& options() const { return options_; }
  const StateMap& map() const { return map_; }
  const CommandVariable& variable(std::size_t place) const {
    return options_.variables[static_cast<std::size_t>(map_.order()[place])];
  }

  void watch(std::stop_token stop) {
    const std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
  }

  /// The value in the user's sense, NaN for a call that failed, and the constraints.
  double evaluate(StateSpan state, std::span<double> g) {
    const Numbers key = StateMap::numbers_of(state);
    std::stop_token stop;
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = records_.find(key); known != records_.end()) {
        return give(known->second, g);
      }
      stop = stop_;
    }
    const ProcessResult result = detail::run_process(words_for(key), options_.timeout_s, stop);
    if (result.end == ProcessResult::End::stopped) return nan;
    Numbers values;
    const std::string why = judge(result, values);
    const std::lock_guard lock(mutex_);
    count(why, result);
    // Of two calls at once the first counts, for a program that is not always of one opinion.
    return give(records_.try_emplace(key, std::move(values)).first->second, g);
  }

 private:
  static double give(const Numbers& record, std::span<double> g) {
    if (record.empty()) {
      std::ranges::fill(g, nan);
      return nan;
    }
    std::copy_n(record.begin() + 1, g.size(), g.begin());
    return record.front();
  }

  std::vector<std::string> words_for(const Numbers& key) const {
    std::vector<std::string> values(options_.variables.size());
    for (std::size_t i = 0; i < key.size(); ++i) {
      values[static_cast<std::size_t>(map_.order()[i])] = text_of(variable(i), key[i]);
    }
    std::vector<std::string> words;
    for (const detail::WordTemplate& parts : words_) {
      std::string word;
      for (const detail::WordPart& part : parts) {
        word += part.variable < 0 ? part.text : values[static_cast<std::size_t>(part.variable)];
      }
      words.push_back(std::move(word));
    }
    return words;
  }

  // What was wrong with a call, else "" and its numbers.
  std::string judge(const ProcessResult& result, Numbers& values) const {
    using End = ProcessResult::End;
    if (result.end == End::not_started) {
      throw ObjectiveError("command.start",
                           "the program of command:" + printable(options_.command) +
                               " cannot be started: " + std::strerror(result.code),
                           "a program that can be executed, by its path or in PATH");
    }
    if (result.end == End::timed_out) return "it took longer than --timeout";
    if (result.end == End::killed) return "signal " + std::to_string(result.code) + " ended it";
    if (result.code != 0) return "it ended with code " + std::to_string(result.code);
    const auto count = static_cast<std::size_t>(options_.constraints) + 1;
    values = detail::last_numbers(result.output, count);
    if (values.empty()) {
      return count == 1 ? "it printed no number"
                        : "it printed fewer than " + std::to_string(count) + " numbers";
    }
    if (std::isfinite(values.front())) return {};
    values.clear();
    return "its value is not a finite number";
  }

  // A program that never succeeds is a mistake, and every call may be dear.
  void count(const std::string& why, const ProcessResult& result) {
    if (why.empty()) {
      succeeded_ = true;
    } else if (!succeeded_ && ++failures_ >= patience) {
      const std::string said = last_line(result.errors);
      throw ObjectiveError("command.failed",
                           "command:" + printable(options_.command) +
                               " failed in all of its first " + std::to_string(patience) +
                               " calls; of the last one: " + why,
                           said.empty() ? "" : "it said: " + said,
                           "try the command by itself with values of your own");
    }
  }

  CommandOptions options_;
  std::vector<detail::WordTemplate> words_;
  StateMap map_;
  std::mutex mutex_;  // of what follows
  std::stop_token stop_;
  std::map<Numbers, Numbers> records_;  // value and constraints; empty: it failed
  int failures_ = 0;
  bool succeeded_ = false;
};

void check(const CommandOptions& options) {
  if (options.variables.empty()) {
    throw InvalidArgument("command.variable", "the command has no variables",
                          "NAME=real:LOW:HIGH, NAME=int:LOW:HIGH or NAME=cat:A,B,C",
                          "--var lr=real:1e-5:1e-1:log");
  }
  std::vector<std::string> names;
  for (const CommandVariable& variable : options.variables) {
    if (std::ranges::count(names, variable.name) > 0) {
      throw InvalidArgument("command.variable",
                            "the variable '" + variable.name + "' is declared twice");
    }
    names.push_back(variable.name);
  }
  if (options.constraints < 0 || options.constraints > max_constraints) {
    throw InvalidArgument(
        "command.constraints",
        "a command cannot have " + std::to_string(options.constraints) + " constraints",
        "0 .. " + std::to_string(max_constraints));
  }
  if (options.timeout_s >= 0) return;
  throw InvalidArgument("command.timeout", "a time limit of a call must not be negative");
}

void describe(Problem& problem, const std::shared_ptr<Runner>& runner) {
  problem.noisy = true;
  for (std::size_t i = 0; i < runner->map().order().size(); ++i) {
    const CommandVariable& variable = runner->variable(i);
    problem.coordinates.push_back(
        {variable.name, variable.kind == Kind::category, {}, variable.labels});
  }
  problem.named_values = [runner](StateSpan state) {
    std::vector<std::pair<std::string, std::string>> named;
    const Numbers numbers = StateMap::numbers_of(state);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      named.emplace_back(runner->variable(i).name, text_of(runner->variable(i), numbers[i]));
    }
    return named;
  };
  problem.format_solution = [runner](StateSpan state) {
    std::string text;
    const Numbers numbers = StateMap::numbers_of(state);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const CommandVariable& variable = runner->variable(i);
      text += kiln::detail::show_real(value_of(variable, numbers[i])) + "  # " + variable.name;
      if (variable.kind == Kind::category) text += " = " + text_of(variable, numbers[i]);
      text += "\n";
    }
    return text;
  };
  problem.parse_solution = [runner](std::span<const double> values) {
    Numbers numbers;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const CommandVariable& variable = runner->variable(i);
      if (!(values[i] >= variable.lower && values[i] <= variable.upper)) {
        throw InvalidArgument("state.value", kiln::detail::show_real(values[i]) +
                                                 " is outside the bounds of '" + variable.name +
                                                 "'");
      }
      numbers.push_back(std::clamp(number_of(variable, values[i]),
                                   variable.kind == Kind::real ? 0.0 : variable.lower,
                                   variable.kind == Kind::real ? 1.0 : variable.upper));
    }
    return runner->map().state_of(numbers);
  };
}

}  // namespace

Problem make_command_problem(CommandOptions options) {
  check(options);
  const auto runner = std::make_shared<Runner>(std::move(options));
  const CommandOptions& known = runner->options();
  const double sign = known.sense == Sense::maximize ? -1 : 1;
  const std::string name = "command:" + known.command;
  Problem problem = make_problem(
      make_constrained_host_objective(name, runner->map().space(), known.constraints,
                                      [runner, sign](StateSpan state, std::span<double> g) {
                                        return sign * runner->evaluate(state, g);
                                      }));
  problem.family = "command";
  problem.sense = known.sense;
  problem.objective_of_stored = {0, sign};
  problem.verify = [runner](StateSpan state) {
    Numbers g(static_cast<std::size_t>(runner->options().constraints));
    return runner->evaluate(state, g);
  };
  problem.watch_stop = [runner](std::stop_token stop) { runner->watch(std::move(stop)); };
  describe(problem, runner);
  return problem;
}

Problem command_by_name(const std::string& command, const ProblemSettings& settings) {
  CommandOptions options;
  options.command = command;
  if (detail::split_list(command, ' ').empty()) {
    throw InvalidArgument("problem.parameters", "'command:' does not have the form command:PROGRAM",
                          "a program and its arguments, with {name} for a variable",
                          "kiln solve 'command:./train.sh {lr}' --var lr=real:1e-5:1e-1:log");
  }
  for (const std::string& text : detail::split_list(detail::setting_or(settings, "var", ""), ';')) {
    options.variables.push_back(parse_variable(text));
  }
  options.sense = detail::sense_of(settings, Sense::minimize);
  const std::string constraints = detail::setting_or(settings, "constraints", "0");
  const double count = kiln::detail::parse_real(constraints, "--constraints");
  // What is no whole number in range is refused as one that is not.
  const bool whole = count == std::floor(count) && std::abs(count) <= 1000;
  options.constraints = whole ? static_cast<int>(count) : -1;
  options.timeout_s =
      kiln::detail::parse_real(detail::setting_or(settings, "timeout", "0"), "--timeout");
  return make_command_problem(std::move(options));
}

}  // namespace kiln::problems
