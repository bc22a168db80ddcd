// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  std::string sentence;      ///< what it does and why the default is what it is
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
KILN_API void check_range(double value, double low, double high, const FieldInfo& info);
/// "0 .. 1"; ">= 0" where `high` is 2^31 - 1 or more, so that few ask for it.
KILN_API std::string show_range(double low, double high);
}  // namespace detail

/// Integers with the suffixes people write: 1000, 1e6, 10k, 1M, 64Ki. @throws InvalidArgument
KILN_API std::int64_t parse_count(std::string_view text, const std::string& option);
/// Seconds: 30, 1.5, 500ms, 30s, 5m, 2h. @throws InvalidArgument
KILN_API double parse_duration(std::string_view text, const std::string& option);

/// A word for a shell, in quotes where it has anything that a shell could take for more. Control
/// characters are left out.
KILN_API std::string shell_word(std::string_view text);

/// The options of a schedule described once: fields of an aggregate with range, default and text.
/// A number without a text for its range is described by its ends.
template <class Options>
class OptionTable {
 public:
  OptionTable& integer(std::string name, std::int64_t Options::*member, std::int64_t low,
                       std::int64_t high, std::string unit, std::string range,
                       std::string default_text, std::string sentence) {
    FieldInfo info{std::move(name),         "integer",        std::move(unit),
                   std::move(default_text), std::move(range), std::move(sentence)};
    return add({info,
                [=](Options& o, std::string_view text) {
                  o.*member = detail::parse_integer(text, info.name);
                },
                [=](const Options& o) { return detail::show_integer(o.*member); },
                [=](const Options& o) {
                  detail::check_range(static_cast<double>(o.*member), static_cast<double>(low),
                                      static_cast<double>(high), info);
                }});
  }
  OptionTable& real(std::string name, double Options::*member, double low, double high,
                    std::string unit, std::string range, std::string default_text,
                    std::string sentence) {
    FieldInfo info{std::move(name),         "real",           std::move(unit),
                   std::move(default_text), std::move(range), std::move(sentence)};
    return add({info,
                [=](Options& o, std::string_view text) {
                  o.*member = detail::parse_real(text, info.name);
                },
                [=](const Options& o) { return detail::show_real(o.*member); },
                [=](const Options& o) { detail::check_range(o.*member, low, high, info); }});
  }
  OptionTable& reals(std::string name, std::vector<double> Options::*member, double low,
                     double high, std::string unit, std::string range, std::string default_text,
                     std::string sentence) {
    FieldInfo info{std::move(name),         "list of reals",  std::move(unit),
                   std::move(default_text), std::move(range), std::move(sentence)};
    return add({info,
                [=](Options& o, std::string_view text) {
                  o.*member = detail::parse_reals(text, info.name);
                },
                [=](const Options& o) { return detail::show_reals(o.*member); },
                [=](const Options& o) {
                  for (const double value : o.*member) detail::check_range(value, low, high, info);
                }});
  }
  OptionTable& integer(std::string name, std::int64_t Options::*member, std::int64_t low,
                       std::int64_t high, std::string unit, std::string default_text,
                       std::string sentence) {
    std::string range = detail::show_range(static_cast<double>(low), static_cast<double>(high));
    return integer(std::move(name), member, low, high, std::move(unit), std::move(range),
                   std::move(default_text), std::move(sentence));
  }
  OptionTable& real(std::string name, double Options::*member, double low, double high,
                    std::string unit, std::string default_text, std::string sentence) {
    return real(std::move(name), member, low, high, std::move(unit), detail::show_range(low, high),
                std::move(default_text), std::move(sentence));
  }
  OptionTable& reals(std::string name, std::vector<double> Options::*member, double low,
                     double high, std::string unit, std::string default_text,
                     std::string sentence) {
    return reals(std::move(name), member, low, high, std::move(unit),
                 "a comma-separated list, each " + detail::show_range(low, high),
                 std::move(default_text), std::move(sentence));
  }
  OptionTable& choice(std::string name, std::string Options::*member,
                      std::vector<std::string> choices, std::string default_text,
                      std::string sentence) {
    std::string range;
    for (const std::string& c : choices) range += (range.empty() ? "" : " | ") + c;
    FieldInfo info{std::move(name),         "choice",         "",
                   std::move(default_text), std::move(range), std::move(sentence)};
    return add({info, [=](Options& o, std::string_view text) { o.*member = std::string(text); },
                [=](const Options& o) { return o.*member; },
                [=](const Options& o) { detail::check_choice(o.*member, choices, info.name); }});
  }

  OptionTable& choices(std::string name, std::vector<std::string> Options::*member,
                       std::vector<std::string> choices, std::string default_text,
                       std::string sentence) {
    std::string range;
    for (const std::string& c : choices) range += (range.empty() ? "" : " | ") + c;
    FieldInfo info{std::move(name),
                   "list of choices",
                   "",
                   std::move(default_text),
                   "a comma-separated list of " + range,
                   std::move(sentence)};
    return add({info,
                [=](Options& o, std::string_view text) { o.*member = detail::parse_words(text); },
                [=](const Options& o) { return detail::show_words(o.*member); },
                [=](const Options& o) {
                  for (const std::string& word : o.*member) {
                    detail::check_choice(word, choices, info.name);
                  }
                }});
  }

  std::vector<FieldInfo> fields() const {
    std::vector<FieldInfo> infos;
    for (const Entry& entry : entries_) infos.push_back(entry.info);
    return infos;
  }

  /// Sets options from texts. Every complaint is collected: unknown names (with the nearest), texts
  /// that are no values, values out of range. @throws InvalidArgument with all of them.
  Options parse(const std::map<std::string, std::string>& texts, const std::string& owner) const {
    Options options;
    std::string complaints;
    for (const auto& [name, text] : texts) {
      const Entry* entry = find(name);
      if (entry == nullptr) {
        complain(complaints, unknown(name, owner));
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
      if (entry.info.name == name) return &entry;
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
           (near.empty() ? "; there are: " + all : "; the nearest is '" + near + "'");
  }
  static void complain(std::string& all, const std::string& one) {
    all += (all.empty() ? "" : "\n  ") + one;
  }
  std::vector<Entry> entries_;
};

}  // namespace kiln
