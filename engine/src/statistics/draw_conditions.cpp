// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/draw_conditions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/statistics/sample.hpp"
#include "kiln/statistics/sample_summary.hpp"

#include "statistics/nested_choice.hpp"

namespace kiln {
namespace {

constexpr DrawStatistic statistics[] = {DrawStatistic::ess, DrawStatistic::ess_bulk,
                                        DrawStatistic::ess_tail, DrawStatistic::rhat,
                                        DrawStatistic::divergences};
constexpr const char* all_statistics = "ess, ess_bulk, ess_tail, rhat or divergences";
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(std::size_t position, const std::string& what,
                         const std::string& expected) {
  throw InvalidArgument("budget.until", "position " + std::to_string(position + 1) + ": " + what,
                        expected);
}

// What bounds a statistic may have; "" if the bound is one.
std::string expected_bound(const DrawCondition& condition) {
  const double bound = condition.bound;
  switch (condition.statistic) {
    case DrawStatistic::rhat:
      return std::isfinite(bound) && bound >= 1 ? "" : "a bound of 1 or more";
    case DrawStatistic::divergences:
      return std::isfinite(bound) && bound >= 0 ? "" : "a bound of 0 or more";
    default:
      return std::isfinite(bound) && bound > 0 ? "" : "a bound greater than 0";
  }
}

/// Reads a text of conditions from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  DrawConditions read() {
    DrawConditions conditions;
    do {
      const std::size_t begin = skip_blanks();
      DrawCondition one{statistic()};
      for (const DrawCondition& earlier : conditions.all) {
        if (earlier.statistic != one.statistic) continue;
        refuse(begin, std::string("a second condition on ") + to_string(one.statistic),
               "one condition for each statistic");
      }
      relation(one);
      const std::size_t at = skip_blanks();
      one.bound = number();
      if (std::string expected = expected_bound(one); !expected.empty()) {
        refuse(at, "no draws can meet this bound of " + std::string(to_string(one.statistic)),
               expected);
      }
      conditions.all.push_back(one);
    } while (comma());
    return conditions;
  }

 private:
  std::size_t skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_;
  }

  // What stands there, for a message.
  std::string rest() const {
    if (at_ >= text_.size()) return "the end";
    const bool sign = text_.find_first_of("<>=", at_) == at_;
    const std::size_t end =
        sign ? text_.find_first_not_of("<>=", at_) : text_.find_first_of(" ,<>=", at_ + 1);
    return "'" + std::string(text_.substr(at_, std::min(end, text_.size()) - at_)) + "'";
  }

  DrawStatistic statistic() {
    const std::size_t end = std::min(text_.find_first_of(" ,<>=", at_), text_.size());
    const std::string_view name = text_.substr(at_, end - at_);
    for (const DrawStatistic one : statistics) {
      if (name != to_string(one)) continue;
      at_ = end;
      return one;
    }
    refuse(at_, rest() + " is no statistic of draws", all_statistics);
  }

  void relation(const DrawCondition& condition) {
    const std::string_view wanted = condition.wants_at_least() ? ">=" : "<=";
    skip_blanks();
    if (text_.substr(at_, 2) != wanted) {
      refuse(
          at_,
          std::string(to_string(condition.statistic)) + " is followed by " + rest() + ", not by " +
              std::string(wanted),
          std::string("for example ") + (condition.wants_at_least() ? "ess>=400" : "rhat<=1.01"));
    }
    at_ += 2;
  }

  double number() {
    double value = 0;
    const std::string_view word =
        text_.substr(at_, std::min(text_.find_first_of(" ,<>=", at_), text_.size()) - at_);
    const char* const end = word.data() + word.size();
    const auto [after, error] = std::from_chars(word.data(), end, value);
    // Not a part of a word such as 0x10 either, nor nan.
    if (error != std::errc() || after != end || std::isnan(value)) {
      refuse(at_, rest() + " is no number", "a number such as 400 or 1.01");
    }
    at_ += word.size();
    return value;
  }

  bool comma() {
    if (skip_blanks() == text_.size()) return false;
    if (text_[at_] != ',') refuse(at_, rest() + " follows a condition", "a comma, or the end");
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The value of a statistic for one quantity; NaN if it is not known.
double value_for(DrawStatistic statistic, const QuantitySummary& q, bool nested) {
  switch (statistic) {
    case DrawStatistic::ess:
      return smaller_known(q.ess_bulk, q.ess_tail);
    case DrawStatistic::ess_bulk:
      return q.ess_bulk;
    case DrawStatistic::ess_tail:
      return q.ess_tail;
    case DrawStatistic::rhat:
      return nested ? q.nested_r_hat : q.r_hat;
    case DrawStatistic::divergences:
      break;
  }
  return no_value;
}

}  // namespace

const char* to_string(DrawStatistic statistic) noexcept {
  switch (statistic) {
    case DrawStatistic::ess:
      return "ess";
    case DrawStatistic::ess_bulk:
      return "ess_bulk";
    case DrawStatistic::ess_tail:
      return "ess_tail";
    case DrawStatistic::rhat:
      return "rhat";
    case DrawStatistic::divergences:
      return "divergences";
  }
  return "?";
}

DrawConditions DrawConditions::parse(std::string_view text) { return Reader(text).read(); }

std::string DrawConditions::text() const {
  std::string shown;
  for (const DrawCondition& one : all) {
    shown += (shown.empty() ? "" : ",") + std::string(to_string(one.statistic)) +
             (one.wants_at_least() ? ">=" : "<=") + detail::show_real(one.bound);
  }
  return shown;
}

void check(const DrawConditions& conditions) {
  if (!conditions.empty()) DrawConditions::parse(conditions.text());
}

bool JudgedConditions::met() const noexcept {
  return std::ranges::all_of(all, &JudgedCondition::met);
}

JudgedConditions judge(const DrawConditions& conditions, const Sample& sample,
                       const SampleSummary& summary) {
  JudgedConditions judged;
  judged.draws = sample.draws;
  judged.chains = sample.chains;
  std::vector<const QuantitySummary*> quantities;
  for (const QuantitySummary& q : summary.quantities) quantities.push_back(&q);
  quantities.push_back(&summary.log_density);
  const auto broken = std::ranges::find_if(quantities, [](auto* q) { return q->not_finite > 0; });
  for (const DrawCondition& condition : conditions.all) {
    JudgedCondition& one = judged.all.emplace_back(JudgedCondition{condition});
    if (condition.statistic == DrawStatistic::divergences) {
      one.value = static_cast<double>(sample.divergences);
    } else if (broken != quantities.end()) {
      one.quantity = (*broken)->name;
    } else {
      one.nested = condition.statistic == DrawStatistic::rhat &&
                   uses_nested(sample.super_chains, sample.chains, sample.all_chains);
      for (const QuantitySummary* const q : quantities) {
        const double value = value_for(condition.statistic, *q, one.nested);
        const bool worse = condition.wants_at_least() ? value < one.value : value > one.value;
        if (std::isnan(value) || !(worse || std::isnan(one.value))) continue;
        one.value = value;
        one.quantity = q->name;
      }
    }
    one.met = condition.holds(one.value);
  }
  return judged;
}

}  // namespace kiln
