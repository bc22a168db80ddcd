// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/budget.hpp"

#include "cli/settings.hpp"

// How the values of options are read, for the tables that declare options. Each function gives a
// reader that refuses a bad value with the label of its setting and a fix.
namespace kiln::cli {

/// The seconds of a setting such as 30s or 5m. @throws InvalidArgument unless they are above 0
/// @param example  what the fix of the error shows
double positive_duration(const std::string& name, const Setting& setting,
                         const std::string& example);

/// A limit of work as it was given.
struct WorkAmount {
  std::int64_t amount = 0;
  std::optional<WorkKind> unit{};
};

struct CountRange {
  std::int64_t least = 1, most = 1;
  std::string example;  ///< of a value, for the fix
  std::string fix{};    ///< of a number outside; "": an example of a positive number
};

/// A whole number: std::int64_t.
ReadOption whole_number(CountRange range);
/// The same, or `auto`, which is no value.
ReadOption whole_number_or_auto(CountRange range);
/// std::uint64_t
ReadOption seed_number();
/// A number of units of work above 0, with or without the name of the unit: WorkAmount.
ReadOption amount_of_work();
/// DrawConditions
ReadOption conditions_on_draws();
/// GainCondition
ReadOption condition_on_gain();
/// Seconds above 0: double.
ReadOption duration(std::string example);
/// The same, or `off`, which is 0.
ReadOption duration_or_off(std::string example);
/// A number: double. `best-known` is no value.
ReadOption target_number();
/// bool
ReadOption on_or_off();

/// One of some words. @throws InvalidArgument for any other
std::size_t word_of(const std::string& name, const Setting& setting,
                    const std::vector<std::string>& words, const std::string& example);

/// The value that belongs to one of some words: Value.
template <class Value>
ReadOption one_of(std::vector<std::pair<std::string, Value>> values, std::string example) {
  return [values = std::move(values), example = std::move(example)](const std::string& name,
                                                                    const Setting& setting) {
    std::vector<std::string> words;
    for (const auto& [word, value] : values) words.push_back(word);
    return std::any(values[word_of(name, setting, words, example)].second);
  };
}

}  // namespace kiln::cli
