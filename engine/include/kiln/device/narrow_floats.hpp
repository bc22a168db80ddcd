// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/hd.hpp"

// Conversions between double and the binary formats of 16 bits, by integer arithmetic: the same
// bits on every device. A double is rounded once, to nearest and of two to the even one. NaN stays
// NaN (the quiet one, with its sign), what is beyond the largest number by half a unit or more
// becomes infinite, and subnormal numbers are kept.
namespace kiln {

namespace detail {

/// A binary format with `exponent_bits` bits of exponent and `fraction_bits` bits of fraction.
template <int exponent_bits, int fraction_bits>
struct NarrowFormat {
  static constexpr std::int32_t bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr std::uint32_t infinite = ((1u << exponent_bits) - 1) << fraction_bits;
  static constexpr std::uint32_t quiet = 1u << (fraction_bits - 1);
  static constexpr std::int32_t sign_place = exponent_bits + fraction_bits;

  KILN_HD static std::uint16_t round(double value) {
    const std::uint64_t bits = exact::double_to_bits(value);
    const auto sign = static_cast<std::uint32_t>(bits >> 63) << sign_place;
    const auto exponent = static_cast<std::int32_t>((bits >> 52) & 0x7FF) - 1023;
    const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
    if (exponent == 1024) {
      return static_cast<std::uint16_t>(sign | infinite | (fraction != 0 ? quiet : 0));
    }
    if (exponent > bias) return static_cast<std::uint16_t>(sign | infinite);
    // Units of the last place: normal numbers have fraction_bits below their leading bit, subnormal
    // ones fewer.
    const std::int32_t below = exponent < 1 - bias ? 1 - bias - exponent : 0;
    const std::int32_t dropped = 52 - fraction_bits + below;
    if (dropped > 54) return static_cast<std::uint16_t>(sign);
    const std::uint64_t whole = fraction | (std::uint64_t{1} << 52);
    std::uint64_t kept = whole >> dropped;
    const std::uint64_t rest = whole & ((std::uint64_t{1} << dropped) - 1);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    // The leading bit of a normal number adds 1 to its exponent field, and so does a carry.
    const std::int32_t field = exponent < 1 - bias ? 0 : exponent + bias - 1;
    return static_cast<std::uint16_t>(sign | ((static_cast<std::uint32_t>(field) << fraction_bits) +
                                              static_cast<std::uint32_t>(kept)));
  }

  KILN_HD static double widen(std::uint16_t stored) {
    const std::uint64_t sign = static_cast<std::uint64_t>(stored >> sign_place) << 63;
    const std::uint32_t magnitude = stored & ((1u << sign_place) - 1);
    const std::uint64_t fraction = magnitude & ((1u << fraction_bits) - 1);
    const std::uint32_t field = magnitude >> fraction_bits;
    if (magnitude >= infinite) {
      const std::uint64_t nan = fraction != 0 ? std::uint64_t{1} << 51 : 0;
      return exact::bits_to_double(sign | 0x7FF0000000000000ull | nan |
                                   fraction << (52 - fraction_bits));
    }
    if (field == 0) {
      // A multiple of the least subnormal number.
      const double unit =
          exact::bits_to_double(static_cast<std::uint64_t>(1024 - bias - fraction_bits) << 52);
      const double size = exact::mul(static_cast<double>(fraction), unit);
      return exact::bits_to_double(sign | exact::double_to_bits(size));
    }
    const std::uint64_t exponent = field + static_cast<std::uint64_t>(1023 - bias);
    return exact::bits_to_double(sign | exponent << 52 | fraction << (52 - fraction_bits));
  }
};

using HalfFormat = NarrowFormat<5, 10>;
using BFloat16Format = NarrowFormat<8, 7>;

}  // namespace detail

/// The nearest float; every NaN is the same one.
KILN_HD inline float round_single(double value) {
  constexpr std::uint32_t nan = 0x7FC00000u;
#if defined(__CUDA_ARCH__)
  return value != value ? __uint_as_float(nan) : __double2float_rn(value);
#else
  return value != value ? std::bit_cast<float>(nan) : static_cast<float>(value);
#endif
}
#if defined(__CUDACC__)
namespace detail {
/// The float towards 0, with an odd last bit where that is not exact: rounding it to a format with
/// at least two bits less gives what rounding the double does.
__device__ inline float odd_float(double value) {
  const float below = __double2float_rz(value);
  const bool is_exact = static_cast<double>(below) == value || value != value;
  return is_exact ? below : __uint_as_float(__float_as_uint(below) | 1u);
}
/// The bits of the nearest half of a float that is no NaN, and back.
__device__ inline std::uint16_t half_of(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ inline float float_of_half(std::uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<unsigned short>(bits)));
  return value;
}
__device__ inline std::uint16_t bfloat16_of(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}
__device__ inline bool is_nan_half(std::uint16_t bits) { return (bits & 0x7FFFu) > 0x7C00u; }
}  // namespace detail
#endif

/// The nearest half (IEEE 754 binary16): infinite from 65520 on.
KILN_HD inline std::uint16_t round_half(double value) {
#if defined(__CUDA_ARCH__)
  if (value == value) return detail::half_of(detail::odd_float(value));
#endif
  return detail::HalfFormat::round(value);
}
KILN_HD inline double widen_half(std::uint16_t stored) {
#if defined(__CUDA_ARCH__)
  if (!detail::is_nan_half(stored)) return static_cast<double>(detail::float_of_half(stored));
#endif
  return detail::HalfFormat::widen(stored);
}
/// The nearest bfloat16: the upper half of a float.
KILN_HD inline std::uint16_t round_bfloat16(double value) {
#if defined(__CUDA_ARCH__)
  if (value == value) return detail::bfloat16_of(detail::odd_float(value));
#endif
  return detail::BFloat16Format::round(value);
}
KILN_HD inline double widen_bfloat16(std::uint16_t stored) {
#if defined(__CUDA_ARCH__)
  const float value = __uint_as_float(static_cast<std::uint32_t>(stored) << 16);
  if (value == value) return static_cast<double>(value);
#endif
  return detail::BFloat16Format::widen(stored);
}

}  // namespace kiln
