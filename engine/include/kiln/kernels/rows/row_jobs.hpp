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
    double mean = 0, rest = 0;  ///< their sum is the mean
    double divisor = 1;
    double inverse = 0;  ///< of the divisor, if that is a normal number by far
  };

  Standardize kernel;

  static constexpr const char* name() { return Standardize::name; }
  KILN_HD Elements value() const { return kernel.value; }
  KILN_HD Elements other() const { return {}; }
  KILN_HD Final finish(std::int64_t row, const State& state) const {
    kernel.statistics(row, Standardize::mean) = state.centre();
    kernel.statistics(row, Standardize::deviation) = state.deviation();
    kernel.statistics(row, Standardize::count) = state.count;
    Final of = given(row);
    const double unit = RowMoments::power(state.exponent);
    const double exact_rest =
        exact::add(exact::sub(exact::mul(state.mean, unit), of.mean), exact::mul(state.rest, unit));
    of.rest = is_finite_number(exact_rest) ? exact_rest : 0.0;
    return of;
  }
  /// From statistics that are there: the mean is one double.
  KILN_HD Final given(std::int64_t row) const {
    const double deviation = kernel.statistics(row, Standardize::deviation);
    Final of;
    of.mean = kernel.statistics(row, Standardize::mean);
    if (kernel.divides && deviation > 0) of.divisor = deviation;
    const bool normal = of.divisor > 0x1p-1000 && of.divisor < 0x1p1000;
    of.inverse = normal ? exact::div(1.0, of.divisor) : 0.0;
    return of;
  }
  KILN_HD double rewrite(double x, const Final& of) const {
    if (!is_finite_number(x)) return 0;
    const double away = exact::sub(exact::sub(x, of.mean), of.rest);
    if (of.inverse > 0) return exact::mul(away, of.inverse);
    if (is_finite_number(away)) return exact::div(away, of.divisor);
    // A difference beyond the largest double, of quarters.
    const double quarter = exact::sub(exact::mul(x, 0.25), exact::mul(of.mean, 0.25));
    return exact::div(quarter, exact::mul(of.divisor, 0.25));
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
