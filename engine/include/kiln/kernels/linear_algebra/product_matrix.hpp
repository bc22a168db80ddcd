// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "kiln/device/views.hpp"

namespace kiln {

/// Types of the elements of a matrix that MatrixProduct reads or writes.
enum class ProductElement : std::uint8_t { float64, float32, int8, int32 };

constexpr const char* name_of(ProductElement element) {
  switch (element) {
    case ProductElement::float64:
      return "float64";
    case ProductElement::float32:
      return "float32";
    case ProductElement::int8:
      return "int8";
    case ProductElement::int32:
      return "int32";
  }
  return "";
}

KILN_HD constexpr std::int64_t bytes_of(ProductElement element) {
  if (element == ProductElement::float64) return 8;
  return element == ProductElement::int8 ? 1 : 4;
}

namespace detail {

template <class T>
struct ProductElementOf;
template <class T>
struct ProductElementOf<const T> : ProductElementOf<T> {};
template <>
struct ProductElementOf<double> {
  static constexpr ProductElement value = ProductElement::float64;
};
template <>
struct ProductElementOf<float> {
  static constexpr ProductElement value = ProductElement::float32;
};
template <>
struct ProductElementOf<std::int8_t> {
  static constexpr ProductElement value = ProductElement::int8;
};
template <>
struct ProductElementOf<std::int32_t> {
  static constexpr ProductElement value = ProductElement::int32;
};

}  // namespace detail

template <class T>
inline constexpr ProductElement product_element_of = detail::ProductElementOf<T>::value;

/// A borrowed matrix of a product; row r begins `stride` elements after row r - 1.
/// @tparam Void  void if the product writes it, const void if it reads it
template <class Void>
struct BasicProductMatrix {
  template <class T>
  using Element = std::conditional_t<std::is_const_v<Void>, const T, T>;

  Void* data = nullptr;
  ProductElement element = ProductElement::float64;
  std::int64_t rows = 0, columns = 0, stride = 0;  ///< the stride in elements

  BasicProductMatrix() = default;
  template <class T>
  KILN_HD BasicProductMatrix(T* data_, std::int64_t rows_, std::int64_t columns_,
                             std::int64_t stride_)
      : data(data_),
        element(product_element_of<T>),
        rows(rows_),
        columns(columns_),
        stride(stride_) {}
  template <class T>
  KILN_HD BasicProductMatrix(const View2<T>& m)
      : BasicProductMatrix(m.data, m.rows, m.columns, m.stride) {}
  /// What is written may be read.
  template <class Other>
  requires(std::is_const_v<Void>&& std::is_same_v<Other, void>) KILN_HD
      BasicProductMatrix(const BasicProductMatrix<Other>& m)
      : data(m.data), element(m.element), rows(m.rows), columns(m.columns), stride(m.stride) {}

  /// The matrix with elements of type T, which must be that of `element`.
  template <class T>
  KILN_HD View2<Element<T>> view() const {
    return {static_cast<Element<T>*>(data), rows, columns, stride};
  }
};
using ProductMatrix = BasicProductMatrix<void>;
using ConstProductMatrix = BasicProductMatrix<const void>;

}  // namespace kiln
