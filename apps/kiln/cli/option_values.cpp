// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

// Reads the value of an option by `parse`.
template <class Parse>
auto parsed(const std::string& name, const Setting& setting, const std::string& example,
            Parse parse) {
  return with_fix(fmt::format("--{} {}", name, example),
                  [&] { return parse(clean(setting.text), label_of(name, setting)); });
}

std::int64_t count_of(const std::string& name, const Setting& setting, const CountRange& range) {
  const std::int64_t value = parsed(name, setting, range.example, parse_count);
  if (value >= range.least && value <= range.most) return value;
  refuse_value(name, setting, fmt::format("is outside {} .. {}", range.least, range.most),
               range.fix.empty()
                   ? fmt::format("give a positive number, for example --{} {}", name, range.example)
                   : range.fix);
}

std::uint64_t seed_of(const std::string& name, const Setting& setting) {
  constexpr const char* complaint = "is outside 0 .. 18446744073709551615";
  const std::string fix = fmt::format("give a non-negative number, for example --{} 1", name);
  const std::string& text = setting.text;
  const char* const end = text.data() + text.size();
  std::uint64_t seed = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && rest == end) return seed;
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits) refuse_value(name, setting, complaint, fix);
  const std::int64_t value = parsed(name, setting, "1", parse_count);
  if (value < 0) refuse_value(name, setting, complaint, fix);
  return static_cast<std::uint64_t>(value);
}

// Takes the name of a unit from the end of a text.
std::optional<WorkKind> cut_unit(std::string& text) {
  for (const WorkKind kind : {WorkKind::attempts, WorkKind::gradients, WorkKind::evaluations}) {
    const std::string several = to_string(kind), one = several.substr(0, several.size() - 1);
    for (const std::string& unit : {several, one}) {
      if (!text.ends_with(unit)) continue;
      text.resize(text.size() - unit.size());
      while (text.ends_with(' ')) text.pop_back();
      return kind;
    }
  }
  return {};
}

}  // namespace

double positive_duration(const std::string& name, const Setting& setting,
                         const std::string& example) {
  const double seconds = parsed(name, setting, example, parse_duration);
  if (seconds > 0) return seconds;
  refuse_value(name, setting, "is not greater than 0",
               fmt::format("give a positive duration, for example --{} {}", name, example));
}

ReadOption whole_number(CountRange range) {
  return [range = std::move(range)](const std::string& name, const Setting& setting) {
    return std::any(count_of(name, setting, range));
  };
}

ReadOption whole_number_or_auto(CountRange range) {
  return [range = std::move(range)](const std::string& name, const Setting& setting) {
    return setting.text == "auto" ? std::any() : std::any(count_of(name, setting, range));
  };
}

ReadOption seed_number() {
  return [](const std::string& name, const Setting& setting) {
    return std::any(seed_of(name, setting));
  };
}

ReadOption amount_of_work() {
  return [](const std::string& name, const Setting& setting) {
    WorkAmount work;
    std::string number = clean(setting.text);
    work.unit = cut_unit(number);
    work.amount = with_fix(fmt::format("--{} 1e9", name),
                           [&] { return parse_count(number, label_of(name, setting)); });
    if (work.amount >= 1) return std::any(work);
    refuse_value(name, setting, "is not greater than 0",
                 fmt::format("give a positive number, for example --{} 1e9", name));
  };
}

ReadOption conditions_on_draws() {
  return [](const std::string& name, const Setting& setting) {
    try {
      return std::any(DrawConditions::parse(clean(setting.text)));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(
          setting.origin == Origin::config ? "config.range" : "cli.range",
          fmt::format("{}={}, {}", label_of(name, setting), clean(setting.text), error.message()),
          error.expected(), fmt::format("--{} 'ess>=400,rhat<=1.01', in quotes", name));
    }
  };
}

ReadOption condition_on_gain() {
  return [](const std::string& name, const Setting& setting) {
    const std::string text = clean(setting.text);
    try {
      return std::any(GainCondition::parse(text));
    } catch (const InvalidArgument& error) {
      const std::string fix =
          error.code() == "budget.stop_when_time"
              ? "--time-limit 30s"
              : fmt::format("--{} 'gain<0.1% in 1e9 attempts', in quotes", name);
      throw InvalidArgument(
          setting.origin == Origin::config ? "config.range" : "cli.range",
          fmt::format("{}={}, {}", label_of(name, setting), text, error.message()),
          error.expected(), fix);
    }
  };
}

ReadOption duration(std::string example) {
  return [example = std::move(example)](const std::string& name, const Setting& setting) {
    return std::any(positive_duration(name, setting, example));
  };
}

ReadOption duration_or_off(std::string example) {
  return [example = std::move(example)](const std::string& name, const Setting& setting) {
    return std::any(setting.text == "off" ? 0.0 : positive_duration(name, setting, example));
  };
}

ReadOption target_number() {
  return [](const std::string& name, const Setting& setting) {
    if (setting.text == "best-known") return std::any();
    return std::any(with_fix("give --target a number, or best-known", [&] {
      return detail::parse_real(clean(setting.text), label_of(name, setting));
    }));
  };
}

ReadOption on_or_off() {
  return [](const std::string& name, const Setting& setting) {
    if (setting.text == "on" || setting.text == "true") return std::any(true);
    if (setting.text == "off" || setting.text == "false") return std::any(false);
    refuse_value(name, setting, "is neither on nor off", fmt::format("--{} on", name));
  };
}

std::size_t word_of(const std::string& name, const Setting& setting,
                    const std::vector<std::string>& words, const std::string& example) {
  const auto found = std::ranges::find(words, setting.text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    list += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
  }
  refuse_value(name, setting, "is not one of " + list, fmt::format("--{} {}", name, example));
}

}  // namespace kiln::cli
