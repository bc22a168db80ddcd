// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/statistics/chain_statistics.hpp"

#include "statistics/pooled_ranks.hpp"

namespace kiln {

/// How good the draws of one quantity are, computed as it is asked for. There are four draws of
/// each chain at least, all finite, and not all of them equal.
/// @par Source  Vehtari, Gelman, Simpson, Carpenter, Bürkner, Bayesian Anal. 16 (2021) 667.
class DrawQuality {
 public:
  /// The chains stay where they are for as long as this object lives.
  explicit DrawQuality(const ChainValues& chains);
  DrawQuality(const DrawQuality&) = delete;
  DrawQuality& operator=(const DrawQuality&) = delete;

  /// A quantile of all draws.
  double quantile(double probability) const;
  double r_hat() const;
  double ess_bulk() const;
  /// The smaller one of the indicators of the 5 % and the 95 % quantiles. Of discrete quantities an
  /// indicator may be constant, and then tells nothing.
  double ess_tail() const;

  /// Halves of chains.
  std::span<const double> split() const { return split_; }
  /// Other values of the same shape as split().
  ChainValues of(std::span<const double> values) const { return {values, chains_, draws_}; }

 private:
  double ess_up_to(double quantile) const;

  std::vector<double> own_split_;         // halves of chains of an odd number of draws
  std::span<const double> split_;         // whole chains are two halves, one after the other
  std::int64_t chains_ = 0, draws_ = 0;   // of split_
  PooledRanks ranks_;                     // of split_
  std::optional<PooledRanks> all_ranks_;  // where the halves lack a draw of each chain
  std::vector<double> scores_;
};

}  // namespace kiln
