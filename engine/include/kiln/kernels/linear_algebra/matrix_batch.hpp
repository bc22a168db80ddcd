// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"

namespace kiln {

/// Borrowed matrices of one size; matrix i begins at data + i * item_stride, its row r at r *
/// stride from there.
template <class T>
struct MatrixBatch {
  T* data = nullptr;
  std::int64_t items = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;
  std::int64_t item_stride = 0;

  /// Matrices that follow each other without gaps.
  static MatrixBatch dense(T* data, std::int64_t items, std::int64_t rows, std::int64_t columns) {
    return {data, items, rows, columns, columns, rows * columns};
  }

  KILN_HD View2<T> operator[](std::int64_t item) const {
    return {data + item * item_stride, rows, columns, stride};
  }
};

}  // namespace kiln
