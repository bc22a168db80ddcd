// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// Discrete Fourier transforms of one length, a power of two, in place: X_k = sum_t x_t e^(-2 pi i
/// k t / size).
class KILN_TEST_API FourierTransform {
 public:
  explicit FourierTransform(std::size_t size);

  /// @param x  as many values as the length
  void operator()(std::vector<std::complex<double>>& x) const;

 private:
  void reverse_bits(std::vector<std::complex<double>>& x) const;

  std::size_t size_;
  std::vector<std::complex<double>> roots_;
};

}  // namespace kiln
