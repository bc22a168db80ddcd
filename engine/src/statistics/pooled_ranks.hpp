// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/statistics/chain_statistics.hpp"

namespace kiln {

/// Finite values in ascending order, sorted once for all uses of ranks.
class KILN_TEST_API PooledRanks {
 public:
  explicit PooledRanks(std::span<const double> values);

  /// Linear interpolation between order statistics; there must be a value.
  /// @par Source  Definition 7 of Hyndman and Fan, Amer. Statist. 50 (1996) 361.
  double quantile(double probability) const;
  /// See kiln::normal_scores.
  std::vector<double> scores() const;
  /// The same of the distances of the values from their median.
  std::vector<double> scores_of_distances() const;

 private:
  struct Entry {
    double value;
    std::uint32_t index;
  };
  void sort();
  double score(double rank) const;

  std::vector<Entry> sorted_;
  std::vector<double> lower_scores_;  // of the ranks 1 .. count / 2: the others are their negatives
};

/// R-hat from the scores of split chains, and from those of their distances from the median.
double larger_scale_reduction(const ChainValues& scores, const ChainValues& of_distances);

}  // namespace kiln
