// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/alarm.hpp"
#include "kiln/device/views.hpp"

#include "eigen_product.hpp"
#include "kernels/isa.hpp"
#include "triangle.hpp"

namespace kiln::cpu {

/// Solves triangular systems by halves: the unknowns of one half, what they contribute to the
/// equations of the other half as a product, and the other half. The bits of a column do not depend
/// on the other columns.
class BlockedSolver {
 public:
  /// A system of at most so many unknowns is not divided. Halves are multiples of it.
  static constexpr std::int64_t undivided = 16;

  explicit BlockedSolver(const Alarm* alarm)
      : product_(eigen_products().in_double),
        triangle_(KILN_VARIANT_FOR_ISA(triangle)),
        alarm_(alarm) {}

  static std::int64_t half(std::int64_t n) {
    return (n / 2 + undivided - 1) / undivided * undivided;
  }
  void subtract(const ProductBlock<double>& block) const {
    if (alarm_ != nullptr) end_if_due(*alarm_);
    product_(block);
  }

  /// L x = b, or L^T x = b, in place. Only the lower triangle of the factor is read.
  template <bool forward>
  void solve(const View2<const double>& factor, const View2<double>& x) const {
    const std::int64_t n = x.rows, first = half(n), second = n - first;
    if (n <= undivided) return solve_undivided<forward>(factor, x);
    const View2<const double> upper{factor.data, first, first, factor.stride};
    const View2<const double> lower{&factor(first, first), second, second, factor.stride};
    const View2<double> above{x.data, first, x.columns, x.stride};
    const View2<double> below{&x(first, 0), second, x.columns, x.stride};
    ProductBlock<double> block;
    block.a = &factor(first, 0);
    block.a_stride = factor.stride;
    block.b_stride = block.c_stride = x.stride;
    block.columns = x.columns;
    block.use = ProductUse::subtract;
    block.a_transposed = !forward;
    solve<forward>(forward ? upper : lower, forward ? above : below);
    block.b = forward ? above.data : below.data;
    block.c = forward ? below.data : above.data;
    block.inner = forward ? first : second;
    block.rows = forward ? second : first;
    subtract(block);
    solve<forward>(forward ? lower : upper, forward ? below : above);
  }

 private:
  template <bool forward>
  void solve_undivided(const View2<const double>& factor, const View2<double>& x) const {
    if (x.rows == 0) return;
    const std::int64_t start = forward ? 0 : x.rows - 1;
    TriangleJob job;
    job.factor = &factor(start, start);
    job.x = &x(start, 0);
    job.row_stride = forward ? factor.stride : -1;
    job.column_stride = forward ? 1 : -factor.stride;
    job.x_stride = forward ? x.stride : -x.stride;
    job.n = x.rows;
    job.columns = x.columns;
    triangle_(job);
  }

  void (*product_)(const ProductBlock<double>& block);
  Triangle triangle_;
  const Alarm* alarm_;
};

}  // namespace kiln::cpu
