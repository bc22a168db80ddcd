// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "statistics/fourier_transform.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace kiln {
namespace {

using Complex = std::complex<double>;

// The operator of std::complex looks for NaN in every product.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

FourierTransform::FourierTransform(std::size_t size) : size_(size), roots_(size / 2) {
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
    roots_[k] = {std::cos(angle), std::sin(angle)};
  }
}

void FourierTransform::operator()(std::vector<Complex>& x) const {
  reverse_bits(x);
  for (std::size_t length = 2; length <= size_; length *= 2) {
    const std::size_t half = length / 2, stride = size_ / length;
    for (std::size_t begin = 0; begin < size_; begin += length) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex odd = times(x[begin + k + half], roots_[k * stride]);
        x[begin + k + half] = x[begin + k] - odd;
        x[begin + k] += odd;
      }
    }
  }
}

void FourierTransform::reverse_bits(std::vector<Complex>& x) const {
  for (std::size_t i = 1, j = 0; i < size_; ++i) {
    std::size_t bit = size_ / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
}

}  // namespace kiln
