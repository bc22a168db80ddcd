// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/telemetry/incumbent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kiln/problem.hpp"

namespace kiln {

void IncumbentList::add(const Incumbent& next) {
  ++found_;
  if (last_may_go_) kept_.pop_back();
  last_may_go_ = kept_.size() >= all_of_first &&
                 static_cast<double>(next.sweeps) < 1.01 * static_cast<double>(kept_.back().sweeps);
  kept_.push_back(next);
}

void IncumbentList::restore(std::vector<Incumbent> kept, std::int64_t found, bool last_may_go) {
  kept_ = std::move(kept);
  found_ = found;
  last_may_go_ = last_may_go && !kept_.empty();
}

namespace {
bool is_as_good(double value, double reference, Sense sense) {
  return sense == Sense::maximize ? value >= reference : value <= reference;
}
}  // namespace

double primal_gap(double value, double reference, Sense sense) noexcept {
  if (is_as_good(value, reference, sense)) return 0;
  if (value * reference < 0) return 1;
  return std::abs(reference - value) / std::max(std::abs(reference), std::abs(value));
}

double primal_integral(std::span<const Incumbent> incumbents, double reference, Sense sense,
                       double run_s) noexcept {
  double integral = 0, since_s = 0, gap = 1;
  for (const Incumbent& one : incumbents) {
    const double until_s = std::clamp(one.time_s, since_s, std::max(since_s, run_s));
    integral += gap * (until_s - since_s);
    since_s = until_s;
    gap = primal_gap(one.value, reference, sense);
  }
  return integral + gap * std::max(0.0, run_s - since_s);
}

std::vector<TimeToGap> time_to_gap(std::span<const Incumbent> incumbents, double best_known,
                                   Sense sense, double tolerance) {
  std::vector<TimeToGap> table;
  for (const double gap : {0.1, 0.01, 0.001, 0.0001, 0.0}) {
    if (gap > 0 && best_known == 0) continue;
    const double allowed = std::max(tolerance, gap * std::abs(best_known));
    const auto first = std::ranges::find_if(incumbents, [&](const Incumbent& one) {
      return is_as_good(one.value, best_known, sense) ||
             std::abs(one.value - best_known) <= allowed;
    });
    if (first != incumbents.end()) table.push_back({gap, first->time_s, first->sweeps});
  }
  return table;
}

}  // namespace kiln
