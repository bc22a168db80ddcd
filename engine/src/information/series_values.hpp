// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// P(|Z| < band_quantile) = 0.9 for a standard normal Z.
inline constexpr double band_quantile = 1.6448536269514722;

/// Rows that are needed at least.
inline constexpr std::int64_t min_rows_of_fit = 8;
inline constexpr std::int64_t min_rows_of_spectrum = 32;
inline constexpr std::int64_t min_rows_of_changes = 20;

/// Mean and standard deviation (with n) of the values that are not NaN.
struct Moments {
  std::int64_t count = 0;
  double mean = 0, deviation = 0;
  bool constant = true;
};
Moments moments_of(std::span<const double> values);

/// n log(variance) + 2 k n / (n - k - 1): minus twice the logarithm of a Gaussian likelihood whose
/// variance is estimated, up to a constant of n, with the penalty of Hurvich and Tsai for k
/// parameters. Infinite if n <= k + 1.
double aicc_of(double variance, std::int64_t n, std::int64_t parameters);

/// The lower triangle L of a positive definite matrix L L', in place, [n][n]; false if it is none.
bool factorize_in_place(std::vector<double>& matrix, std::int64_t n);
/// (L L')^-1.
std::vector<double> inverse_of_square(const std::vector<double>& lower, std::int64_t n);

/// @throws InvalidArgument unless there are `needed` values at least, all finite.
void require_values(std::span<const double> values, std::int64_t needed, const char* what);

}  // namespace kiln
