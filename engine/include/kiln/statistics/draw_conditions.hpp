// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

struct Sample;
struct SampleSummary;

/// A number that says how good draws are.
enum class DrawStatistic : std::uint8_t {
  ess,       ///< the smaller of ess_bulk and ess_tail
  ess_bulk,  ///< smallest QuantitySummary::ess_bulk of all quantities
  ess_tail,  ///< smallest QuantitySummary::ess_tail of all quantities
  /// Largest R-hat of all quantities: nested_r_hat from 256 chains on, if they have super-chains;
  /// else r_hat.
  rhat,
  divergences,  ///< divergent transitions of all chains after the warmup
};

/// The name of a statistic in a text of conditions.
KILN_API const char* to_string(DrawStatistic) noexcept;

/// A bound on a statistic: the least effective draws, or the most of the others.
struct DrawCondition {
  DrawStatistic statistic = DrawStatistic::ess;
  double bound = 0;

  bool wants_at_least() const noexcept { return statistic <= DrawStatistic::ess_tail; }
  /// False for NaN.
  bool holds(double value) const noexcept {
    return wants_at_least() ? value >= bound : value <= bound;
  }
  bool operator==(const DrawCondition&) const = default;
};

/// Conditions on the draws of a run, all of which must hold.
struct KILN_API DrawConditions {
  std::vector<DrawCondition> all;

  /// Reads `ess>=400,rhat<=1.01`. Blanks around names and numbers are allowed.
  /// @throws InvalidArgument `budget.until` with the position of the first mistake, counted from 1.
  static DrawConditions parse(std::string_view text);

  bool empty() const noexcept { return all.empty(); }
  /// The text that parse() reads.
  std::string text() const;
  bool operator==(const DrawConditions&) const = default;
};

/// @throws InvalidArgument `budget.until` for conditions that no text gives.
KILN_API void check(const DrawConditions& conditions);

/// What draws give for one condition.
struct JudgedCondition {
  DrawCondition condition;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not known
  std::string quantity = {};                                ///< that has this value; "" for counts
  bool nested = false;                                      ///< whether R-hat is nested R-hat
  bool met = false;
};

/// Conditions as the draws of a run meet them.
struct KILN_API JudgedConditions {
  std::vector<JudgedCondition> all;
  std::int64_t draws = 0;   ///< of each chain
  std::int64_t chains = 0;  ///< whose draws were looked at
  std::int64_t looks = 0;   ///< during the run

  bool empty() const noexcept { return all.empty(); }
  bool met() const noexcept;
};

/// Chains from which `rhat` is nested R-hat.
inline constexpr std::int64_t chains_for_nested_r_hat = 256;

/// Judges conditions by a summary of all quantities. No condition is met if a value of a quantity
/// is NaN or infinite.
KILN_API JudgedConditions judge(const DrawConditions& conditions, const Sample& sample,
                                const SampleSummary& summary);

}  // namespace kiln
