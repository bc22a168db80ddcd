// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/errors.hpp"
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
  std::string sentence;      ///< what it does, in one line of a terminal: 76 characters at most
  std::string details = {};  ///< more on it: the rule of an automatic value, when to change it
  /// Names of it in the version before, which parse() still takes.
  std::vector<std::string> former_names = {};
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
/// value outside stands before: "0, or 4 .. 100". For a list: "a comma-separated list, each >= 0".
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

/// The options of a schedule described once: fields of an aggregate with range, unit and text. What
/// people read of a range is made of its ends, and the default is what the aggregate begins with.
template <class Options>
class OptionTable {
 public:
  OptionTable& integer(std::string name, std::int64_t Options::*member, const OptionRange& range,
                       std::string unit, std::string sentence, std::string details = {}) {
    FieldInfo info{std::move(name),
                   "integer",
                   std::move(unit),
                   detail::show_default(static_cast<double>(defaults_.*member), range,
                                        detail::show_integer(defaults_.*member)),
                   detail::show_range(range),
                   std::move(sentence),
                   std::move(details)};
    return add({info,
                [=](Options& o, std::string_view text) {
                  o.*member = detail::parse_integer(text, info.name);
                },
                [=](const Options& o) { return detail::show_integer(o.*member); },
                [=](const Options& o) {
                  detail::check_range(static_cast<double>(o.*member), range, info.name);
                }});
  }
  OptionTable& real(std::string name, double Options::*member, const OptionRange& range,
                    std::string unit, std::string sentence, std::string details = {}) {
    FieldInfo info{
        std::move(name),
        "real",
        std::move(unit),
        detail::show_default(defaults_.*member, range, detail::show_real(defaults_.*member)),
        detail::show_range(range),
        std::move(sentence),
        std::move(details)};
    return add({info,
                [=](Options& o, std::string_view text) {
                  o.*member = detail::parse_real(text, info.name);
                },
                [=](const Options& o) { return detail::show_real(o.*member); },
                [=](const Options& o) { detail::check_range(o.*member, range, info.name); }});
  }
  /// @param range  of each value
  /// @param empty  what a list without values is called: "none", "automatic"
  OptionTable& reals(std::string name, std::vector<double> Options::*member,
                     const OptionRange& range, std::string unit, std::string empty,
                     std::string sentence, std::string details = {}) {
    const std::vector<double>& values = defaults_.*member;
    FieldInfo info{std::move(name),
                   "list of reals",
                   std::move(unit),
                   values.empty() ? std::move(empty) : detail::show_reals(values),
                   detail::show_list_range(range),
                   std::move(sentence),
                   std::move(details)};
    return add({info,
                [=](Options& o, std::string_view text) {
                  o.*member = detail::parse_reals(text, info.name);
                },
                [=](const Options& o) { return detail::show_reals(o.*member); },
                [=](const Options& o) {
                  for (const double value : o.*member) {
                    detail::check_range(value, range, info.name);
                  }
                }});
  }
  OptionTable& choice(std::string name, std::string Options::*member,
                      std::vector<std::string> choices, std::string sentence,
                      std::string details = {}) {
    FieldInfo info{std::move(name),
                   "choice",
                   "",
                   defaults_.*member,
                   detail::show_choices(choices),
                   std::move(sentence),
                   std::move(details)};
    return add({info, [=](Options& o, std::string_view text) { o.*member = std::string(text); },
                [=](const Options& o) { return o.*member; },
                [=](const Options& o) { detail::check_choice(o.*member, choices, info.name); }});
  }
  OptionTable& choices(std::string name, std::vector<std::string> Options::*member,
                       std::vector<std::string> choices, std::string sentence,
                       std::string details = {}) {
    FieldInfo info{std::move(name),
                   "list of choices",
                   "",
                   detail::show_words(defaults_.*member),
                   "a comma-separated list of " + detail::show_choices(choices),
                   std::move(sentence),
                   std::move(details)};
    return add({info,
                [=](Options& o, std::string_view text) { o.*member = detail::parse_words(text); },
                [=](const Options& o) { return detail::show_words(o.*member); },
                [=](const Options& o) {
                  for (const std::string& word : o.*member) {
                    detail::check_choice(word, choices, info.name);
                  }
                }});
  }

  /// The option before had this name in the version before.
  OptionTable& formerly(std::string name) {
    entries_.back().info.former_names.push_back(std::move(name));
    return *this;
  }

  std::vector<FieldInfo> fields() const {
    std::vector<FieldInfo> infos;
    for (const Entry& entry : entries_) infos.push_back(entry.info);
    return infos;
  }

  /// Sets options from texts. Every complaint is collected: unknown names (with the nearest), texts
  /// that are no values, values out of range. @throws InvalidArgument with all of them.
  Options parse(const std::map<std::string, std::string>& texts, const std::string& owner) const {
    Options options = defaults_;
    std::string complaints;
    for (const auto& [name, text] : texts) {
      const Entry* entry = find(name);
      if (entry == nullptr) {
        complain(complaints, unknown(name, owner));
        continue;
      }
      if (name != entry->info.name && texts.contains(entry->info.name)) {
        complain(complaints, "'" + name + "' is the former name of '" + entry->info.name +
                                 "', and both are given");
        continue;
      }
      try {
        entry->set(options, text);
      } catch (const InvalidArgument& error) {
        complain(complaints, error.message());
      }
    }
    for (const std::string& complaint : validate(options)) complain(complaints, complaint);
    if (!complaints.empty()) throw InvalidArgument("config.option", complaints);
    return options;
  }

  /// Everything that is wrong with the values, one sentence each.
  std::vector<std::string> validate(const Options& options) const {
    std::vector<std::string> complaints;
    for (const Entry& entry : entries_) {
      try {
        entry.check(options);
      } catch (const InvalidArgument& error) {
        complaints.push_back(error.message());
      }
    }
    return complaints;
  }

  /// The options, if every value lies in its range: what a class begins with that takes them from
  /// C++. @throws InvalidArgument with every complaint.
  const Options& checked(const Options& options) const {
    std::string complaints;
    for (const std::string& complaint : validate(options)) complain(complaints, complaint);
    if (!complaints.empty()) throw InvalidArgument("config.option", complaints);
    return options;
  }

  std::map<std::string, std::string> show(const Options& options) const {
    std::map<std::string, std::string> texts;
    for (const Entry& entry : entries_) texts[entry.info.name] = entry.show(options);
    return texts;
  }

 private:
  struct Entry {
    FieldInfo info;
    std::function<void(Options&, std::string_view)> set;
    std::function<std::string(const Options&)> show;
    std::function<void(const Options&)> check;
  };
  OptionTable& add(Entry entry) {
    entries_.push_back(std::move(entry));
    return *this;
  }
  const Entry* find(const std::string& name) const {
    for (const Entry& entry : entries_) {
      if (entry.info.name == name || std::ranges::count(entry.info.former_names, name) > 0) {
        return &entry;
      }
    }
    return nullptr;
  }
  std::string unknown(const std::string& name, const std::string& owner) const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.info.name);
    const std::string near = nearest_name(name, names);
    std::string all;
    for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
    return "'" + name + "' is not a parameter of " + owner +
           (near.empty() ? "; available: " + all : "; the nearest is '" + near + "'");
  }
  static void complain(std::string& all, const std::string& one) {
    all += (all.empty() ? "" : "\n  ") + one;
  }
  Options defaults_{};
  std::vector<Entry> entries_;
};

}  // namespace kiln
