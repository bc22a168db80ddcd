// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/narrow_floats.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// How a number lies in memory.
enum class ElementType : std::int32_t { float64, float32, float16, bfloat16 };

KILN_HD inline std::int64_t bytes_of(ElementType type) {
  return type == ElementType::float64 ? 8 : type == ElementType::float32 ? 4 : 2;
}

/// The number at an address, as a double. Exact.
KILN_HD inline double read_element(const void* at, ElementType type) {
  switch (type) {
    case ElementType::float64:
      return *static_cast<const double*>(at);
    case ElementType::float32:
      return static_cast<double>(*static_cast<const float*>(at));
    case ElementType::float16:
      return widen_half(*static_cast<const std::uint16_t*>(at));
    case ElementType::bfloat16:
      return widen_bfloat16(*static_cast<const std::uint16_t*>(at));
  }
  return 0;
}

/// Rounds a double to the type, to nearest and of two to the even one, and stores it.
KILN_HD inline void write_element(void* at, ElementType type, double value) {
  switch (type) {
    case ElementType::float64:
      *static_cast<double*>(at) = value;
      return;
    case ElementType::float32:
      *static_cast<float*>(at) = round_single(value);
      return;
    case ElementType::float16:
      *static_cast<std::uint16_t*>(at) = round_half(value);
      return;
    case ElementType::bfloat16:
      *static_cast<std::uint16_t*>(at) = round_bfloat16(value);
      return;
  }
}

/// A borrowed matrix of numbers of a type that is known at run time. Element (row, column) is at
/// data[row * stride + column * step], in elements. A stride or a step of 0 repeats what is there;
/// a step of a row's length gives the columns of a matrix as rows.
template <class Void>
struct ElementsOf {
  Void* data = nullptr;
  ElementType type = ElementType::float64;
  std::int64_t rows = 0, columns = 0;
  std::int64_t stride = 0, step = 1;

  ElementsOf() = default;
  KILN_HD ElementsOf(Void* data_, ElementType type_, std::int64_t rows_, std::int64_t columns_,
                     std::int64_t stride_, std::int64_t step_ = 1)
      : data(data_), type(type_), rows(rows_), columns(columns_), stride(stride_), step(step_) {}
  template <class T>
  requires(sizeof(T) >= 4) KILN_HD ElementsOf(View2<T> m)
      : ElementsOf(m.data, of(m.data), m.rows, m.columns, m.stride) {}
  /// One row.
  template <class T>
  requires(sizeof(T) >= 4) KILN_HD ElementsOf(View1<T> row)
      : ElementsOf(row.data, of(row.data), 1, row.size, row.size) {}
  template <class Other>
  requires(!__is_same(Other, Void)) KILN_HD ElementsOf(const ElementsOf<Other>& m)
      : ElementsOf(m.data, m.type, m.rows, m.columns, m.stride, m.step) {}

  KILN_HD explicit operator bool() const { return data != nullptr; }
  KILN_HD std::int64_t place(std::int64_t row, std::int64_t column) const {
    return row * stride + column * step;
  }
  KILN_HD Void* at(std::int64_t row, std::int64_t column) const {
    return offset(data, place(row, column) * bytes_of(type));
  }
  KILN_HD double operator()(std::int64_t row, std::int64_t column) const {
    return read_element(at(row, column), type);
  }
  /// Whether a kernel that reduces rows can read it.
  KILN_HD bool is_wide() const {
    return type == ElementType::float64 || type == ElementType::float32;
  }
  double bytes() const {
    const double of_rows = stride == 0 ? 1.0 : static_cast<double>(rows);
    const double of_columns = step == 0 ? 1.0 : static_cast<double>(columns);
    return data == nullptr ? 0.0 : of_rows * of_columns * static_cast<double>(bytes_of(type));
  }

 private:
  KILN_HD static ElementType of(const double*) { return ElementType::float64; }
  KILN_HD static ElementType of(const float*) { return ElementType::float32; }
  KILN_HD static const void* offset(const void* base, std::int64_t bytes) {
    return static_cast<const char*>(base) + bytes;
  }
  KILN_HD static void* offset(void* base, std::int64_t bytes) {
    return static_cast<char*>(base) + bytes;
  }
};

using Elements = ElementsOf<const void>;
using MutableElements = ElementsOf<void>;

}  // namespace kiln
