// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/linear_algebra/product_path.hpp"

namespace kiln {

/// Where a GPU keeps the packed factors of a product: for each part of a factor, for each slice
/// along the inner dimension, `packed_slice_bytes` for each row of A or column of B.
inline constexpr std::int64_t packed_slice_bytes = 128;
/// Rows of A and columns of B are packed in multiples of this.
inline constexpr std::int64_t packed_multiple = 256;
/// The packed factors begin at a multiple of this.
inline constexpr std::int64_t packed_alignment = 1024;

/// Parts that a path makes of an element.
KILN_HD constexpr std::int64_t packed_parts(ProductPath path) { return is_split(path) ? 2 : 1; }

/// Bytes of an element of a part.
KILN_HD constexpr std::int64_t packed_element_bytes(ProductPath path) {
  if (path == ProductPath::int8_exact) return 1;
  return path == ProductPath::tf32_x3 ? 4 : 2;
}

/// Elements of a slice along the inner dimension.
KILN_HD constexpr std::int64_t packed_slice(ProductPath path) {
  return packed_slice_bytes / packed_element_bytes(path);
}

KILN_HD constexpr std::int64_t packed_slices(ProductPath path, std::int64_t inner) {
  return (inner + packed_slice(path) - 1) / packed_slice(path);
}

KILN_HD constexpr std::int64_t packed_count(std::int64_t rows) {
  return (rows + packed_multiple - 1) / packed_multiple * packed_multiple;
}

/// Bytes of MatrixProduct::scratch that a product needs on a GPU: the packed factors, an exponent
/// of 4 bytes for each row of A and column of B, and the alignment.
/// @param path     how the product is computed; 0 for the paths that pack nothing
/// @param rows     of A and C
/// @param inner    columns of A, rows of B
/// @param columns  of B and C
KILN_HD constexpr std::int64_t product_scratch_bytes(ProductPath path, std::int64_t rows,
                                                     std::int64_t inner, std::int64_t columns) {
  if (!is_packed(path)) return 0;
  const std::int64_t lines = packed_count(rows) + packed_count(columns);
  return packed_parts(path) * packed_slices(path, inner) * packed_slice_bytes * lines + 4 * lines +
         packed_alignment;
}

}  // namespace kiln
