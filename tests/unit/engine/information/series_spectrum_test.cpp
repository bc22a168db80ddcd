// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "kiln/errors.hpp"
#include "kiln/information/series_analysis.hpp"

#include "backends/backends.hpp"
#include "series.hpp"
#include "statistics/fourier_transform.hpp"

namespace kiln::test {
namespace {

using Values = std::vector<double>;

Values with_sine(Values x, double period, double amplitude) {
  for (std::size_t t = 0; t < x.size(); ++t) {
    x[t] += amplitude * std::sin(2 * std::numbers::pi * static_cast<double>(t) / period + 0.7);
  }
  return x;
}

double integral_of(const Spectrum& spectrum) {
  const double sum = std::accumulate(spectrum.power.begin(), spectrum.power.end(), 0.0);
  return sum * spectrum.frequency[1];
}

// Residuals from the line of least squares.
Values about_line(const Values& x) {
  const auto n = static_cast<double>(x.size());
  double st = 0, sx = 0, stt = 0, stx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto t = static_cast<double>(i);
    st += t;
    sx += x[i];
    stt += t * t;
    stx += t * x[i];
  }
  const double slope = (n * stx - st * sx) / (n * stt - st * st), start = (sx - slope * st) / n;
  Values rest;
  for (std::size_t i = 0; i < x.size(); ++i) {
    rest.push_back(x[i] - start - slope * static_cast<double>(i));
  }
  return rest;
}

TEST(FourierTransform, IsTheSumThatDefinesIt) {
  TestRandom random(1);
  std::vector<std::complex<double>> x(16);
  for (auto& value : x) value = {random.unit(), random.unit()};
  std::vector<std::complex<double>> transformed = x;
  FourierTransform(16)(transformed);
  for (std::size_t k = 0; k < 16; ++k) {
    std::complex<double> sum = 0;
    for (std::size_t t = 0; t < 16; ++t) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k * t) / 16;
      sum += x[t] * std::complex<double>(std::cos(angle), std::sin(angle));
    }
    EXPECT_NEAR(std::abs(transformed[k] - sum), 0, 1e-13) << k;
  }
}

// Parseval: the integral is the mean over tapers of sum (taper x)^2.
TEST(SeriesSpectrum, HasTheIntegralOfTheTaperedSquares) {
  for (const std::int64_t n : {32, 100, 1000}) {
    const Values x = with_sine(ar1_chains(0.6, 1, n, 5), 9, 2);
    const Values rest = about_line(x);
    double expected = 0;
    for (int k = 1; k <= 5; ++k) {
      for (std::int64_t t = 0; t < n; ++t) {
        const double m = static_cast<double>(n + 1);
        const double taper =
            std::sqrt(2 / m) * std::sin(std::numbers::pi * k * static_cast<double>(t + 1) / m);
        expected += std::pow(taper * rest[idx(t)], 2) / 5;
      }
    }
    EXPECT_NEAR(integral_of(estimate_spectrum(x)), expected, 1e-10 * expected) << n;
  }
}

// White noise of variance 4: power 8 per cycle per row at each frequency, over 0 to 1/2.
TEST(SeriesSpectrum, OfWhiteNoiseIsTwiceItsVariance) {
  Values x = ar1_chains(0, 1, 20000, 6);
  for (double& value : x) value *= 2;
  const Spectrum spectrum = estimate_spectrum(x);
  EXPECT_NEAR(integral_of(spectrum), 4, 0.2);
  double sum = 0;
  const std::size_t quarter = spectrum.power.size() / 4;
  for (std::size_t k = quarter; k < 3 * quarter; ++k) sum += spectrum.power[k];
  EXPECT_NEAR(sum / static_cast<double>(2 * quarter), 8, 0.4);
  EXPECT_LE(spectrum.red_noise_coefficient, 0.05);
  EXPECT_NEAR(spectrum.red_noise[quarter], 8, 0.8);
}

TEST(SeriesSpectrum, OfRedNoiseHasItsCoefficient) {
  for (const double a : {-0.7, 0.3, 0.7, 0.9}) {
    const Spectrum spectrum = estimate_spectrum(ar1_chains(a, 1, 4000, 8));
    EXPECT_NEAR(spectrum.red_noise_coefficient, a, 0.05);
    const double at_quarter = 2 * (1 - a * a) / (1 + a * a);
    EXPECT_NEAR(spectrum.red_noise[spectrum.red_noise.size() / 2], at_quarter, 0.1 * at_quarter);
  }
}

// Noise that alternates has no period, however strong its fast part is.
TEST(SeriesSpectrum, FindsNoPeriodInAlternatingNoise) {
  int found = 0;
  for (std::uint64_t seed = 100; seed < 140; ++seed) {
    found += estimate_spectrum(ar1_chains(-0.7, 1, 400, seed)).p_value <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(found, 8);  // 2 expected; 40 where red noise has no negative coefficients
}

TEST(SeriesSpectrum, FindsAPlantedPeriod) {
  for (const std::int64_t n : {200, 1000, 4000}) {
    const Spectrum spectrum = estimate_spectrum(with_sine(ar1_chains(0.5, 1, n, 9), 25, 1.5));
    EXPECT_NEAR(spectrum.dominant_period, 25, 25 * 25.0 / (2 * static_cast<double>(n))) << n;
    EXPECT_LT(spectrum.p_value, 1e-3) << n;
  }
  const Spectrum fast = estimate_spectrum(with_sine(ar1_chains(0.5, 1, 1000, 9), 2.6, 1));
  EXPECT_NEAR(fast.dominant_period, 2.6, 0.01);
}

TEST(SeriesSpectrum, FindsAPeriodOnATrend) {
  Values x = with_sine(ar1_chains(0.5, 1, 1000, 9), 25, 1.5);
  for (std::size_t t = 0; t < x.size(); ++t) {
    const auto time = static_cast<double>(t);
    x[t] += 0.02 * time + 2e-5 * time * time;
  }
  const Spectrum spectrum = estimate_spectrum(x);
  EXPECT_NEAR(spectrum.dominant_period, 25, 0.3);
  EXPECT_LT(spectrum.p_value, 1e-3);
}

TEST(SeriesSpectrum, OfALineHasNoPeriod) {
  Values x;
  for (int t = 0; t < 100; ++t) x.push_back(0.3 + 0.7 * t);
  const Spectrum spectrum = estimate_spectrum(x);
  EXPECT_TRUE(std::isnan(spectrum.dominant_period));
  EXPECT_EQ(spectrum.p_value, 1);
  EXPECT_EQ(integral_of(spectrum), 0);
}

// A test against white noise would call the lowest frequencies of red noise significant.
TEST(SeriesSpectrum, SeldomFindsAPeriodInRedNoise) {
  for (const double a : {0.0, 0.8}) {
    int significant = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const Spectrum spectrum = estimate_spectrum(ar1_chains(a, 1, 500, seed));
      significant += spectrum.p_value < 0.05 ? 1 : 0;
    }
    EXPECT_LE(significant, 10) << a;
    EXPECT_GE(significant, 1) << a;
  }
}

TEST(SeriesSpectrum, NeedsThirtyTwoValuesThatDiffer) {
  EXPECT_THROW(estimate_spectrum(Values(31, 1.0)), InvalidArgument);
  EXPECT_THROW(estimate_spectrum(Values(40, 1.0)), InvalidArgument);
}

TEST(AutocorrelationTime, IsThatOfAnAutoregression) {
  for (const double a : {-0.5, 0.0, 0.5, 0.9}) {
    const double time = (1 + a) / (1 - a);
    EXPECT_NEAR(autocorrelation_time(ar1_chains(a, 1, 20000, 4)), time, 0.1 * time) << a;
  }
  EXPECT_TRUE(std::isnan(autocorrelation_time(Values(100, 3.0))));
}

}  // namespace
}  // namespace kiln::test
