// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/models/product.hpp"

namespace kiln::cli {

/// Kinds of random factors.
enum class ProductData : std::uint8_t {
  zero_mean,  ///< uniform in (-1, 1)
  positive,   ///< uniform in (0, 1)
  graded,     ///< zero-mean, rows of A times 10^-6 .. 10^6
};

const char* name_of(ProductData data);

/// A factor of doubles.
/// @param grade  whether the rows are scaled, if the data are graded: of A alone
HostMatrix random_factor(ProductData data, std::int64_t rows, std::int64_t columns,
                         std::uint64_t seed, bool grade);

/// A factor of integers from -128 to 127: of positive data from 0; of graded data the largest
/// magnitude of a row is a power of 2.
HostMatrix random_integers(ProductData data, std::int64_t rows, std::int64_t columns,
                           std::uint64_t seed);

/// Errors of products of two factors, which must outlive it.
class ProductError {
 public:
  ProductError(const HostMatrix& a, const HostMatrix& b);

  /// As Accuracy defines it, against another product of the same factors.
  double against(const std::vector<double>& c, const std::vector<double>& oracle) const;
  /// Relative to sums in twice the precision of a double, of 16 rows of A of the largest norms and
  /// as many columns of B as take a moment.
  double against_exact_sums(const std::vector<double>& c) const;

 private:
  const HostMatrix &a_, &b_;
  double factors_ = 0;              ///< ||A|| ||B|| / sqrt(K)
  std::vector<std::int64_t> rows_;  ///< by descending norm
};

}  // namespace kiln::cli
