// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by one translation unit per instruction set; everything is in an unnamed namespace, see
// SliceJob.
#include <cstdint>
#include <cstring>

#include "triangle.hpp"

namespace kiln::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int triangle_lanes = 8;
#elif defined(__AVX2__)
constexpr int triangle_lanes = 4;
#else
constexpr int triangle_lanes = 2;
#endif

// The language extension of GCC and Clang.
typedef double TriangleLanes __attribute__((vector_size(8 * triangle_lanes)));

// For any address.
template <class T>
inline __attribute__((always_inline)) T read_lanes(const double* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Columns as many as `registers` of T have lanes.
template <class T, int registers>
void triangle_columns(const TriangleJob& job, std::int64_t column) {
  constexpr std::int64_t lanes = sizeof(T) / sizeof(double);
  for (std::int64_t p = 0; p < job.n; ++p) {
    const double* const row = job.factor + p * job.row_stride;
    double* const x = job.x + p * job.x_stride + column;
    T left[registers];
    for (int r = 0; r < registers; ++r) left[r] = read_lanes<T>(x + r * lanes);
    for (std::int64_t q = 0; q < p; ++q) {
      const double factor = row[q * job.column_stride];
      const double* const known = job.x + q * job.x_stride + column;
      for (int r = 0; r < registers; ++r) left[r] -= factor * read_lanes<T>(known + r * lanes);
    }
    const double pivot = row[p * job.column_stride];
    for (int r = 0; r < registers; ++r) {
      left[r] /= pivot;
      std::memcpy(x + r * lanes, &left[r], sizeof left[r]);
    }
  }
}

inline void triangle(const TriangleJob& job) {
  std::int64_t c = 0;
  for (; c + 4 * triangle_lanes <= job.columns; c += 4 * triangle_lanes) {
    triangle_columns<TriangleLanes, 4>(job, c);
  }
  for (; c + triangle_lanes <= job.columns; c += triangle_lanes) {
    triangle_columns<TriangleLanes, 1>(job, c);
  }
  for (; c < job.columns; ++c) triangle_columns<double, 1>(job, c);
}

}  // namespace
}  // namespace kiln::cpu
