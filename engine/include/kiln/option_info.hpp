// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// The description of one option: everything that the command line, the documentation, the JSON of
/// a result and validation say about it comes from here.
struct FieldInfo {
  std::string name;
  std::string type;          ///< "integer", "real", "choice", "list of reals", "list of choices"
  std::string unit;          ///< "1/energy", "sweeps", "" for none
  std::string default_text;  ///< as a user would write it, or "automatic"
  std::string range;         ///< "> 0", "0 .. 1", "linear | geometric"
  std::string sentence;      ///< what it does, in one line of a terminal: 75 characters at most
  std::string details = {};  ///< more on it: the rule of an automatic value, when to change it
  /// Names of it in the version before, which parse() still takes.
  std::vector<std::string> former_names = {};
  /// For an option of one alternative of a choice: "cooling" and "pid". The option `pid.gain`
  /// exists where cooling=pid. Empty for an option that always exists.
  std::string choice = {};
  std::string alternative = {};
};

/// The texts of options by their names.
using OptionTexts = std::map<std::string, std::string>;

/// Whether the option exists where the choices are those of `texts`: always, or with one
/// alternative.
KILN_API bool exists_in(const OptionTexts& texts, const FieldInfo& field);

/// What parse() does with a former name of an option whose alternative is not chosen.
enum class Elsewhere : std::uint8_t {
  ignored,  ///< checks the value and ignores it, as a version did that had the option always
  refused,  ///< refuses it, unless the text is empty
};

namespace detail {
KILN_API std::int64_t parse_integer(std::string_view text, const std::string& option);
KILN_API double parse_real(std::string_view text, const std::string& option);
KILN_API std::vector<double> parse_reals(std::string_view text, const std::string& option);
KILN_API std::string show_integer(std::int64_t value);
KILN_API std::string show_real(double value);
KILN_API std::string show_reals(const std::vector<double>& values);
KILN_API std::vector<std::string> parse_words(std::string_view text);
KILN_API std::string show_words(const std::vector<std::string>& words);
KILN_API void check_choice(std::string_view text, const std::vector<std::string>& choices,
                           const std::string& option);
KILN_API std::string show_choices(const std::vector<std::string>& choices);
KILN_API std::string not_a_parameter(const std::string& name, const std::string& owner,
                                     const std::vector<std::string>& names);
/// "'pid.gain' is a parameter of cooling=pid, and cooling is linear; ..."
KILN_API std::string of_other_alternative(const std::string& name, const FieldInfo& field,
                                          const std::string& chosen);
KILN_API std::string given_twice(const std::string& former_name, const std::string& name);
}  // namespace detail

/// The value of an option that means "choose for me". People read "automatic" in its place.
struct Automatic {
  double value;
};

/// The values that an option takes: those from `low` to `high`, and the automatic one.
struct OptionRange {
  double low;
  double high;
  std::optional<Automatic> automatic = {};
};

namespace detail {
/// "0 .. 1", ">= 0" where `high` is 2^31 - 1 or more, "a number" where all are taken; an automatic
/// value outside stands before: "0, or 4 .. 100". For a list: "a comma-separated list, each value
/// >= 0".
KILN_API std::string show_range(const OptionRange& range);
KILN_API std::string show_list_range(const OptionRange& range);
/// @throws InvalidArgument `option.range` for a value that `range` does not take
KILN_API void check_range(double value, const OptionRange& range, const std::string& option);
/// `text`, which shows `value`, or "automatic" where it is that value of `range`.
KILN_API std::string show_default(double value, const OptionRange& range, std::string text);
}  // namespace detail

/// Integers with the suffixes people write: 1000, 1e6, 10k, 1M, 64Ki. @throws InvalidArgument
KILN_API std::int64_t parse_count(std::string_view text, const std::string& option);
/// Seconds: 30, 1.5, 500ms, 30s, 5m, 2h. @throws InvalidArgument
KILN_API double parse_duration(std::string_view text, const std::string& option);

/// A word for a shell, in quotes where it has anything that a shell could take for more. Control
/// characters are left out.
KILN_API std::string shell_word(std::string_view text);

}  // namespace kiln
