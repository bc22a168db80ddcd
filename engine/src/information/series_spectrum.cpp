// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/information/series_analysis.hpp"
#include "kiln/statistics/chain_statistics.hpp"

#include "idx.hpp"
#include "information/series_values.hpp"
#include "statistics/fourier_transform.hpp"

namespace kiln {
namespace {

constexpr int tapers = 5;
// Frequencies that the red noise is fitted to, at most.
constexpr std::size_t fitted_frequencies = 2048;

// One-sided densities of a tapered series at the frequencies k / size, k = 0 ... size / 2.
class TaperedSpectra {
 public:
  TaperedSpectra(std::vector<double> centered, std::size_t size)
      : centered_(std::move(centered)), size_(size), fourier_(size) {}

  // Taper `order` = 1, 2, ...: sqrt(2 / (n + 1)) sin(pi order (t + 1) / (n + 1)).
  std::vector<double> operator()(int order) const {
    const auto n = static_cast<double>(centered_.size());
    std::vector<std::complex<double>> x(size_);
    for (std::size_t t = 0; t < centered_.size(); ++t) {
      const double phase = std::numbers::pi * order * (static_cast<double>(t) + 1) / (n + 1);
      x[t] = std::sqrt(2 / (n + 1)) * std::sin(phase) * centered_[t];
    }
    fourier_(x);
    std::vector<double> density(size_ / 2 + 1);
    for (std::size_t k = 0; k < density.size(); ++k) {
      const bool own_mirror = k == 0 || 2 * k == size_;
      density[k] = (own_mirror ? 1 : 2) * std::norm(x[k]);
    }
    return density;
  }

 private:
  std::vector<double> centered_;
  std::size_t size_;
  FourierTransform fourier_;
};

// Residuals from the regression line; zeros where they are rounding errors of the values.
std::vector<double> residuals_of(std::span<const double> values) {
  constexpr double rounding = 1e-13;
  const double mean = moments_of(values).mean;
  const double middle = (static_cast<double>(values.size()) - 1) / 2;
  double product = 0, squares = 0, largest = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    const double time = static_cast<double>(t) - middle;
    product += time * (values[t] - mean);
    squares += time * time;
    largest = std::max(largest, std::abs(values[t]));
  }
  std::vector<double> residuals;
  for (std::size_t t = 0; t < values.size(); ++t) {
    residuals.push_back(values[t] - mean - product / squares * (static_cast<double>(t) - middle));
  }
  if (moments_of(residuals).deviation <= rounding * largest) {
    std::ranges::fill(residuals, 0.0);
  }
  return residuals;
}

// The spectrum of an autoregression of order 1 with innovations of variance 1/2.
double shape_of_red_noise(double a, double frequency) {
  return 1 / (1 - 2 * a * std::cos(2 * std::numbers::pi * frequency) + a * a);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Upper tail of the mean of `tapers` exponential variables of mean 1.
double tail_of(double ratio) {
  const double y = tapers * ratio;
  double term = std::exp(-y), sum = 0;
  for (int j = 0; j < tapers; ++j) {
    sum += term;
    term *= y / (j + 1);
  }
  return sum;
}

// The median of that mean.
double median_of_mean() {
  double low = 0, high = 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (tail_of(middle) > 0.5 ? low : high) = middle;
  }
  return low;
}

void fit_red_noise(std::size_t first, Spectrum& spectrum) {
  const std::size_t last = spectrum.power.size() - 1;
  const std::size_t stride = (last - first) / fitted_frequencies + 1;
  std::vector<double> logs, frequencies;
  for (std::size_t k = first; k < last; k += stride) {
    if (!(spectrum.power[k] > 0)) continue;
    frequencies.push_back(spectrum.frequency[k]);
    logs.push_back(std::log(spectrum.power[k]));
  }
  if (logs.empty()) return;
  double least = std::numeric_limits<double>::infinity(), level = 0;
  for (int step = -99; step < 100; ++step) {
    const double a = 0.01 * step;
    std::vector<double> rest = logs;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      rest[i] -= std::log(shape_of_red_noise(a, frequencies[i]));
    }
    const double median = median_of(rest);
    double sum = 0;
    for (const double r : rest) sum += std::abs(r - median);
    if (!(sum < least)) continue;
    least = sum;
    level = median;
    spectrum.red_noise_coefficient = a;
  }
  const double scale = std::exp(level) / median_of_mean();
  for (const double f : spectrum.frequency) {
    spectrum.red_noise.push_back(scale * shape_of_red_noise(spectrum.red_noise_coefficient, f));
  }
}

// The largest value of one taper about a peak of all: their peak is as flat as the band is wide.
double refined_frequency(const std::vector<double>& sharp, std::size_t peak, std::size_t band,
                         double spacing) {
  const std::size_t begin = peak > band + 1 ? peak - band : 1;
  const std::size_t end = std::min(sharp.size() - 1, peak + band + 1);
  std::size_t best = begin;
  for (std::size_t k = begin; k < end; ++k) {
    if (sharp[k] > sharp[best]) best = k;
  }
  const double left = sharp[best - 1], middle = sharp[best], right = sharp[best + 1];
  const double curvature = left - 2 * middle + right;
  const double shift = curvature < 0 ? 0.5 * (left - right) / curvature : 0.0;
  return spacing * (static_cast<double>(best) + std::clamp(shift, -0.5, 0.5));
}

}  // namespace

Spectrum estimate_spectrum(std::span<const double> values) {
  require_values(values, min_rows_of_spectrum, "a spectrum");
  const Moments moments = moments_of(values);
  if (moments.constant) {
    throw InvalidArgument("series.constant", "a spectrum needs values that differ");
  }
  std::size_t size = 1;
  while (size < 2 * values.size()) size *= 2;
  const TaperedSpectra tapered(residuals_of(values), size);
  const std::vector<double> sharp = tapered(1);
  Spectrum spectrum;
  spectrum.power = sharp;
  for (int order = 2; order <= tapers; ++order) {
    const std::vector<double> density = tapered(order);
    for (std::size_t k = 0; k < density.size(); ++k) spectrum.power[k] += density[k];
  }
  const double spacing = 1 / static_cast<double>(size);
  for (std::size_t k = 0; k < spectrum.power.size(); ++k) {
    spectrum.power[k] /= tapers;
    spectrum.frequency.push_back(spacing * static_cast<double>(k));
  }
  // Half the width of the band over which the tapers average. Nearer to 0 mean and line are
  // missing.
  const auto rows = static_cast<double>(values.size());
  const auto band = static_cast<std::size_t>(std::ceil((tapers + 1) / (2 * (rows + 1)) / spacing));
  fit_red_noise(band, spectrum);
  if (spectrum.red_noise.empty()) return spectrum;
  // The rest of a trend rises towards frequency 0, where it has no maximum.
  const auto ratio = [&](std::size_t k) { return spectrum.power[k] / spectrum.red_noise[k]; };
  std::size_t peak = 0;
  for (std::size_t k = band; k + 1 < spectrum.power.size(); ++k) {
    if (ratio(k) < ratio(k - 1) || ratio(k) < ratio(k + 1)) continue;
    if (peak == 0 || ratio(k) > ratio(peak)) peak = k;
  }
  if (peak == 0) return spectrum;
  spectrum.dominant_period = 1 / refined_frequency(sharp, peak, band, spacing);
  spectrum.dominant_power = spectrum.power[peak];
  spectrum.p_value = -std::expm1(rows / 2 * std::log1p(-tail_of(ratio(peak))));
  return spectrum;
}

double autocorrelation_time(std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) < min_rows_of_fit) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto n = static_cast<std::int64_t>(values.size());
  return static_cast<double>(n) / effective_draws({values, 1, n});
}

}  // namespace kiln
