// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "statistics/pooled_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/normal.hpp"
#include "kiln/errors.hpp"

namespace kiln {
namespace {

double blom_score(double rank, std::size_t count) {
  return normal_quantile((rank - 0.375) / (static_cast<double>(count) + 0.25));
}

}  // namespace

PooledRanks::PooledRanks(std::span<const double> values) {
  if (values.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument(
        "sample.size", std::to_string(values.size()) + " values of a quantity are too many to rank",
        "at most 4294967295", "keep fewer chains, or fewer draws of each chain");
  }
  sorted_.reserve(values.size());
  for (const double value : values) {
    sorted_.push_back({value, static_cast<std::uint32_t>(sorted_.size())});
  }
  std::sort(sorted_.begin(), sorted_.end(),
            [](const Entry& a, const Entry& b) { return a.value < b.value; });
  lower_scores_.resize(values.size() / 2);
  for (std::size_t r = 0; r < lower_scores_.size(); ++r) {
    lower_scores_[r] = blom_score(static_cast<double>(r + 1), values.size());
  }
}

double PooledRanks::quantile(double probability) const {
  const double place = probability * static_cast<double>(sorted_.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted_.size() - 1);
  const double low = sorted_[below].value, high = sorted_[above].value;
  return low + (place - static_cast<double>(below)) * (high - low);
}

// Below the median distances ascend to the left, above it to the right.
std::vector<double> PooledRanks::scores_of_distances() const {
  const double median = quantile(0.5);
  std::vector<Entry> merged;
  merged.reserve(sorted_.size());
  auto right = std::lower_bound(sorted_.begin(), sorted_.end(), median,
                                [](const Entry& e, double value) { return e.value < value; });
  auto left = right;
  while (left != sorted_.begin() || right != sorted_.end()) {
    const double below = left != sorted_.begin() ? median - (left - 1)->value
                                                 : std::numeric_limits<double>::infinity();
    const bool take_left =
        left != sorted_.begin() && (right == sorted_.end() || below <= right->value - median);
    const Entry& next = take_left ? *--left : *right++;
    merged.push_back({std::abs(next.value - median), next.index});
  }
  return scores_of(merged);
}

std::vector<double> PooledRanks::scores_of(const std::vector<Entry>& sorted) const {
  std::vector<double> scores(sorted.size());
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].value == sorted[begin].value) ++end;
    const double of_group = score(0.5 * static_cast<double>(begin + 1 + end));
    for (; begin < end; ++begin) scores[sorted[begin].index] = of_group;
  }
  return scores;
}

double PooledRanks::score(double rank) const {
  const std::size_t count = sorted_.size();
  const auto whole = static_cast<std::size_t>(rank);
  if (rank != static_cast<double>(whole)) return blom_score(rank, count);  // of an even group
  if (whole <= count / 2) return lower_scores_[whole - 1];
  const std::size_t mirrored = count + 1 - whole;
  return mirrored <= count / 2 ? -lower_scores_[mirrored - 1] : 0.0;
}

}  // namespace kiln
