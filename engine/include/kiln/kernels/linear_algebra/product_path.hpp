// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// How a matrix product is computed.
enum class ProductPath : std::uint8_t {
  float64,      ///< in double, on a GPU with its tensor cores
  float32,      ///< in single precision, one fused multiplication and addition a term
  int8_exact,   ///< integers with exact sums in 32 bits
  bfloat16_x3,  ///< each factor as a sum of two bfloat16, three of the four products
  float16_x3,   ///< each factor as a sum of two half, three of the four products
  tf32_x3,      ///< each factor as a sum of two TF32, three of the four products
};

inline constexpr std::array<ProductPath, 6> product_paths{
    ProductPath::float64,     ProductPath::float32,    ProductPath::int8_exact,
    ProductPath::bfloat16_x3, ProductPath::float16_x3, ProductPath::tf32_x3};

constexpr const char* name_of(ProductPath path) {
  switch (path) {
    case ProductPath::float64:
      return "FP64";
    case ProductPath::float32:
      return "FP32";
    case ProductPath::int8_exact:
      return "int8";
    case ProductPath::bfloat16_x3:
      return "BF16 x 3";
    case ProductPath::float16_x3:
      return "FP16 x 3";
    case ProductPath::tf32_x3:
      return "TF32 x 3";
  }
  return "";
}

/// Whether a GPU rearranges the factors in scratch memory before it multiplies.
KILN_HD constexpr bool is_packed(ProductPath path) {
  return path != ProductPath::float64 && path != ProductPath::float32;
}

/// Whether a path multiplies factors that are sums of two parts of lower precision.
KILN_HD constexpr bool is_split(ProductPath path) {
  return is_packed(path) && path != ProductPath::int8_exact;
}

}  // namespace kiln
