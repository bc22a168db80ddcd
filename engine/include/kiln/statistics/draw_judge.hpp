// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"
#include "kiln/statistics/draw_conditions.hpp"

namespace kiln {

/// Draws of a run that has not ended, by quantity. Members as in Sample.
struct DrawColumns {
  std::int64_t chains = 0, draws = 0, all_chains = 0, super_chains = 0, divergences = 0;
  std::size_t quantities = 0;
  /// The draws of a quantity, [chain][draw]; those of the log density for `quantities`. Called from
  /// several threads once the first call has returned.
  FunctionRef<std::vector<double>(std::size_t)> column;
};

/// No estimate of effective_draws() is larger.
KILN_API double max_effective_draws(std::int64_t chains, std::int64_t draws) noexcept;

/// What a look at draws tells.
struct DrawVerdict {
  bool met = false;
  /// Draws that the conditions need, over those that there are, where effective draws are too few.
  /// 1: not known. Infinite: no more draws can help.
  double growth = 1;
};

/// Looks at draws as they come, at little cost while conditions fail. A look asks the quantity
/// first that failed at the look before, computes only what the conditions are about, and ends at
/// the first condition that fails.
class KILN_API DrawJudge {
 public:
  /// Whether judge() would find all conditions met by these draws.
  DrawVerdict look(const DrawConditions& conditions, const DrawColumns& draws);

 private:
  std::size_t failed_ = 0;  // quantity
};

}  // namespace kiln
