// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/epilogue.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/packed_layout.hpp"
#include "kiln/kernels/linear_algebra/product_matrix.hpp"
#include "kiln/kernels/linear_algebra/product_path.hpp"

namespace kiln {

/// C = A B, computed as `path` says, and then the epilogue of each element.
///
/// Elements: FP64 multiplies float64 to float64. FP32 and the split paths read and write float64
/// or float32. int8 reads int8 with at most 131071 terms an element, so that |-128 * -128| K stays
/// below 2^31, and writes int32 or the exact sums as float64 or float32; int32 takes no epilogue.
/// Without inner dimension the sums are 0; an empty C launches nothing. The path int8 is exact and
/// the same on every backend; the CPU computes all others in double.
///
/// The order of the sum of each element is backend-specific (class D), the same for every launch; a
/// GPU uses double-precision tensor cores for FP64. C is neither A nor B. Nonfinite values in a row
/// of A or a column of B make the elements of that row or column nonfinite, and no others.
struct KILN_API MatrixProduct {
  static constexpr const char* name = "matrix_product";
  static constexpr const char* summary =
      "computes the matrix product C = A B, and optionally scales, shifts and clips C";
  static constexpr const char* accuracy = "D";
  static constexpr const char* equal_bits =
      "products by the path int8, and of integers whose sums are exact in the path, are class E";
  /// Terms of a sum of products of int8 that 31 bits hold.
  static constexpr std::int64_t max_int8_inner = 131071;
  static constexpr const char* refusal =
      "matrix_product has matrices that do not fit each other or its path; expected A [M][K], B "
      "[K][N] and C [M][N] of elements that the path allows, for int8 K up to 131071";
  static constexpr const char* scratch_refusal =
      "matrix_product has too little scratch; expected product_scratch_bytes() of it";

  ConstProductMatrix a;  ///< [rows][inner]
  ConstProductMatrix b;  ///< [inner][columns]
  ProductMatrix c;       ///< [rows][columns]
  Epilogue epilogue;
  ProductPath path = ProductPath::float64;
  View1<std::byte> scratch;             ///< [product_scratch_bytes()], read only by a GPU
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  bool valid() const {
    if (a.rows != c.rows || b.columns != c.columns || a.columns != b.rows) return false;
    if (a.element != b.element || !fits_epilogue()) return false;
    const bool real = is_real(a.element) && is_real(c.element);
    if (path == ProductPath::float64) {
      return a.element == ProductElement::float64 && c.element == ProductElement::float64;
    }
    if (path != ProductPath::int8_exact) return real;
    if (a.element != ProductElement::int8 || a.columns > max_int8_inner) return false;
    if (c.element == ProductElement::int32) return !epilogue.changes();
    return is_real(c.element);
  }
  std::int64_t scratch_bytes() const {
    return product_scratch_bytes(path, c.rows, a.columns, c.columns);
  }
  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

 private:
  bool fits_epilogue() const {
    const auto fits = [this](std::int64_t size) { return size == 0 || size == c.columns; };
    const View2<double>& stopped = epilogue.stopped;
    return fits(epilogue.scale.size) && fits(epilogue.bias.size) &&
           (stopped.data == nullptr || (stopped.rows == c.rows && stopped.columns == c.columns));
  }
  static bool is_real(ProductElement element) {
    return element == ProductElement::float64 || element == ProductElement::float32;
  }
};

}  // namespace kiln
