// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rows/row_chunks.hpp"
#include "kiln/kernels/rows/axpby.hpp"
#include "kiln/kernels/rows/reduce_rows.hpp"
#include "kiln/kernels/rows/standardize.hpp"

// What kernels do with the rows that both backends reduce by the same tree. A job has the state of
// a chunk, what it makes of the state of a row (finish), and with `rewrites` what becomes of each
// element then (rewrite).
namespace kiln {

/// A reduction to one number.
template <class OfChunk, RowReduction reduction>
struct NumberOfRows {
  static constexpr bool rewrites = false;
  static constexpr bool uses_other = reduction == RowReduction::dot;
  using Chunks = OfChunk;
  using State = typename OfChunk::State;
  struct Final {};

  ReduceRows kernel;

  static constexpr const char* name() { return ReduceRows::name; }
  KILN_HD Elements value() const { return kernel.value; }
  KILN_HD Elements other() const { return kernel.other; }
  KILN_HD Final finish(std::int64_t row, const State& state) const {
    double result = 0;
    if constexpr (reduction == RowReduction::norm) {
      result = state.norm();
    } else {
      result = state.value();
    }
    kernel.result(row, 0) = result;
    kernel.report(row, is_finite_number(result));
    return {};
  }
};

struct MomentsOfRows {
  static constexpr bool rewrites = false;
  static constexpr bool uses_other = false;
  using Chunks = MomentsOfChunk<false>;
  using State = RowMoments;
  struct Final {};

  ReduceRows kernel;

  static constexpr const char* name() { return ReduceRows::name; }
  KILN_HD Elements value() const { return kernel.value; }
  KILN_HD Elements other() const { return {}; }
  KILN_HD Final finish(std::int64_t row, const State& state) const {
    const double mean = state.centre(), variance = state.variance();
    kernel.result(row, 0) = mean;
    kernel.result(row, 1) = variance;
    kernel.report(row, is_finite_number(mean) && is_finite_number(variance));
    return {};
  }
};

struct SoftmaxOfRows {
  static constexpr bool rewrites = true;
  static constexpr bool uses_other = false;
  using Chunks = SoftmaxOfChunk;
  using State = SoftmaxSum;
  struct Final {
    double largest = 0, sum = 0;  ///< a sum of 0: everything becomes 0
  };

  ReduceRows kernel;

  static constexpr const char* name() { return ReduceRows::name; }
  KILN_HD Elements value() const { return kernel.value; }
  KILN_HD Elements other() const { return {}; }
  KILN_HD Final finish(std::int64_t row, const State& state) const {
    const bool finite = is_finite_number(state.largest);
    kernel.report(row, finite);
    return {state.largest, finite ? state.sum : 0.0};
  }
  KILN_HD double rewrite(double x, const Final& of) const {
    return of.sum > 0 ? exact::div(SoftmaxSum::term(x, of.largest), of.sum) : 0.0;
  }
  KILN_HD View2<double> result() const { return kernel.result; }
};

struct StandardizedRows {
  static constexpr bool rewrites = true;
  static constexpr bool uses_other = false;
  using Chunks = MomentsOfChunk<true>;
  using State = RowMoments;
  struct Final {
    double mean = 0, divisor = 1;
  };

  Standardize kernel;

  static constexpr const char* name() { return Standardize::name; }
  KILN_HD Elements value() const { return kernel.value; }
  KILN_HD Elements other() const { return {}; }
  KILN_HD Final finish(std::int64_t row, const State& state) const {
    kernel.statistics(row, Standardize::mean) = state.centre();
    kernel.statistics(row, Standardize::deviation) = state.deviation();
    kernel.statistics(row, Standardize::count) = state.count;
    return given(row);
  }
  /// From statistics that are there.
  KILN_HD Final given(std::int64_t row) const {
    const double deviation = kernel.statistics(row, Standardize::deviation);
    return {kernel.statistics(row, Standardize::mean),
            kernel.divides && deviation > 0 ? deviation : 1.0};
  }
  KILN_HD double rewrite(double x, const Final& of) const {
    return is_finite_number(x) ? exact::div(exact::sub(x, of.mean), of.divisor) : 0.0;
  }
  KILN_HD View2<double> result() const { return kernel.result; }
};

/// The rows of A of a product with a column.
struct ProductOfRows {
  static constexpr bool rewrites = false;
  static constexpr bool uses_other = true;
  using Chunks = DotOfChunk;
  using State = CompensatedSum;
  struct Final {};

  Axpby kernel;

  static constexpr const char* name() { return Axpby::name; }
  KILN_HD Elements value() const { return kernel.a; }
  /// The column, beside each row.
  KILN_HD Elements other() const {
    return {kernel.x.data, ElementType::float64, kernel.a.rows, kernel.a.columns, 0};
  }
  KILN_HD Final finish(std::int64_t row, const State& state) const {
    kernel.update(row, state.value());
    return {};
  }
};

/// Calls run with the job of a reduction.
template <class Run>
void with_job(const ReduceRows& kernel, const Run& run) {
  switch (kernel.reduction) {
    case RowReduction::sum:
      return run(NumberOfRows<SumOfChunk, RowReduction::sum>{kernel});
    case RowReduction::dot:
      return run(NumberOfRows<DotOfChunk, RowReduction::dot>{kernel});
    case RowReduction::squared_norm:
      return run(NumberOfRows<SquaresOfChunk, RowReduction::squared_norm>{kernel});
    case RowReduction::norm:
      return run(NumberOfRows<NormOfChunk, RowReduction::norm>{kernel});
    case RowReduction::moments:
      return run(MomentsOfRows{kernel});
    case RowReduction::softmax:
      return run(SoftmaxOfRows{kernel});
  }
}

}  // namespace kiln
