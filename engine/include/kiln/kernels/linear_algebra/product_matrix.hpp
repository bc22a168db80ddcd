// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

/// A borrowed matrix that a product writes; row r begins `stride` elements after row r - 1.
struct ProductMatrix {
  void* data = nullptr;
  ProductElement element = ProductElement::float64;
  std::int64_t rows = 0, columns = 0, stride = 0;  ///< the stride in elements

  ProductMatrix() = default;
  template <class T>
  KILN_HD ProductMatrix(T* data_, std::int64_t rows_, std::int64_t columns_, std::int64_t stride_)
      : data(data_),
        element(product_element_of<T>),
        rows(rows_),
        columns(columns_),
        stride(stride_) {}
  template <class T>
  KILN_HD ProductMatrix(const View2<T>& m) : ProductMatrix(m.data, m.rows, m.columns, m.stride) {}

  /// The matrix with elements of type T, which must be that of `element`.
  template <class T>
  KILN_HD View2<T> view() const {
    return {static_cast<T*>(data), rows, columns, stride};
  }
};

/// A borrowed matrix that a product reads.
struct ConstProductMatrix {
  const void* data = nullptr;
  ProductElement element = ProductElement::float64;
  std::int64_t rows = 0, columns = 0, stride = 0;  ///< the stride in elements

  ConstProductMatrix() = default;
  template <class T>
  KILN_HD ConstProductMatrix(T* data_, std::int64_t rows_, std::int64_t columns_,
                             std::int64_t stride_)
      : data(data_),
        element(product_element_of<T>),
        rows(rows_),
        columns(columns_),
        stride(stride_) {}
  template <class T>
  KILN_HD ConstProductMatrix(const View2<T>& m)
      : ConstProductMatrix(m.data, m.rows, m.columns, m.stride) {}
  KILN_HD ConstProductMatrix(const ProductMatrix& m)
      : data(m.data), element(m.element), rows(m.rows), columns(m.columns), stride(m.stride) {}

  /// The matrix with elements of type T, which must be that of `element`.
  template <class T>
  KILN_HD View2<const T> view() const {
    return {static_cast<const T*>(data), rows, columns, stride};
  }
};

}  // namespace kiln
