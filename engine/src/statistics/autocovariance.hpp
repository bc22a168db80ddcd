// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/statistics/chain_statistics.hpp"

namespace kiln {

/// Autocovariances of chains, averaged over them, each chain centred at its mean.
///
/// The first lags are summed one by one on request: chains that mix well need no more. Beyond
/// these, all lags come from one Fourier transform.
class KILN_TEST_API Autocovariance {
 public:
  explicit Autocovariance(const ChainValues& chains);

  /// Mean over chains of 1/n sum_t x_t x_{t + lag}; 0 <= lag < draws.
  double operator()(std::int64_t lag);

  const std::vector<double>& means() const noexcept { return means_; }

 private:
  double direct(std::int64_t lag) const;
  void transform();

  std::vector<double> centered_, means_;
  std::int64_t chains_, draws_;
  std::vector<double> by_lag_;  // from the transform; empty before
};

}  // namespace kiln
