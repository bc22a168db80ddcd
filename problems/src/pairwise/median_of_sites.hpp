// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kiln/host_threads.hpp"
#include "kiln/large_vector.hpp"

namespace kiln::problems {

/// How often each of a few values occurs. Sites of large models mostly share theirs.
class ValueCounts {
 public:
  void add(double value) {
    if (last_ == nullptr || value != last_value_) {
      if (is_full()) return;
      last_ = &counts_[value];
      last_value_ = value;
    }
    ++*last_;
  }
  void add(const ValueCounts& other) {
    for (const auto& [value, count] : other.counts_) counts_[value] += count;
  }
  /// Whether values may be missing.
  bool is_full() const { return counts_.size() > most; }

  std::optional<double> upper_median() const {
    std::int64_t all = 0;
    for (const auto& [value, count] : counts_) all += count;
    std::int64_t behind = all / 2;
    for (const auto& [value, count] : counts_) {
      if (behind < count) return value;
      behind -= count;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most = 64;
  std::map<double, std::int64_t> counts_;
  std::int64_t* last_ = nullptr;
  double last_value_ = 0;
};

/// The upper median of of(site) over the sites for which it is at least 0; nothing if there are
/// none.
template <class Of>
std::optional<double> median_of_sites(std::int64_t n_sites, const Of& of) {
  ValueCounts all;
  bool complete = true;
  for (const ValueCounts& some : of_each_block(n_sites, [&](std::int64_t begin, std::int64_t end) {
         ValueCounts counts;
         for (std::int64_t site = begin; site < end && !counts.is_full(); ++site) {
           const double value = of(static_cast<std::size_t>(site));
           if (value >= 0) counts.add(value);
         }
         return counts;
       })) {
    complete = complete && !some.is_full();
    all.add(some);
  }
  if (complete) return all.upper_median();

  LargeVector<double> values(static_cast<std::size_t>(n_sites));
  for_each_block(n_sites, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto site = static_cast<std::size_t>(begin); site < static_cast<std::size_t>(end);
         ++site) {
      values[site] = of(site);
    }
  });
  std::erase_if(values, [](double value) { return value < 0; });
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace kiln::problems
