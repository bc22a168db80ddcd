// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "stepping_stones.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kiln::hmc {
namespace {

std::vector<LogSum> read(Run& run, const View1<LogSum>& view) {
  std::vector<LogSum> sums(static_cast<std::size_t>(view.size));
  run.queue().download(sums.data(), view.data, sums.size() * sizeof(LogSum));
  return sums;
}

// The log of the mean weight of one pair, over the ladders first .. last - 1.
double log_mean(const std::vector<LogSum>& sums, std::int64_t pairs, std::int64_t pair,
                std::int64_t first, std::int64_t last) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0, count = 0;
  const auto at = [&](std::int64_t ladder) -> const LogSum& {
    return sums[static_cast<std::size_t>(ladder * pairs + pair)];
  };
  for (std::int64_t l = first; l < last; ++l) {
    if (at(l).sum > 0) largest = std::max(largest, at(l).largest);
  }
  for (std::int64_t l = first; l < last; ++l) {
    if (at(l).sum > 0) sum += at(l).sum * std::exp(at(l).largest - largest);
    count += at(l).count;
  }
  return count > 0 ? largest + std::log(sum / count) : 0;
}

}  // namespace

void SteppingStones::start(Run& run, std::int64_t rungs, std::int64_t warmup) {
  rungs_ = rungs;
  ladders_ = run.batch().groups();
  warmup_ = static_cast<std::uint64_t>(warmup);
  const auto empty =
      std::vector<LogSum>(static_cast<std::size_t>(ladders_ * (rungs_ - 1)), LogSum{});
  forward_ = run.scratch("stones.forward", empty);
  backward_ = run.scratch("stones.backward", empty);
}

void SteppingStones::add(Run& run, View1<const double> parameter, View1<const std::int32_t> slot_of,
                         std::uint32_t step_offset) const {
  run.queue().launch(SteppingStone{run.components().term, parameter, slot_of, rungs_, ladders_,
                                   warmup_, forward_, backward_, run.control(), step_offset});
}

void SteppingStones::report(Run& run, Result& result) const {
  const std::vector<LogSum> forward = read(run, forward_), backward = read(run, backward_);
  const std::int64_t pairs = rungs_ - 1;
  const auto log_z = [&](std::int64_t first, std::int64_t last, std::vector<double>* by_rung) {
    double total = 0;
    if (by_rung != nullptr) by_rung->push_back(0);
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      total += 0.5 * (log_mean(forward, pairs, pair, first, last) -
                      log_mean(backward, pairs, pair, first, last));
      if (by_rung != nullptr) by_rung->push_back(total);
    }
    return total;
  };
  result.diagnostics["log_z"] = log_z(0, ladders_, &result.series["log_z"]);
  // Ladders are independent: parts of them that are averaged apart tell the error of all.
  const std::int64_t parts = std::min<std::int64_t>(ladders_, 16);
  if (parts < 4) return;
  double mean = 0, square = 0;
  for (std::int64_t p = 0; p < parts; ++p) {
    const double part = log_z(p * ladders_ / parts, (p + 1) * ladders_ / parts, nullptr);
    mean += part;
    square += part * part;
  }
  const double n = static_cast<double>(parts);
  const double variance = std::max(0.0, (square - mean * mean / n) / (n - 1));
  result.diagnostics["log_z_error"] = std::sqrt(variance / n);
}

}  // namespace kiln::hmc
