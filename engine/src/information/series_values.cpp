// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "information/series_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"

#include "idx.hpp"

namespace kiln {

Moments moments_of(std::span<const double> values) {
  Moments moments;
  double first = 0, sum = 0;
  for (const double x : values) {
    if (std::isnan(x)) continue;
    if (moments.count++ == 0) first = x;
    moments.constant &= x == first;
    sum += x - first;
  }
  if (moments.count == 0) return moments;
  const auto n = static_cast<double>(moments.count);
  moments.mean = moments.constant ? first : first + sum / n;
  double squares = 0;
  for (const double x : values) {
    if (!std::isnan(x)) squares += (x - moments.mean) * (x - moments.mean);
  }
  moments.deviation = std::sqrt(squares / n);
  return moments;
}

double aicc_of(double variance, std::int64_t n, std::int64_t parameters) {
  if (n <= parameters + 1) return std::numeric_limits<double>::infinity();
  const auto rows = static_cast<double>(n), k = static_cast<double>(parameters);
  return rows * exact::log(variance) + 2 * k * rows / (rows - k - 1);
}

bool factorize_in_place(std::vector<double>& matrix, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double s = matrix[idx(i * n + j)];
      for (std::int64_t k = 0; k < j; ++k) s -= matrix[idx(i * n + k)] * matrix[idx(j * n + k)];
      if (i == j && !(s > 0)) return false;
      matrix[idx(i * n + j)] = i == j ? std::sqrt(s) : s / matrix[idx(j * n + j)];
    }
  }
  return true;
}

std::vector<double> inverse_of_square(const std::vector<double>& lower, std::int64_t n) {
  std::vector<double> inverse(idx(n * n), 0.0);  // of L
  for (std::int64_t column = 0; column < n; ++column) {
    for (std::int64_t i = column; i < n; ++i) {
      double x = i == column ? 1 : 0;
      for (std::int64_t k = column; k < i; ++k) {
        x -= lower[idx(i * n + k)] * inverse[idx(k * n + column)];
      }
      inverse[idx(i * n + column)] = x / lower[idx(i * n + i)];
    }
  }
  std::vector<double> square(idx(n * n), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = std::max(i, j); k < n; ++k) {
        square[idx(i * n + j)] += inverse[idx(k * n + i)] * inverse[idx(k * n + j)];
      }
    }
  }
  return square;
}

void require_values(std::span<const double> values, std::int64_t needed, const char* what) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count < needed) {
    throw InvalidArgument("series.short", std::string(what) + " needs " + std::to_string(needed) +
                                              " values at least; got " + std::to_string(count));
  }
  if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); })) {
    throw InvalidArgument("series.value", std::string(what) + " needs finite values");
  }
}

}  // namespace kiln
