// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/limits/gain_condition.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"
#include "kiln/options.hpp"

namespace kiln {
namespace {

using Unit = GainCondition::Unit;
constexpr Unit units[] = {Unit::sweeps, Unit::attempts, Unit::evaluations};
constexpr std::string_view times[] = {"ms",  "s",      "sec",     "second", "seconds", "m",
                                      "min", "minute", "minutes", "h",      "hour",    "hours"};
constexpr double max_percent = 100;
constexpr const char* example = "as in gain<0.1% in 1e9 attempts";

[[noreturn]] void refuse(std::size_t position, const std::string& what,
                         const std::string& expected) {
  throw InvalidArgument("budget.stop_when",
                        "position " + std::to_string(position + 1) + ": " + what, expected);
}

/// Reads a text from left to right, word by word.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  GainCondition read() {
    GainCondition condition;
    take("gain", "the condition begins with");
    take("<", "'gain' is followed by");
    const std::size_t of_bound = skip_blanks();
    condition.bound = number();
    condition.percent = skip("%");
    if (!(condition.bound > 0)) refuse(of_bound, "no gain is below 0", "a bound greater than 0");
    if (condition.percent && condition.bound >= max_percent) {
      refuse(of_bound, "each run gains less than that", "a bound below 100 %");
    }
    take("in", "the bound is followed by");
    const std::size_t of_amount = skip_blanks();
    condition.amount = count();
    if (condition.amount < 1) refuse(of_amount, "that is no work", "a number of at least 1");
    condition.unit = unit(of_amount);
    if (skip_blanks() != text_.size()) refuse(at_, rest() + " follows the condition", example);
    return condition;
  }

 private:
  std::size_t skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_;
  }

  std::string_view word(std::string_view ends) const {
    return text_.substr(at_, std::min(text_.find_first_of(ends, at_), text_.size()) - at_);
  }

  // What stands there, for a message.
  std::string rest() const {
    if (at_ >= text_.size()) return "the end";
    const std::string_view found = word(" <>=%");
    return "'" + std::string(found.empty() ? text_.substr(at_, 1) : found) + "'";
  }

  bool skip(std::string_view expected) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  void take(std::string_view expected, const std::string& before) {
    if (skip(expected)) return;
    refuse(at_, before + " " + rest(), "'" + std::string(expected) + "', " + example);
  }

  double number() {
    const std::string_view text = word(" <>=%");
    try {
      const double value = detail::parse_real(text, "gain");
      at_ += text.size();
      return value;
    } catch (const InvalidArgument&) {
      refuse(at_, rest() + " is no finite number", "a bound such as 0.1% or 2");
    }
  }

  // Digits may touch their unit: 1e9attempts. An exponent and suffixes such as k are of the number.
  std::int64_t count() {
    const std::string_view all = word(" ");
    std::size_t size = all.size();
    for (const Unit one : units) {
      const std::string_view name = to_string(one);
      if (all.ends_with(name)) size = all.size() - name.size();
    }
    try {
      const std::int64_t value = parse_count(all.substr(0, size), "work");
      at_ += size;
      return value;
    } catch (const InvalidArgument&) {
      refuse_time(at_, text_.substr(at_));
      refuse(
          at_,
          (all.empty() ? rest() : "'" + std::string(all) + "'") + " is no number of units of work",
          "a number such as 1000, 10k or 1e9");
    }
  }

  Unit unit(std::size_t of_amount) {
    skip_blanks();
    const std::string_view name = word(" ");
    for (const Unit one : units) {
      if (name != to_string(one)) continue;
      at_ += name.size();
      return one;
    }
    refuse_time(of_amount, text_.substr(of_amount));
    refuse(at_, rest() + " is no unit of work", "sweeps, attempts or evaluations");
  }

  // Of a number and a unit of time, which may stand apart.
  static void refuse_time(std::size_t position, std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789.e+- "), text.size());
    const std::string_view name = text.substr(digits);
    if (digits == 0 || std::ranges::find(times, name) == std::end(times)) return;
    throw InvalidArgument("budget.stop_when_time",
                          "position " + std::to_string(position + 1) +
                              ": after a time each repeat would end at another place",
                          "sweeps, attempts or evaluations", "limit the time of the run instead");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const char* to_string(Unit unit) noexcept {
  switch (unit) {
    case Unit::sweeps:
      return "sweeps";
    case Unit::attempts:
      return "attempts";
    case Unit::evaluations:
      return "evaluations";
  }
  return "?";
}

GainCondition GainCondition::parse(std::string_view text) { return Reader(text).read(); }

std::string GainCondition::text() const {
  return "gain<" + detail::show_real(bound) + (percent ? "%" : "") + " in " +
         std::to_string(amount) + " " + to_string(unit);
}

bool GainCondition::holds(double before, double now) const noexcept {
  const double gain = std::abs(exact::sub(before, now));
  const double least = percent ? exact::mul(bound, exact::div(std::abs(now), 100.0)) : bound;
  // Values such as 0.1 are rounded: a gain that equals the bound but for rounding is not less.
  const double rounding = exact::mul(0x1p-50, std::max(std::abs(before), std::abs(now)));
  return gain == 0 || gain < exact::sub(least, rounding);
}

void check_gain(const GainCondition& condition) {
  const bool known = std::ranges::find(units, condition.unit) != std::end(units);
  const bool bounded =
      condition.percent ? condition.bound < max_percent : std::isfinite(condition.bound);
  if (bounded && condition.bound > 0 && condition.amount > 0 && known) return;
  throw InvalidArgument(
      "budget.stop_when", "the condition on the gain of a run has no meaning",
      "a bound greater than 0, in percent below 100, and an amount of work of at least 1");
}

}  // namespace kiln
