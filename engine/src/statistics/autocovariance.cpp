// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "statistics/autocovariance.hpp"

#include <complex>
#include <numeric>

#include "statistics/fourier_transform.hpp"

namespace kiln {
namespace {

using Complex = std::complex<double>;

// About where one transform costs as much as the lags that are left.
constexpr std::int64_t direct_lags = 64;

}  // namespace

Autocovariance::Autocovariance(const ChainValues& chains)
    : centered_(chains.values.begin(), chains.values.end()),
      chains_(chains.chains),
      draws_(chains.draws) {
  const auto n = static_cast<double>(draws_);
  for (std::int64_t c = 0; c < chains_; ++c) {
    double* const x = centered_.data() + c * draws_;
    const double mean = std::accumulate(x, x + draws_, 0.0) / n;
    for (std::int64_t t = 0; t < draws_; ++t) x[t] -= mean;
    means_.push_back(mean);
  }
}

double Autocovariance::operator()(std::int64_t lag) {
  if (lag < direct_lags) return direct(lag);
  if (by_lag_.empty()) transform();
  return by_lag_[static_cast<std::size_t>(lag)];
}

double Autocovariance::direct(std::int64_t lag) const {
  double sum = 0;
  for (std::int64_t c = 0; c < chains_; ++c) {
    const double* const x = centered_.data() + c * draws_;
    // Four sums: each addition of a single one would wait for the one before.
    double sums[4] = {0, 0, 0, 0};
    std::int64_t t = lag;
    for (; t + 4 <= draws_; t += 4) {
      for (int i = 0; i < 4; ++i) sums[i] += x[t + i] * x[t + i - lag];
    }
    for (; t < draws_; ++t) sums[0] += x[t] * x[t - lag];
    sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  return sum / static_cast<double>(chains_ * draws_);
}

// Two chains to a transform, as real and imaginary part: what they have in common in the squared
// magnitude is odd, and falls out of the real part of the transform back.
void Autocovariance::transform() {
  std::size_t size = 1;
  while (size < static_cast<std::size_t>(2 * draws_)) size *= 2;  // no lag wraps round
  const FourierTransform fourier(size);
  std::vector<double> power(size, 0.0);
  std::vector<Complex> x(size);
  for (std::int64_t c = 0; c < chains_; c += 2) {
    x.assign(size, {});
    for (std::int64_t t = 0; t < draws_; ++t) {
      const double* const first = centered_.data() + c * draws_;
      x[static_cast<std::size_t>(t)] = {first[t], c + 1 < chains_ ? first[draws_ + t] : 0.0};
    }
    fourier(x);
    for (std::size_t k = 0; k < size; ++k) power[k] += std::norm(x[k]);
  }
  for (std::size_t k = 0; k < size; ++k) x[k] = power[k];
  fourier(x);
  const double scale = 1.0 / (static_cast<double>(size) * static_cast<double>(chains_ * draws_));
  for (std::int64_t t = 0; t < draws_; ++t) {
    by_lag_.push_back(x[static_cast<std::size_t>(t)].real() * scale);
  }
}

}  // namespace kiln
