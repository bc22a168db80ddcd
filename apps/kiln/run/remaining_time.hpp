// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::cli {

/// How long the batches that are left of a search with a model will take. A batch takes the longer
/// the more the model has seen, so that their mean so far would promise too little, and ever more.
class RemainingTime {
 public:
  /// A report of a moment.
  /// @param batches  that are done, `seconds` after the run began
  /// @param modelled  whether a model chose the last of them
  void add(std::int64_t batches, double seconds, bool modelled) {
    if (batches <= 0) return;
    mean_s_ = seconds / static_cast<double>(batches);
    const bool newer = looks_.empty() || batches > looks_.back().batches;
    if (modelled && newer) looks_.push_back({batches, seconds});
  }

  /// Seconds for `left` batches more; -1: that would be a guess.
  double of(std::int64_t left) const {
    const auto more = static_cast<double>(std::max<std::int64_t>(0, left));
    if (mean_s_ >= expensive_s) return more * mean_s_;  // calls, beside which no model counts
    if (looks_.size() < 3) return -1;
    const Look& first = looks_.front();
    const Look& last = looks_.back();
    const auto seen = static_cast<double>(last.batches - first.batches);
    if (seen < fewest || more > 2 * seen) return -1;
    // The time of a batch grows in proportion to the batches before it: through three moments.
    const Look& middle = *std::ranges::lower_bound(
        looks_, first.batches + (last.batches - first.batches) / 2, {}, &Look::batches);
    const double early = slope(first, middle), late = slope(middle, last);
    const double growth = std::max(0.0, 2 * (late - early) / seen);
    const double now = late + growth * static_cast<double>(last.batches - middle.batches) / 2;
    return more * (now + growth * more / 2);
  }

 private:
  static constexpr double expensive_s = 1;
  static constexpr double fewest = 4;

  struct Look {
    std::int64_t batches = 0;
    double seconds = 0;
  };
  static double slope(const Look& from, const Look& to) {
    const auto batches = static_cast<double>(std::max<std::int64_t>(1, to.batches - from.batches));
    return (to.seconds - from.seconds) / batches;
  }

  double mean_s_ = 0;
  std::vector<Look> looks_;
};

}  // namespace kiln::cli
