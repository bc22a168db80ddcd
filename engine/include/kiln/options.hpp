// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"

namespace kiln {

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
                [=](Options& o, std::string_view text, const std::string& option) {
                  o.*member = detail::parse_integer(text, option);
                },
                [=](const Options& o) { return detail::show_integer(o.*member); },
                [=](const Options& o, const std::string& option) {
                  detail::check_range(static_cast<double>(o.*member), range, option);
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
                [=](Options& o, std::string_view text, const std::string& option) {
                  o.*member = detail::parse_real(text, option);
                },
                [=](const Options& o) { return detail::show_real(o.*member); },
                [=](const Options& o, const std::string& option) {
                  detail::check_range(o.*member, range, option);
                }});
  }
  /// @param name  of the option
  /// @param member  where the value is kept
  /// @param range  of each value
  /// @param unit  of each value; may be empty
  /// @param empty  the name of an empty list: "none", "automatic"
  /// @param sentence  what the option does
  /// @param details  further sentences
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
                [=](Options& o, std::string_view text, const std::string& option) {
                  o.*member = detail::parse_reals(text, option);
                },
                [=](const Options& o) { return detail::show_reals(o.*member); },
                [=](const Options& o, const std::string& option) {
                  for (const double value : o.*member) {
                    detail::check_range(value, range, option);
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
    return add({info,
                [=](Options& o, std::string_view text, const std::string&) {
                  o.*member = std::string(text);
                },
                [=](const Options& o) { return o.*member; },
                [=](const Options& o, const std::string& option) {
                  detail::check_choice(o.*member, choices, option);
                }});
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
                [=](Options& o, std::string_view text, const std::string&) {
                  o.*member = detail::parse_words(text);
                },
                [=](const Options& o) { return detail::show_words(o.*member); },
                [=](const Options& o, const std::string& option) {
                  for (const std::string& word : o.*member) {
                    detail::check_choice(word, choices, option);
                  }
                }});
  }

  /// A choice among policies, each with options of its type alone. `member` is a std::variant of
  /// structs, or a class derived from one; each struct has a name and a table:
  ///
  ///     struct PidCooling {
  ///       double gain = 0.1;
  ///       static constexpr std::string_view option_name = "pid";
  ///       static const OptionTable<PidCooling>& table();
  ///     };
  ///     table.alternatives("cooling", &Options::cooling, "How beta rises.");
  ///
  /// This declares the choice `cooling` and, for each entry of each table, an option such as
  /// `pid.gain`. Texts set the choice first, whatever their order. parse() refuses an option of an
  /// alternative that is not chosen; show() and validate() pass over it. A policy begins with the
  /// defaults of its struct. Former names in the table of a policy are whole names: `pid_gain`.
  template <class Variant>
  OptionTable& alternatives(std::string name, Variant Options::*member, std::string sentence,
                            std::string details = {}) {
    return add_alternatives(
        FieldInfo{std::move(name), "choice", "", "", "", std::move(sentence), std::move(details)},
        member, defaults_.*member);
  }

  /// The option before had this name in the version before. Options of several alternatives may
  /// share a former name: it then stands for that of the alternative chosen.
  OptionTable& formerly(std::string name, Elsewhere elsewhere = Elsewhere::ignored) {
    Entry& entry = entries_.at(last_);
    if (elsewhere == Elsewhere::refused) entry.refused_elsewhere.push_back(name);
    entry.info.former_names.push_back(std::move(name));
    return *this;
  }

  std::vector<FieldInfo> fields() const {
    std::vector<FieldInfo> infos;
    for (const Entry& entry : entries_) infos.push_back(entry.info);
    return infos;
  }

  /// Sets options from texts. Every complaint is collected: unknown names (with the nearest), texts
  /// that are no values, values out of range, options of alternatives that are not chosen.
  /// @throws InvalidArgument with all of them.
  Options parse(const OptionTexts& texts, const std::string& owner) const {
    Options options = defaults_;
    std::string complaints;
    Names unread = read_choices(texts, options, complaints);
    for (const auto& [name, text] : texts) {
      const Entry* entry = find(name, options);
      if (entry == nullptr) {
        complain(complaints, detail::not_a_parameter(name, owner, names()));
      } else if (!entry->decides) {
        complain(complaints, read(*entry, name, texts, unread, options));
      }
    }
    for (const std::string& complaint : validate(options)) complain(complaints, complaint);
    if (!complaints.empty()) throw InvalidArgument("config.option", complaints);
    return options;
  }

  /// The former names among those of `texts`, each with the present name: {"gain",
  /// "adaptive.gain"}. A name that several alternatives had stands for the one chosen; where none
  /// of them is chosen, each makes a pair.
  std::vector<std::pair<std::string, std::string>> former_names_in(const OptionTexts& texts) const {
    Options options = defaults_;
    std::string complaints;
    read_choices(texts, options, complaints);
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& [name, text] : texts) {
      const Entry* found = find(name, options);
      if (found == nullptr || found->info.name == name) continue;
      for (const Entry& entry : entries_) {
        const bool meant = &entry == found || (!exists(*found, options) && had_name(entry, name));
        if (meant) pairs.emplace_back(name, entry.info.name);
      }
    }
    return pairs;
  }

  /// Everything that is wrong with the values, one sentence each.
  std::vector<std::string> validate(const Options& options) const {
    std::vector<std::string> complaints;
    for (const Entry& entry : entries_) {
      if (!exists(entry, options)) continue;
      try {
        entry.check(options, entry.info.name);
      } catch (const InvalidArgument& error) {
        complaints.push_back(error.message());
      }
    }
    return complaints;
  }

  /// Returns the options if every value lies in its range; constructors that take options from C++
  /// call it first. @throws InvalidArgument with every complaint.
  const Options& checked(const Options& options) const {
    std::string complaints;
    for (const std::string& complaint : validate(options)) complain(complaints, complaint);
    if (!complaints.empty()) throw InvalidArgument("config.option", complaints);
    return options;
  }

  /// The values as parse() reads them.
  OptionTexts show(const Options& options) const {
    OptionTexts texts;
    for (const Entry& entry : entries_) {
      if (exists(entry, options)) texts[entry.info.name] = entry.show(options);
    }
    return texts;
  }

 private:
  template <class>
  friend class OptionTable;  // reads the entries of its alternatives
  using Names = std::vector<std::string>;

  // The functions take the name of the option, which complaints begin with.
  struct Entry {
    FieldInfo info;
    std::function<void(Options&, std::string_view, const std::string&)> set;
    std::function<std::string(const Options&)> show;
    std::function<void(const Options&, const std::string&)> check;
    std::function<bool(const Options&)> held =
        {};                        // for an option of an alternative: is it chosen?
    bool decides = false;          // whether other options depend on it
    Names refused_elsewhere = {};  // former names, see Elsewhere
  };

  OptionTable& add(Entry entry) {
    for (const Entry& other : entries_) {
      if (other.info.name != entry.info.name) continue;
      throw std::logic_error("option '" + entry.info.name + "' is declared twice");
    }
    last_ = entries_.size();
    entries_.push_back(std::move(entry));
    return *this;
  }

  template <class Variant, class... Policies>
  OptionTable& add_alternatives(FieldInfo info, Variant Options::*member,
                                const std::variant<Policies...>& held_by_default) {
    const Names choices{std::string(Policies::option_name)...};
    const auto name_of = [](const std::variant<Policies...>& held) {
      return std::visit([](const auto& policy) { return std::string(policy.option_name); }, held);
    };
    info.default_text = name_of(held_by_default);
    info.range = detail::show_choices(choices);
    Entry entry{
        info,
        [=](Options& o, std::string_view text, const std::string& option) {
          detail::check_choice(text, choices, option);
          // The choice that is held keeps its values, which are the defaults.
          (void)((text == Policies::option_name && !std::holds_alternative<Policies>(o.*member)
                      ? (o.*member = Policies{}, true)
                      : false) ||
                 ...);
        },
        [=](const Options& o) { return name_of(o.*member); },
        [](const Options&, const std::string&) {}};
    entry.decides = true;
    add(std::move(entry));
    const std::size_t choice = last_;
    (add_alternative<Policies>(info.name, member), ...);
    last_ = choice;
    return *this;
  }

  template <class Policy, class Variant>
  void add_alternative(const std::string& choice, Variant Options::*member) {
    for (const auto& inner : Policy::table().entries_) {
      if (inner.held || inner.decides) throw std::logic_error("a policy cannot have alternatives");
      Entry entry{inner.info,
                  [=](Options& o, std::string_view text, const std::string& option) {
                    Policy other;  // judges the text of an alternative that is not chosen
                    Policy* const held = std::get_if<Policy>(&(o.*member));
                    inner.set(held != nullptr ? *held : other, text, option);
                    if (held == nullptr) inner.check(other, option);
                  },
                  [=](const Options& o) { return inner.show(std::get<Policy>(o.*member)); },
                  [=](const Options& o, const std::string& option) {
                    inner.check(std::get<Policy>(o.*member), option);
                  },
                  [=](const Options& o) { return std::holds_alternative<Policy>(o.*member); },
                  false,
                  inner.refused_elsewhere};
      entry.info.choice = choice;
      entry.info.alternative = Policy::option_name;
      entry.info.name = entry.info.alternative + "." + inner.info.name;
      add(std::move(entry));
    }
  }

  static bool exists(const Entry& entry, const Options& options) {
    return !entry.held || entry.held(options);
  }
  static bool had_name(const Entry& entry, const std::string& name) {
    return std::ranges::count(entry.info.former_names, name) > 0;
  }

  // By its name, else by a former name; of several with that former name the one that exists.
  const Entry* find(const std::string& name, const Options& options) const {
    const Entry* found = nullptr;
    for (const Entry& entry : entries_) {
      if (entry.info.name == name) return &entry;
      if (!had_name(entry, name)) continue;
      if (found == nullptr || (!exists(*found, options) && exists(entry, options))) found = &entry;
    }
    return found;
  }

  // Sets the choices that other options depend on. Returns the names of those that it cannot read.
  Names read_choices(const OptionTexts& texts, Options& options, std::string& complaints) const {
    Names unread;
    for (const auto& [name, text] : texts) {
      const Entry* entry = find(name, options);
      if (entry == nullptr || !entry->decides) continue;
      const std::string complaint = read(*entry, name, texts, {}, options);
      if (!complaint.empty()) unread.push_back(entry->info.name);
      complain(complaints, complaint);
    }
    return unread;
  }

  // Sets an option from the text of `name`, which may be a former one. Returns the complaint, or
  // "".
  std::string read(const Entry& entry, const std::string& name, const OptionTexts& texts,
                   const Names& unread, Options& options) const {
    const std::string& text = texts.at(name);
    const bool former = name != entry.info.name;
    if (former && texts.contains(entry.info.name))
      return detail::given_twice(name, entry.info.name);
    const bool misplaced =
        !exists(entry, options) && std::ranges::count(unread, entry.info.choice) == 0;
    const bool refused =
        !former || (!text.empty() && std::ranges::count(entry.refused_elsewhere, name) > 0);
    if (misplaced && refused) {
      const Entry& choice = *find(entry.info.choice, options);
      return detail::of_other_alternative(name, entry.info, choice.show(options));
    }
    try {
      entry.set(options, text, entry.info.name);
    } catch (const InvalidArgument& error) {
      return error.message();
    }
    return {};
  }

  Names names() const {
    Names all;
    for (const Entry& entry : entries_) all.push_back(entry.info.name);
    return all;
  }
  static void complain(std::string& all, const std::string& one) {
    if (!one.empty()) all += (all.empty() ? "" : "\n  ") + one;
  }

  Options defaults_{};
  std::vector<Entry> entries_;
  std::size_t last_ = 0;  // the entry that formerly() is about
};

}  // namespace kiln
