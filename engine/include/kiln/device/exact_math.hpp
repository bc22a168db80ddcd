// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "kiln/device/hd.hpp"

/// Elementary functions that give the same bits on every device.
///
/// All decisions (accept, swap, cooling) use these functions: + - * / in double, each rounded once,
/// no libm and no CUDA maths. On the device the rounding intrinsics forbid contraction; on the host
/// libkiln is compiled with -ffp-contract=off.
namespace kiln::exact {

#if defined(__CUDA_ARCH__)
KILN_HD inline double add(double a, double b) { return __dadd_rn(a, b); }
KILN_HD inline double sub(double a, double b) { return __dsub_rn(a, b); }
KILN_HD inline double mul(double a, double b) { return __dmul_rn(a, b); }
KILN_HD inline double div(double a, double b) { return __ddiv_rn(a, b); }
KILN_HD inline double bits_to_double(std::uint64_t b) {
  return __longlong_as_double(static_cast<long long>(b));
}
KILN_HD inline std::uint64_t double_to_bits(double x) {
  return static_cast<std::uint64_t>(__double_as_longlong(x));
}
#else
KILN_HD inline double add(double a, double b) { return a + b; }
KILN_HD inline double sub(double a, double b) { return a - b; }
KILN_HD inline double mul(double a, double b) { return a * b; }
KILN_HD inline double div(double a, double b) { return a / b; }
KILN_HD inline double bits_to_double(std::uint64_t b) { return std::bit_cast<double>(b); }
KILN_HD inline std::uint64_t double_to_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
#endif

KILN_HD inline double infinity() { return bits_to_double(0x7FF0000000000000ull); }
KILN_HD inline double not_a_number() { return bits_to_double(0x7FF8000000000000ull); }

// ln 2 in two parts; the first has 21 trailing zero bits, so k * ln2_high is exact for |k| < 2^20.
inline constexpr double ln2_high = 0x1.62e42feep-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;
inline constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
// 1.5 * 2^52: adding and subtracting it rounds to the nearest integer.
inline constexpr double round_shift = 0x1.8p52;

/// e^x for -745.2 <= x < 709.8, as exp() gives it. Has no branches, so that a thread can compute
/// several side by side.
KILN_HD inline double exp_in_range(double x) {
  const double k = sub(add(mul(x, inverse_ln2), round_shift), round_shift);
  const double r = sub(sub(x, mul(k, ln2_high)), mul(k, ln2_low));
  // Taylor polynomial of degree 13 on |r| <= ln2 / 2; the first term left out is below 5e-18.
  double p = 1.0 / 6227020800.0;
  p = add(mul(p, r), 1.0 / 479001600.0);
  p = add(mul(p, r), 1.0 / 39916800.0);
  p = add(mul(p, r), 1.0 / 3628800.0);
  p = add(mul(p, r), 1.0 / 362880.0);
  p = add(mul(p, r), 1.0 / 40320.0);
  p = add(mul(p, r), 1.0 / 5040.0);
  p = add(mul(p, r), 1.0 / 720.0);
  p = add(mul(p, r), 1.0 / 120.0);
  p = add(mul(p, r), 1.0 / 24.0);
  p = add(mul(p, r), 1.0 / 6.0);
  p = add(mul(p, r), 0.5);
  p = add(mul(p, r), 1.0);
  p = add(mul(p, r), 1.0);
  // 2^k in two factors, so that results in the subnormal range are rounded once, at the end.
  const int k_int = static_cast<int>(k);
  const int k_half = k_int / 2;
  const double scale_a = bits_to_double(static_cast<std::uint64_t>(k_half + 1023) << 52);
  const double scale_b = bits_to_double(static_cast<std::uint64_t>(k_int - k_half + 1023) << 52);
  return mul(mul(p, scale_a), scale_b);
}

/// e^x, relative error below 2^-51 (two units in the last place) over the normal range.
/// Gives 0 below -745.2 and infinity above 709.8; NaN stays NaN.
KILN_HD inline double exp(double x) {
  if (!(x < 709.8)) return x >= 709.8 ? infinity() : x;
  if (x < -745.2) return 0.0;
  return exp_in_range(x);
}

/// Natural logarithm, error below 2 units in the last place of the larger of |log x| and 2^-52.
/// log 0 is -infinity, log of a negative number or NaN is NaN.
KILN_HD inline double log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -infinity() : bits_to_double(0x7FF8000000000000ull);
  if (x == infinity()) return x;
  std::int64_t exponent = 0;
  if (x < 0x1p-1022) {  // subnormal: bring into the normal range first
    x = mul(x, 0x1p54);
    exponent = -54;
  }
  std::uint64_t bits = double_to_bits(x);
  // Subtracting the bits of sqrt(1/2) makes the exponent field that of x / sqrt(1/2).
  const std::uint64_t shifted = bits - 0x3FE6A09E667F3BCDull;
  const std::int64_t e = static_cast<std::int64_t>(shifted) >> 52;
  bits -= static_cast<std::uint64_t>(e) << 52;
  const double m = bits_to_double(bits);  // in [sqrt(1/2), sqrt(2))
  const double f = sub(m, 1.0);           // exact
  const double s = div(f, add(m, 1.0));
  const double z = mul(s, s);
  // log m = 2 atanh(s) = 2 s (1 + z/3 + z^2/5 + ...), z <= 0.0295; term 12 is below 1e-18.
  double p = 1.0 / 23.0;
  p = add(mul(p, z), 1.0 / 21.0);
  p = add(mul(p, z), 1.0 / 19.0);
  p = add(mul(p, z), 1.0 / 17.0);
  p = add(mul(p, z), 1.0 / 15.0);
  p = add(mul(p, z), 1.0 / 13.0);
  p = add(mul(p, z), 1.0 / 11.0);
  p = add(mul(p, z), 1.0 / 9.0);
  p = add(mul(p, z), 1.0 / 7.0);
  p = add(mul(p, z), 1.0 / 5.0);
  p = add(mul(p, z), 1.0 / 3.0);
  const double twice_s = add(s, s);
  const double log_m = add(twice_s, mul(twice_s, mul(z, p)));
  const double e_total = static_cast<double>(e + exponent);
  return add(mul(e_total, ln2_high), add(mul(e_total, ln2_low), log_m));
}

/// Square root, correctly rounded: IEEE 754 prescribes its bits, so the hardware instruction is
/// exact.
KILN_HD inline double sqrt(double x) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(x);
#else
  return __builtin_sqrt(x);
#endif
}

/// Number of 32-bit words r that accept an uphill step: floor(2^32 exp(-x)), x = beta * dE >= 0.
/// A step is accepted when r < accept_threshold(x); 2^32 (all words) at x <= 0. NaN accepts
/// nothing.
KILN_HD inline std::uint64_t accept_threshold(double x) {
  if (x <= 0.0) return 0x100000000ull;
  if (!(x < 23.0)) return 0;  // e^-23 < 2^-33
  return static_cast<std::uint64_t>(mul(exp(-x), 0x1p32));
}

/// accept_threshold() without branches, for several side by side.
KILN_HD inline std::uint64_t accept_threshold_flat(double x) {
  const bool between = x > 0.0 && x < 23.0;
  const double y = between ? x : 0.0;
  const auto words = static_cast<std::uint64_t>(mul(exp_in_range(-y), 0x1p32));
  return between || x <= 0.0 ? words : 0;  // y = 0 gives 2^32
}

/// The Metropolis decision for an energy change dE at inverse temperature beta with word r.
/// dE <= 0 is always accepted, also at beta = infinity; NaN and +infinity never.
KILN_HD inline bool accept(double beta, double delta, std::uint32_t word) {
  if (delta <= 0.0) return true;
  return word < accept_threshold(mul(beta, delta));
}

/// Number of 32-bit words r that flip by the heat-bath rule: floor(2^32 / (1 + exp(x))),
/// x = beta * dE. 2^31 at x = 0, 2^32 (all words) at x = -infinity; NaN flips nothing.
KILN_HD inline std::uint64_t heat_bath_threshold(double x) {
  if (!(x < 23.0)) return 0;  // 1 / (1 + e^23) < 2^-33
  return static_cast<std::uint64_t>(div(0x1p32, add(1.0, exp(x))));
}

/// The heat-bath decision for an energy change dE at inverse temperature beta with word r. At beta
/// = infinity it accepts downhill steps, rejects uphill steps, and accepts level steps for half of
/// the words.
KILN_HD inline bool accept_heat_bath(double beta, double delta, std::uint32_t word) {
  if (delta == 0.0) return word < 0x80000000u;  // infinity * 0 is NaN
  return word < heat_bath_threshold(mul(beta, delta));
}

/// Order-preserving map from doubles (no NaN) to unsigned integers: a < b means key(a) <
/// key(b); -0.0 comes directly before +0.0.
KILN_HD inline std::uint64_t order_key(double x) {
  const std::uint64_t bits = double_to_bits(x);
  return (bits >> 63) != 0 ? ~bits : bits | 0x8000000000000000ull;
}
KILN_HD inline double from_order_key(std::uint64_t key) {
  return bits_to_double((key >> 63) != 0 ? key & 0x7FFFFFFFFFFFFFFFull : ~key);
}

}  // namespace kiln::exact
