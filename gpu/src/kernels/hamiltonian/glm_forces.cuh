// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/hamiltonian/generalized_linear.hpp"

#include "kernels/linear_algebra/tensor_cores.cuh"

// Gradients of the likelihood of a generalised linear model for the 32 chains of a block.
//
// In each pass the rows of X stream through shared memory. A warp takes 8 rows at a time: tensor
// cores compute Z = W X^T, chains x rows; the residuals are computed in the registers of Z, which
// are then the left operand of G += R X, chains x columns. Columns and rows may be in any order
// within a product, so each lane takes neighbouring columns, and the rows in the order `row_of`
// that keeps its reads of shared memory free of conflicts.
namespace kiln::cuda {

inline constexpr int glm_chains = 32;  // of a block
inline constexpr int glm_warps = 8;
inline constexpr int glm_threads = 32 * glm_warps;
inline constexpr int glm_stages = 3;  // tiles of rows in flight or in use

/// The layout of a block for X of `width` columns.
template <int width_>
struct GlmShape {
  static constexpr int width = width_;
  static constexpr int steps = width / 8;            // products along or across the columns
  static constexpr int bands = width <= 32 ? 2 : 1;  // of 16 chains that a warp has
  static constexpr int chain_groups = 2 / bands;     // of warps; each has its own bands
  static constexpr int row_groups = glm_warps / chain_groups;
  static constexpr int rows = 8 * row_groups * (width <= 32 ? 4 : 2);  // of a tile
  // Floats from a row to the next: without conflicts for `row_of`, but for 2-way ones at 64.
  static constexpr int stride = width == 16   ? 24
                                : width == 32 ? 40
                                : width == 48 ? 56
                                : width == 64 ? 68
                                              : width;
  static constexpr int tile_floats = rows * stride + rows;  // rows of X, then y
  // Floats from a column of partial gradients to the next, chosen like `stride`.
  static constexpr int partial_stride = steps % 2 == 1 ? 36 : 33;
  static constexpr int partial_floats = row_groups * width * partial_stride;
};

/// The row of 8 for column n of a product.
__device__ inline int row_of(int n) {
  const int low = ((n & 1) << 1) | ((n & 2) >> 1);
  return (n & 4) | (low ^ ((n & 4) >> 1));
}

/// A float in two parts of 11 bits each.
struct SplitFloat {
  std::uint32_t high, low;
};
__device__ inline SplitFloat split(float x) {
  const std::uint32_t high = __float_as_uint(x) & 0xFFFFE000u;
  return {high, __float_as_uint(x - __uint_as_float(high))};
}

/// 2^x and 1 / x to about 2^-22.
__device__ inline float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float fast_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// tanh x to about 2^-11.
__device__ inline float coarse_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Residuals of GlmLink; the precision of the identity is left to the caller.
template <bool exact>
__device__ inline float residual_single(GlmLink link, float z, float y) {
  constexpr float log2_e = 1.442695041f;
  if (link == GlmLink::logistic) {
    if constexpr (exact) return fast_reciprocal(1.0f + fast_exp2(-log2_e * z)) - y;
    return __fmaf_rn(0.5f, coarse_tanh(0.5f * z), 0.5f - y);
  }
  return (link == GlmLink::log ? fast_exp2(log2_e * z) : z) - y;
}

/// The pass over the data of one block, with the registers of a thread.
template <class Shape, bool exact>
class GlmForcePass {
  static constexpr int steps = Shape::steps, bands = Shape::bands;

 public:
  /// Rows first .. first + count - 1 of X; count a multiple of 8. `tiles` has glm_stages *
  /// tile_floats, `partial` partial_floats floats of shared memory.
  __device__ GlmForcePass(const GeneralizedLinear& model, std::int64_t first, std::int64_t count,
                          float* tiles, float* partial)
      : model_(model),
        x_(model.x_single + first * Shape::width),
        y_(model.y_single + first),
        rows_(count),
        tiles_(tiles),
        partial_(partial) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    group_ = lane / 4;
    place_ = lane % 4;
    row_group_ = warp / Shape::chain_groups;
    first_chain_ = (warp % Shape::chain_groups) * 16 * bands;
  }

  /// Starts to copy the first tiles; before each pass, once the tiles are no longer read.
  __device__ void begin() {
#pragma unroll
    for (int s = 0; s < glm_stages - 1; ++s) {
      load(s);
      end_group_of_copies();
    }
  }

  /// One pass. weights: [chain][stride] in shared memory, the columns beyond the model's are 0.
  /// Writes the partial gradients to shared memory, complete after the next barrier.
  __device__ void pass(const double* weights, int stride) {
    take_weights(weights, stride);
    float total[bands][steps][4] = {};
    std::int64_t flushed = 0;
    const auto tiles = static_cast<int>((rows_ + Shape::rows - 1) / Shape::rows);
    for (int s = 0; s < tiles; ++s) {
      wait_for_copies<glm_stages - 2>();
      __syncthreads();
      load(s + glm_stages - 1);
      end_group_of_copies();
      const float* tile = tiles_ + (s % glm_stages) * Shape::tile_floats;
      const std::int64_t left = rows_ - static_cast<std::int64_t>(s) * Shape::rows;
      const int rows = left < Shape::rows ? static_cast<int>(left) : Shape::rows;
#pragma unroll 2
      for (int row = 8 * row_group_; row < rows; row += 8 * Shape::row_groups) {
        take_rows(tile + row * Shape::stride, tile + Shape::rows * Shape::stride + row, total);
      }
      // Short sums of sums: single precision would lose digits over many rows.
      if ((s + 1) % 32 == 0 && s + 1 < tiles) add_to_partial(total, flushed++ > 0);
    }
    add_to_partial(total, flushed > 0);
  }

  /// The gradient of a chain along a column, from the results of pass().
  __device__ double gradient(int chain, int column) const {
    double sum = 0;
#pragma unroll
    for (int r = 0; r < Shape::row_groups; ++r) {
      sum += partial_[(r * Shape::width + column) * Shape::partial_stride + chain];
    }
    return model_.link == GlmLink::identity ? model_.precision * sum : sum;
  }

 private:
  __device__ void load(int s) {
    const std::int64_t first = static_cast<std::int64_t>(s) * Shape::rows;
    if (first >= rows_) return;
    const int rows = rows_ - first < Shape::rows ? static_cast<int>(rows_ - first) : Shape::rows;
    float* tile = tiles_ + (s % glm_stages) * Shape::tile_floats;
    constexpr int pieces = Shape::width / 4;
    const float* from = x_ + first * Shape::width;
    for (int i = static_cast<int>(threadIdx.x); i < rows * pieces; i += glm_threads) {
      copy_to_shared<16>(tile + i / pieces * Shape::stride + i % pieces * 4, from + 4 * i);
    }
    for (int i = static_cast<int>(threadIdx.x); i < rows / 4; i += glm_threads) {
      copy_to_shared<16>(tile + Shape::rows * Shape::stride + 4 * i, y_ + first + 4 * i);
    }
  }

  /// The left operand of Z: column place * 2 steps + 2 k + {0, 1} of chain group (+ 8) for step k.
  __device__ void take_weights(const double* weights, int stride) {
#pragma unroll
    for (int b = 0; b < bands; ++b) {
#pragma unroll
      for (int k = 0; k < steps; ++k) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int chain = first_chain_ + 16 * b + group_ + 8 * (i % 2);
          const double w = weights[chain * stride + place_ * 2 * steps + 2 * k + i / 2];
          const float high = __uint_as_float(split(static_cast<float>(w)).high);
          high_[b][k][i] = __float_as_uint(high);
          low_[b][k][i] = __float_as_uint(static_cast<float>(w - static_cast<double>(high)));
        }
      }
    }
  }

  template <int n>
  __device__ static void read(float (&to)[n], const float* from) {
    if constexpr (n % 4 == 0) {
#pragma unroll
      for (int i = 0; i < n; i += 4) {
        const float4 v = *reinterpret_cast<const float4*>(from + i);
        to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
      }
    } else if constexpr (n % 2 == 0) {
#pragma unroll
      for (int i = 0; i < n; i += 2) {
        const float2 v = *reinterpret_cast<const float2*>(from + i);
        to[i] = v.x, to[i + 1] = v.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < n; ++i) to[i] = from[i];
    }
  }

  // c += a b, where b is an entry of X and a, a weight or a residual, may have two parts.
  template <bool two_parts>
  __device__ static void multiply(float (&c)[4], const std::uint32_t (&high)[4],
                                  const std::uint32_t (&low)[4], float b0, float b1) {
    if constexpr (exact) {
      const SplitFloat s0 = split(b0), s1 = split(b1);
      multiply_add(c, low, s0.high, s1.high);
      multiply_add(c, high, s0.low, s1.low);
      multiply_add(c, high, s0.high, s1.high);
    } else {
      if constexpr (two_parts) multiply_add(c, low, __float_as_uint(b0), __float_as_uint(b1));
      multiply_add(c, high, __float_as_uint(b0), __float_as_uint(b1));
    }
  }

  __device__ void take_rows(const float* x, const float* y, float (&total)[bands][steps][4]) const {
    float along[2 * steps];  // this lane's columns of one row
    read(along, x + row_of(group_) * Shape::stride + place_ * 2 * steps);
    float z[bands][4] = {};
#pragma unroll
    for (int k = 0; k < steps; ++k) {
#pragma unroll
      for (int b = 0; b < bands; ++b) {
        multiply<true>(z[b], high_[b][k], low_[b][k], along[2 * k], along[2 * k + 1]);
      }
    }
    const int row0 = row_of(2 * place_), row1 = row_of(2 * place_ + 1);
    const float y0 = y[row0], y1 = y[row1];
    std::uint32_t high[bands][4], low[bands][4];
#pragma unroll
    for (int b = 0; b < bands; ++b) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        // c0, c2 belong to row0 and are a0, a1; c1, c3 to row1, and are a2, a3.
        const int a = i / 2 + 2 * (i % 2);
        const float r = residual_single<exact>(model_.link, z[b][i], i % 2 == 0 ? y0 : y1);
        if constexpr (exact) {
          const SplitFloat parts = split(r);
          high[b][a] = parts.high;
          low[b][a] = parts.low;
        } else {
          high[b][a] = __float_as_uint(r) + 0x1000u;  // to nearest; what follows is cut off
        }
      }
    }
    float across0[steps], across1[steps];  // this lane's columns of two rows
    read(across0, x + row0 * Shape::stride + group_ * steps);
    read(across1, x + row1 * Shape::stride + group_ * steps);
#pragma unroll
    for (int k = 0; k < steps; ++k) {
#pragma unroll
      for (int b = 0; b < bands; ++b) {
        multiply<exact>(total[b][k], high[b], low[b], across0[k], across1[k]);
      }
    }
  }

  __device__ void add_to_partial(float (&total)[bands][steps][4], bool more) {
#pragma unroll
    for (int b = 0; b < bands; ++b) {
#pragma unroll
      for (int k = 0; k < steps; ++k) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int chain = first_chain_ + 16 * b + group_ + 8 * (i / 2);
          const int column = (2 * place_ + i % 2) * steps + k;
          float& sum =
              partial_[(row_group_ * Shape::width + column) * Shape::partial_stride + chain];
          sum = more ? sum + total[b][k][i] : total[b][k][i];
          total[b][k][i] = 0;
        }
      }
    }
  }

  const GeneralizedLinear& model_;
  const float* x_;
  const float* y_;
  std::int64_t rows_;
  float* tiles_;
  float* partial_;
  int group_, place_, row_group_, first_chain_;
  std::uint32_t high_[bands][steps][4];
  std::uint32_t low_[bands][steps][4];
};

}  // namespace kiln::cuda
