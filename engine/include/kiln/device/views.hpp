// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// A borrowed row of values with an external owner. Passed to kernels by value.
template <class T>
struct View1 {
  T* data = nullptr;
  std::int64_t size = 0;

  View1() = default;
  KILN_HD View1(T* data_, std::int64_t size_) : data(data_), size(size_) {}
  template <class U>
  requires(!__is_same(U, T) && __is_same(const U, T)) KILN_HD View1(View1<U> other)
      : data(other.data), size(other.size) {}

  KILN_HD T& operator[](std::int64_t i) const { return data[i]; }
  KILN_HD explicit operator bool() const { return data != nullptr; }
};

/// A borrowed matrix of `rows` x `columns` values; row r begins at data + r * stride.
template <class T>
struct View2 {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;

  KILN_HD T& operator()(std::int64_t row, std::int64_t column) const {
    return data[row * stride + column];
  }
};

}  // namespace kiln
