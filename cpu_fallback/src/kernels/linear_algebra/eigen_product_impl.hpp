// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by one translation unit per instruction set. Each calls the namespace of Eigen by a name
// for its set, so that no template of Eigen has one symbol in two of them; everything else is in an
// unnamed namespace. See ADR 0075.
#if !defined(Eigen)
#error "define Eigen as the name of its namespace for this instruction set"
#endif
#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE  // the threads are those of the queue
#define EIGEN_NO_DEBUG

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "eigen_product.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t inner_per_pass = EigenProducts::inner_per_pass;

// Eigen's loops add up the terms of an element one after the other where its columns fill two or
// three registers, and otherwise in two or four partial sums. So only such columns are given to it.
template <class T>
struct Panel {
  using Traits = Eigen::internal::gebp_traits<T, T>;
  static constexpr std::int64_t most = Traits::mr;
  static constexpr std::int64_t pair = std::min<std::int64_t>(most, 2 * Traits::LhsProgress);
  static constexpr std::int64_t widened(std::int64_t rest) { return rest <= pair ? pair : most; }
};

// Of packed operands: `most` divides the columns, and four rows are multiplied at a time.
template <class T>
struct Blocking final : Eigen::internal::level3_blocking<T, T> {
  Blocking(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    this->m_mc = std::min(columns, 240 / Panel<T>::most * Panel<T>::most);
    this->m_nc = std::min<std::int64_t>(rows, 64);
    this->m_kc = std::min(inner, inner_per_pass);
  }
};

// Straight to Eigen's loop over blocks: its operators take small products and those with a vector
// to others, with other orders. In its columns-first view the transpose of C is that of B times
// that of A.
template <int a_order, class T>
void multiply_ordered(const ProductBlock<T>& block) {
  using Loop =
      Eigen::internal::general_matrix_matrix_product<Eigen::Index, T, Eigen::ColMajor, false, T,
                                                     a_order, false, Eigen::ColMajor, 1>;
  Blocking<T> blocking(block.rows, block.inner, block.columns);
  Loop::run(block.columns, block.rows, block.inner, block.b, block.b_stride, block.a,
            block.a_stride, block.c, 1, block.c_stride,
            T(block.use == ProductUse::subtract ? -1 : 1), blocking);
}

template <class T>
void multiply_panels(const ProductBlock<T>& block) {
  if (block.a_transposed) {
    multiply_ordered<Eigen::RowMajor>(block);
  } else {
    multiply_ordered<Eigen::ColMajor>(block);
  }
}

// The last columns, in room for whole registers.
template <class T>
void multiply_rest(const ProductBlock<T>& block) {
  using P = Panel<T>;
  constexpr std::int64_t rows_at_once = 64;
  alignas(64) T b[inner_per_pass * P::most], c[rows_at_once * P::most];
  const std::int64_t width = P::widened(block.columns);
  ProductBlock<T> part = block;
  part.columns = part.b_stride = part.c_stride = width;
  part.b = b;
  part.c = c;
  for (std::int64_t first = 0; first < block.inner; first += inner_per_pass) {
    part.inner = std::min(inner_per_pass, block.inner - first);
    for (std::int64_t k = 0; k < part.inner; ++k) {
      T* const end =
          std::copy_n(block.b + (first + k) * block.b_stride, block.columns, b + k * width);
      std::fill(end, b + (k + 1) * width, T(0));
    }
    for (std::int64_t row = 0; row < block.rows; row += rows_at_once) {
      part.rows = std::min(rows_at_once, block.rows - row);
      part.a = block.a +
               (block.a_transposed ? first * block.a_stride + row : row * block.a_stride + first);
      T* const target = block.c + row * block.c_stride;
      for (std::int64_t r = 0; r < part.rows; ++r) {
        T* const end = std::copy_n(target + r * block.c_stride, block.columns, c + r * width);
        std::fill(end, c + (r + 1) * width, T(0));
      }
      multiply_panels(part);
      for (std::int64_t r = 0; r < part.rows; ++r) {
        std::copy_n(c + r * width, block.columns, target + r * block.c_stride);
      }
    }
  }
}

// The columns first, ..., first + count - 1.
template <class T>
ProductBlock<T> columns_of(ProductBlock<T> block, std::int64_t first, std::int64_t count) {
  block.b += first;
  block.c += first;
  block.columns = count;
  return block;
}

template <class T>
void multiply(const ProductBlock<T>& block) {
  using P = Panel<T>;
  if (block.use == ProductUse::store) {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      std::fill_n(block.c + r * block.c_stride, block.columns, T(0));
    }
  }
  if (block.rows == 0 || block.inner == 0) return;
  std::int64_t done = block.columns / P::most * P::most, rest = block.columns - done;
  // Four registers of columns are two pairs, not three and one that is filled up to two.
  const bool pairs = rest > 0 && rest <= P::most - P::pair && done > 0;
  if (pairs) done -= P::most;
  if (done > 0) multiply_panels(columns_of(block, 0, done));
  if (pairs) {
    multiply_panels(columns_of(block, done, P::pair));
    done += P::pair;
  }
  rest = block.columns - done;
  if (rest == P::pair || rest == P::most) {
    multiply_panels(columns_of(block, done, rest));
  } else if (rest > 0) {
    multiply_rest(columns_of(block, done, rest));
  }
}

}  // namespace
}  // namespace kiln::cpu
