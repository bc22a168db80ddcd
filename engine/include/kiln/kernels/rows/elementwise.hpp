// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rows/row_states.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/rows/elements.hpp"
#include "kiln/kernels/rows/kernels.hpp"

namespace kiln {

enum class ElementStageKind : std::int32_t {
  add,             ///< x + operand
  multiply,        ///< x operand
  exponential,     ///< e^x, by exact::exp
  round_half,      ///< the nearest half
  round_bfloat16,  ///< the nearest bfloat16
};

/// A stage of Elementwise. The operand is a matrix, or a number if the matrix has no data.
struct ElementStage {
  ElementStageKind kind = ElementStageKind::add;
  double number = 0;
  Elements matrix = {};  ///< [rows][columns]; strides and steps of 0 repeat a row or a number

  KILN_HD double apply(double x, double operand) const {
    switch (kind) {
      case ElementStageKind::add:
        return exact::add(x, operand);
      case ElementStageKind::multiply:
        return exact::mul(x, operand);
      case ElementStageKind::exponential:
        return exact::exp(x);
      case ElementStageKind::round_half:
        return widen_half(kiln::round_half(x));
      case ElementStageKind::round_bfloat16:
        return widen_bfloat16(kiln::round_bfloat16(x));
    }
    return x;
  }
};

/// Takes each element of a matrix through a chain of stages, in one pass.
///
/// An element is widened to double, exactly, goes through the stages in double, and is rounded once
/// to the type of the result: to nearest, of two to the even one, infinite beyond the largest.
/// Without stages the kernel converts between types. All results of NaN are the same NaN. Class E.
struct KILN_API Elementwise {
  static constexpr const char* name = "elementwise";
  static constexpr const char* summary =
      "takes each element of a matrix through a chain of stages, and converts types";
  static constexpr int max_stages = 8;
  static constexpr const char* refusal =
      "elementwise takes at most 8 stages, and matrices and a result as large as the value";

  Elements value;          ///< [rows][columns]
  MutableElements result;  ///< [rows][columns]; may be `value` where the type is the same
  ElementStage stages[max_stages];
  int count = 0;  ///< of stages

  Elementwise() = default;
  Elementwise(Elements value_, MutableElements result_) : value(value_), result(result_) {}
  /// Appends a stage. With more than max_stages a launch is refused.
  Elementwise& then(const ElementStage& stage) {
    if (count < max_stages) stages[count] = stage;
    ++count;
    return *this;
  }
  Elementwise& add(double number) { return then({ElementStageKind::add, number}); }
  Elementwise& add(Elements matrix) { return then({ElementStageKind::add, 0, matrix}); }
  Elementwise& multiply(double number) { return then({ElementStageKind::multiply, number}); }
  Elementwise& multiply(Elements matrix) { return then({ElementStageKind::multiply, 0, matrix}); }

  bool valid() const {
    const auto fits = [this](const auto& matrix) {
      return matrix.rows == value.rows && matrix.columns == value.columns;
    };
    bool all = count >= 0 && count <= max_stages && fits(result);
    for (int s = 0; s < count && all; ++s) all = !stages[s].matrix || fits(stages[s].matrix);
    return all;
  }
  KILN_HD double evaluate(double x, std::int64_t row, std::int64_t column) const {
    for (int s = 0; s < count; ++s) {
      const ElementStage& stage = stages[s];
      x = stage.apply(x, stage.matrix ? stage.matrix(row, column) : stage.number);
    }
    return canonical(x);
  }
  double bytes() const {
    double all = value.bytes() + result.bytes();
    for (int s = 0; s < count; ++s) all += stages[s].matrix.bytes();
    return all;
  }
};

}  // namespace kiln
