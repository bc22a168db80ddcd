// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"

namespace kiln::cpu {

/// What becomes of a product.
enum class ProductUse : std::uint8_t {
  store,     ///< C = A B
  add,       ///< C = C + A B
  subtract,  ///< C = C - A B
};

/// A block of a product, as plain pointers. All matrices have rows side by
/// side, and strides are numbers of elements between rows. C overlaps neither A nor B. A may be
/// given as its transpose.
template <class T>
struct ProductBlock {
  const T* a = nullptr;  // [rows][inner], or [inner][rows] if it is transposed
  const T* b = nullptr;  // [inner][columns]
  T* c = nullptr;        // [rows][columns]
  std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
  std::int64_t rows = 0, inner = 0, columns = 0;
  bool a_transposed = false;
  ProductUse use = ProductUse::store;
};

/// The products of an instruction set. The bits of an element follow from its row of A, its column
/// of B and `inner` alone, so any division of a product into blocks of C gives the same bits, and
/// so does a division of `inner` into products of `inner_per_pass` that are added. Those of AVX2
/// and AVX-512 are the same; the baseline rounds each product before it adds it.
struct EigenProducts {
  /// Terms of a sum that are added up before they are added to C: a fixed number, which Eigen would
  /// otherwise derive from the caches of the processor.
  static constexpr std::int64_t inner_per_pass = 256;

  void (*in_double)(const ProductBlock<double>& block);
};
extern const EigenProducts eigen_products_baseline, eigen_products_avx2, eigen_products_avx512;
/// Those for this processor.
KILN_TEST_API const EigenProducts& eigen_products();

}  // namespace kiln::cpu
