// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/math.hpp"
#include "kiln/device/team.hpp"
#include "kiln/problems/densities/expression_op.hpp"

namespace kiln {

/// One step of a program of values: fetches an operand y, combines it with the accumulator x, and
/// applies what its flags say.
struct ExpressionStep {
  /// Where y comes from.
  enum class Operand : std::uint8_t {
    variable,     ///< coordinate a + b * iteration
    kept,         ///< kept value a
    table,        ///< reals[a + b * iteration]
    accumulator,  ///< x
    variable_at,  ///< coordinate ints[a + iteration]
    result,       ///< result a + b * iteration of earlier blocks
    result_at,    ///< result ints[a + iteration]
  };
  /// The new x.
  enum class Action : std::uint8_t {
    take,  ///< y
    add,
    subtract,       ///< x - y
    subtract_from,  ///< y - x
    multiply,
    divide,       ///< x / y
    divide_into,  ///< y / x
    operation,    ///< and more: the ExpressionOp of number (action - operation), of x and y
  };
  enum Flag : std::uint8_t {
    scaled = 1,               ///< first: x = reals[constants] + reals[constants + 1] * x
    squared = 2,              ///< then x = x^2
    scaled_after_square = 4,  ///< then x = reals[constants + 2] + reals[constants + 3] * x
    keeps = 8,                ///< at last x is kept in the place of the step
    swapped = 16,             ///< an operation takes y before x
  };
  static constexpr int words = 4;  ///< first, a, b, constants

  std::uint32_t first;  ///< action, operand << 8, flags << 16, place << 24
  std::int32_t a, b;
  std::int32_t constants;  ///< of scales; reals[constants + 4] is the exponent of power_of

  static constexpr std::uint32_t word(Action action, Operand operand) {
    return static_cast<std::uint32_t>(action) | static_cast<std::uint32_t>(operand) << 8U;
  }
  static constexpr Action action_of(ExpressionOp op) {
    return static_cast<Action>(static_cast<int>(Action::operation) + static_cast<int>(op));
  }
  KILN_HD Action action() const { return static_cast<Action>(first & 0xFFU); }
  KILN_HD Operand operand() const { return static_cast<Operand>(first >> 8U & 0xFFU); }
  KILN_HD bool has(Flag flag) const { return (first >> 16U & flag) != 0; }
  KILN_HD int place() const { return static_cast<int>(first >> 24U); }
  KILN_HD ExpressionOp operation() const {
    return static_cast<ExpressionOp>((first & 0xFFU) - static_cast<unsigned>(Action::operation));
  }
};

/// The iterations first, first + step, ... of a block, `count` of them; none is behind `last`.
struct ExpressionIterations {
  int first, step, last, count;
};

/// The values of blocks, without their derivatives: a program for a machine with an accumulator
/// x, which needs few steps and keeps x in registers. A step is decoded once for several
/// iterations.
struct ExpressionSteps {
  /// Most values that a block keeps at once: each takes an instruction to be computed and one to be
  /// combined with the others, of Expression::max_code.
  static constexpr int max_kept = 32;

  const std::int32_t* steps;  ///< [steps][ExpressionStep::words]
  const std::int32_t* ints;
  const double* reals;

  /// Executes steps begin .. end - 1 for up to `w` iterations.
  template <int w>
  KILN_HD void run(int begin, int end, const ExpressionIterations& at, const double* variables,
                   const double* results, double (&x)[w]) const {
    double y[w], places[max_kept][w];
    each<w>(at, [&](int l, int) { x[l] = 0; });
    ExpressionStep next = step(begin);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int k = begin; k < end; ++k) {
      const ExpressionStep now = next;
      next = step(k + 1 < end ? k + 1 : k);  // early: its latency passes during this step
      fetch(now, at, variables, results, x, places, y);
      combine(now, at, x, y);
      finish(now, at, x);
      if (now.has(ExpressionStep::keeps)) {
        each<w>(at, [&](int l, int) { places[now.place()][l] = x[l]; });
      }
    }
  }

 private:
  KILN_HD ExpressionStep step(int k) const {
#if defined(__CUDA_ARCH__)
    const int4 words = reinterpret_cast<const int4*>(steps)[k];
    return {static_cast<std::uint32_t>(words.x), words.y, words.z, words.w};
#else
    const std::int32_t* words = steps + ExpressionStep::words * std::int64_t{k};
    return {static_cast<std::uint32_t>(words[0]), words[1], words[2], words[3]};
#endif
  }

  /// f(l, iteration). A GPU computes the last iteration again instead of branching.
  template <int w, class F>
  KILN_HD static void each(const ExpressionIterations& at, const F& f) {
#if defined(__CUDA_ARCH__)
    KILN_UNROLL
    for (int l = 0; l < w; ++l) {
      const int iteration = at.first + l * at.step;
      f(l, iteration < at.last ? iteration : at.last);
    }
#else
    for (int l = 0; l < at.count; ++l)
      f(l, at.first + l);  // a host's team is one thread: step is 1
#endif
  }

  template <int w>
  KILN_HD void fetch(const ExpressionStep& s, const ExpressionIterations& at,
                     const double* variables, const double* results, const double (&x)[w],
                     const double (&places)[max_kept][w], double (&y)[w]) const {
    using enum ExpressionStep::Operand;
    const int a = s.a, b = s.b;
    // In the order of their frequency: few cases are faster as comparisons than as a table.
    if (s.operand() == variable) {
      each<w>(at, [&](int l, int i) { y[l] = variables[a + b * i]; });
    } else if (s.operand() == kept) {
      each<w>(at, [&](int l, int) { y[l] = places[a][l]; });
    } else if (s.operand() == table) {
      each<w>(at, [&](int l, int i) { y[l] = reals[a + b * i]; });
    } else if (s.operand() == accumulator) {
      each<w>(at, [&](int l, int) { y[l] = x[l]; });
    } else if (s.operand() == variable_at) {
      each<w>(at, [&](int l, int i) { y[l] = variables[ints[a + i]]; });
    } else if (s.operand() == result) {
      each<w>(at, [&](int l, int i) { y[l] = results[a + b * i]; });
    } else {
      each<w>(at, [&](int l, int i) { y[l] = results[ints[a + i]]; });
    }
  }

  template <int w>
  KILN_HD void combine(const ExpressionStep& s, const ExpressionIterations& at, double (&x)[w],
                       const double (&y)[w]) const {
    using enum ExpressionStep::Action;
    if (s.action() == take) {
      each<w>(at, [&](int l, int) { x[l] = y[l]; });
    } else if (s.action() == add) {
      each<w>(at, [&](int l, int) { x[l] = x[l] + y[l]; });
    } else if (s.action() == subtract) {
      each<w>(at, [&](int l, int) { x[l] = x[l] - y[l]; });
    } else if (s.action() == subtract_from) {
      each<w>(at, [&](int l, int) { x[l] = y[l] - x[l]; });
    } else if (s.action() == multiply) {
      each<w>(at, [&](int l, int) { x[l] = x[l] * y[l]; });
    } else if (s.action() == divide) {
      each<w>(at, [&](int l, int) { x[l] = x[l] / y[l]; });
    } else if (s.action() == divide_into) {
      each<w>(at, [&](int l, int) { x[l] = y[l] / x[l]; });
    } else {
      const double exponent =
          s.operation() == ExpressionOp::power_of ? reals[s.constants + 4] : 0.0;
      const bool swapped = s.has(ExpressionStep::swapped);
      each<w>(at, [&](int l, int) {
        x[l] = expression_operation(s.operation(), swapped ? y[l] : x[l], swapped ? x[l] : y[l],
                                    exponent);
      });
    }
  }

  template <int w>
  KILN_HD void finish(const ExpressionStep& s, const ExpressionIterations& at,
                      double (&x)[w]) const {
    if (s.has(ExpressionStep::scaled)) {
      const double shift = reals[s.constants], scale = reals[s.constants + 1];
      each<w>(at, [&](int l, int) { x[l] = shift + scale * x[l]; });
    }
    if (s.has(ExpressionStep::squared)) {
      each<w>(at, [&](int l, int) { x[l] = x[l] * x[l]; });
    }
    if (s.has(ExpressionStep::scaled_after_square)) {
      const double shift = reals[s.constants + 2], scale = reals[s.constants + 3];
      each<w>(at, [&](int l, int) { x[l] = shift + scale * x[l]; });
    }
  }
};

}  // namespace kiln
