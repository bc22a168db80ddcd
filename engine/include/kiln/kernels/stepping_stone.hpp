// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The logarithm of a sum of exponentials that grows: largest + log(sum), with how many there are.
struct LogSum {
  double largest = 0;
  double sum = 0;  ///< of exp(x - largest); 0: empty
  double count = 0;

  KILN_HD void add(double x) {
    if (!(exact::sub(x, x) == 0.0)) return;  // an infinite energy has no weight
    count += 1;
    if (sum == 0 || x > largest) {
      sum = sum == 0 ? 1.0 : exact::add(1.0, exact::mul(sum, exact::exp(exact::sub(largest, x))));
      largest = x;
    } else {
      sum = exact::add(sum, exact::exp(exact::sub(x, largest)));
    }
  }
};

/// The weights between neighbouring rungs of every ladder, for log Z by stepping stones.
///
/// With V the term of the energy, the pair (r, r + 1) of a ladder adds -(lambda' - lambda) V of the
/// chain on r to its forward sum and +(lambda' - lambda) V of the chain on r + 1 to its backward
/// one: log Z' / Z is log mean exp of the first, and minus that of the second. Class E.
/// @par Source  Xie, Lewis, Fan, Kuo, Chen, Syst. Biol. 60 (2011) 150.
struct KILN_API SteppingStone {
  static constexpr const char* name = "stepping_stone";
  static constexpr const char* summary =
      "weights between neighbouring rungs of every ladder, for the evidence";

  View1<const double> term;           ///< [slots], V
  View1<const double> parameter;      ///< [ladders * rungs], lambda
  View1<const std::int32_t> slot_of;  ///< [ladders * rungs]
  std::int64_t rungs = 0;
  std::int64_t ladders = 0;
  std::uint64_t warmup = 0;         ///< transitions that do not count
  View1<LogSum> forward, backward;  ///< [ladders * (rungs - 1)]
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  /// Pair `index` of all ladders.
  KILN_HD void operator()(std::int64_t index) const {
    if (!control->active(step_offset) || control->step + step_offset < warmup) return;
    const std::int64_t ladder = index / (rungs - 1), r = index % (rungs - 1);
    const std::int64_t low = ladder * rungs + r, high = low + 1;
    const double gap = exact::sub(parameter[high], parameter[low]);
    forward[index].add(exact::mul(-gap, term[slot_of[low]]));
    backward[index].add(exact::mul(gap, term[slot_of[high]]));
  }
};

}  // namespace kiln
