// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "statistics/pooled_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/normal.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"

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
  sort();
  lower_scores_.resize(values.size() / 2);
  constexpr std::int64_t scores_of_a_thread = std::int64_t{1} << 13;
  for_each_block(
      static_cast<std::int64_t>(lower_scores_.size()),
      [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t r = begin; r < end; ++r) {
          lower_scores_[static_cast<std::size_t>(r)] =
              blom_score(static_cast<double>(r + 1), values.size());
        }
      },
      scores_of_a_thread);
}

// Digit by digit from the lowest, which takes many values a fifth of the time of comparisons. The
// order of equal values does not matter: they share a score.
void PooledRanks::sort() {
  constexpr std::size_t few = 4096, buckets = std::size_t{1} << 11;
  constexpr int digits = 6, digit_bits = 11;
  if (sorted_.size() < few) {
    std::sort(sorted_.begin(), sorted_.end(),
              [](const Entry& a, const Entry& b) { return a.value < b.value; });
    return;
  }
  const auto digit_of = [](const Entry& entry, int digit) {
    return exact::order_key(entry.value) >> (digit * digit_bits) & (buckets - 1);
  };
  std::vector<std::uint32_t> place(digits * buckets, 0);
  for (const Entry& entry : sorted_) {
    for (int d = 0; d < digits; ++d)
      ++place[static_cast<std::size_t>(d) * buckets + digit_of(entry, d)];
  }
  std::vector<Entry> other(sorted_.size());
  for (int d = 0; d < digits; ++d) {
    std::uint32_t* const next = place.data() + static_cast<std::size_t>(d) * buckets;
    if (next[digit_of(sorted_.front(), d)] == sorted_.size()) continue;  // all have this digit
    std::exclusive_scan(next, next + buckets, next, 0u);
    for (const Entry& entry : sorted_) other[next[digit_of(entry, d)]++] = entry;
    sorted_.swap(other);
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
  std::vector<double> scores(sorted_.size());
  std::vector<std::uint32_t> group;  // the last values of one distance
  double distance = -1;
  std::size_t before = 0;  // values nearer than the group
  const auto end_group = [&] {
    if (group.empty()) return;
    const std::size_t end = before + group.size();
    const double of_group = score(0.5 * static_cast<double>(before + 1 + end));
    for (const std::uint32_t index : group) scores[index] = of_group;
    before = end;
    group.clear();
  };
  auto right = std::lower_bound(sorted_.begin(), sorted_.end(), median,
                                [](const Entry& e, double value) { return e.value < value; });
  auto left = right;
  while (left != sorted_.begin() || right != sorted_.end()) {
    const double below = left != sorted_.begin() ? median - (left - 1)->value
                                                 : std::numeric_limits<double>::infinity();
    const bool take_left =
        left != sorted_.begin() && (right == sorted_.end() || below <= right->value - median);
    const Entry& next = take_left ? *--left : *right++;
    if (const double own = std::abs(next.value - median); own != distance) {
      end_group();
      distance = own;
    }
    group.push_back(next.index);
  }
  end_group();
  return scores;
}

std::vector<double> PooledRanks::scores() const {
  std::vector<double> scores(sorted_.size());
  for (std::size_t begin = 0; begin < sorted_.size();) {
    std::size_t end = begin + 1;
    while (end < sorted_.size() && sorted_[end].value == sorted_[begin].value) ++end;
    const double of_group = score(0.5 * static_cast<double>(begin + 1 + end));
    for (; begin < end; ++begin) scores[sorted_[begin].index] = of_group;
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
