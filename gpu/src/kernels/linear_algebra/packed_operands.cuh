// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "packed_tiles.cuh"
#include "tensor_cores.cuh"

namespace kiln::cuda {

/// The parts of a number as bits of the type of operands: the nearest number of that type, and the
/// nearest one to what is left.
template <class Operand, class Number>
struct NumberParts {
  using Bits =
      std::conditional_t<Operand::bytes == 4, std::uint32_t,
                         std::conditional_t<Operand::bytes == 2, std::uint16_t, std::int8_t>>;
  Bits of[2];

  __device__ explicit NumberParts(Number v) {
    const Number first = set(0, v);
    if constexpr (Operand::bytes > 1) set(1, v - first);
  }

 private:
  __device__ Number set(int part, Number v) {
    if constexpr (std::is_same_v<Operand, Int8Operand>) {
      of[part] = static_cast<Bits>(v);
      return v;
    } else if constexpr (std::is_same_v<Operand, Float16Operand>) {
      const __half h = static_cast<__half>(v);
      of[part] = __half_as_ushort(h);
      return static_cast<Number>(__half2float(h));
    } else if constexpr (std::is_same_v<Operand, Bfloat16Operand>) {
      const __nv_bfloat16 h = static_cast<__nv_bfloat16>(v);
      of[part] = __bfloat16_as_ushort(h);
      return static_cast<Number>(__bfloat162float(h));
    } else {
      of[part] = tf32_bits(static_cast<float>(v));
      return static_cast<Number>(__uint_as_float(of[part]));
    }
  }
};

/// 2^e for |e| < 1000.
inline __device__ double power_of_two(int e) { return __hiloint2double((1023 + e) << 20, 0); }
inline __device__ double scaled(double v, int e) { return v * power_of_two(e); }
inline __device__ float scaled(float v, int e) {
  return e > -126 && e < 127 ? v * __int_as_float((127 + e) << 23)
                             : static_cast<float>(v * power_of_two(e));
}
inline __device__ std::int8_t scaled(std::int8_t v, int) { return v; }

/// A matrix to be packed; with `columns_are_rows` its columns become the rows of the operand.
template <class Number>
struct PackSource {
  const Number* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t rows = 0, inner = 0;  ///< of the operand
  bool columns_are_rows = false;

  __device__ Number at(std::int64_t row, std::int64_t k) const {
    if (row >= rows || k >= inner) return 0;
    return columns_are_rows ? data[k * stride + row] : data[row * stride + k];
  }
  /// Numbers k, k + 1, ... of a row; where they lie together, by as few loads as possible.
  template <int count>
  __device__ void read(std::int64_t row, std::int64_t k, Number (&to)[count]) const {
    const Number* const from = data + row * stride + k;
    if (columns_are_rows || row >= rows || k + count > inner ||
        reinterpret_cast<std::uintptr_t>(from) % 16 != 0) {
#pragma unroll
      for (int n = 0; n < count; ++n) to[n] = at(row, k + n);
      return;
    }
    constexpr int loads = count * static_cast<int>(sizeof(Number)) / 16;
#pragma unroll
    for (int n = 0; n < loads; ++n) {
      reinterpret_cast<uint4*>(to)[n] = reinterpret_cast<const uint4*>(from)[n];
    }
  }
};

/// The exponent of the largest number of a row, as row_exponents() finds it, and the one by which
/// the row is scaled: so that its largest number lies in [2^14, 2^15), of half precision.
struct RowExponent {
  static constexpr std::int32_t none = static_cast<std::int32_t>(0x80808080);  // bytes of a memset
  __device__ static int of(std::int32_t found) { return found == none ? 0 : found - 14; }
};

/// Packs all blocks, one for each block of threads.
/// @param exponent  [rows], of RowExponent; may be null
template <class Operand, int parts, class Number>
__global__ void __launch_bounds__(256)
    pack_operand(const __grid_constant__ PackSource<Number> source, PackedOperand to,
                 const std::int32_t* exponent) {
  constexpr int numbers = 16 / Operand::bytes, rows = PackedOperand::rows_of_block;
  using Bits = typename NumberParts<Operand, Number>::Bits;
  __shared__ uint4 block[parts][8 * rows];
  const int slice = static_cast<int>(blockIdx.x);
  const std::int64_t row_block = blockIdx.y;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < 8 * rows; i += 256) {
    // Neighbouring lanes read neighbouring numbers.
    const int row = source.columns_are_rows ? i % rows : i / 8;
    const int chunk = source.columns_are_rows ? i / rows : i % 8;
    const std::int64_t r = row_block * rows + row;
    alignas(16) Number number[numbers];
    source.read(r, (static_cast<std::int64_t>(slice) * 8 + chunk) * numbers, number);
    const int e = exponent == nullptr || r >= source.rows ? 0 : RowExponent::of(exponent[r]);
    alignas(16) Bits bits[parts][numbers];
#pragma unroll
    for (int n = 0; n < numbers; ++n) {
      const NumberParts<Operand, Number> made(exponent == nullptr ? number[n]
                                                                  : scaled(number[n], -e));
#pragma unroll
      for (int part = 0; part < parts; ++part) bits[part][n] = made.of[part];
    }
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      block[part][PackedOperand::place(row, chunk) / 16] =
          *reinterpret_cast<const uint4*>(bits[part]);
    }
  }
  __syncthreads();
  for (int part = 0; part < parts; ++part) {
    auto* const out = reinterpret_cast<uint4*>(to.block(row_block, slice, part));
    for (int i = static_cast<int>(threadIdx.x); i < 8 * rows; i += 256) out[i] = block[part][i];
  }
}

/// Raises exponent[row] to that of the largest finite number of each row, 512 numbers of 32 rows in
/// each block. `exponent` starts as RowExponent::none.
template <class Number>
__global__ void __launch_bounds__(256)
    row_exponents(const __grid_constant__ PackSource<Number> source, std::int32_t* exponent) {
  constexpr int numbers = 512, warps = 8;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * 32;
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.y) * numbers;
  const auto larger = [](Number size, Number x) {
    const Number of = fabs(x);
    return isfinite(of) ? fmax(size, of) : size;
  };
  const auto raise = [&](std::int64_t row, Number size) {
    if (row < source.rows && size > 0) atomicMax(exponent + row, ilogb(size));
  };
  if (source.columns_are_rows) {  // a lane has a row
    Number size = 0;
#pragma unroll 16
    for (int i = warp; i < numbers; i += warps) size = larger(size, source.at(first + lane, k + i));
    return raise(first + lane, size);
  }
#pragma unroll
  for (int row = warp; row < 32; row += warps) {
    Number size = 0;
#pragma unroll
    for (int i = lane; i < numbers; i += 32) size = larger(size, source.at(first + row, k + i));
    for (int d = 16; d > 0; d /= 2) size = fmax(size, __shfl_xor_sync(~0u, size, d));
    if (lane == 0) raise(first + row, size);
  }
}

}  // namespace kiln::cuda
