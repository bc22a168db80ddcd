// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"
#include "kiln/problems/densities/expression_op.hpp"
#include "kiln/problems/densities/expression_steps.hpp"

namespace kiln {

/// A few instructions that are executed for a number of iterations, whose values are summed or
/// multiplied in segments. The results of a block are inputs of later ones; the last block has one
/// iteration and the value of the expression.
struct ExpressionBlock {
  std::int32_t code_begin = 0, code_end = 0;  ///< instructions; the last has the value
  std::int32_t iterations = 0, segments = 0;
  std::int32_t begins = -1;  ///< in ints, [segments + 1] iterations; -1: one for each segment
  std::int32_t product = 0;  ///< 1: the values are multiplied
  std::int32_t results = 0;  ///< number of its first result
  std::int32_t factors = 0;  ///< in the work memory, [2][segments], of products
  std::int32_t step_begin = 0, step_end = 0;  ///< of the program of values
  static constexpr int fields = 10;
};

/// A formula that was given as text, as a program: all term, no base.
///
/// Each block has two forms. Its *steps* compute its values alone. Its *instructions*, of which
/// each has a value that later ones name, are what derivatives go back through.
///
/// Derivatives are those of reverse mode. Each load of a variable or of a result leaves its part of
/// the derivative in the work memory; whoever needs a derivative adds its parts in the order of
/// `parts`, without atomic additions, so that sums are reproducible.
/// @par Source  Griewank, Walther, Evaluating Derivatives (2008), chapter 3.
struct Expression {
  static constexpr const char* name = "expression";
  static constexpr int fixed_dimension = 0;
  static constexpr bool works_by_coordinates = true;
  /// Most instructions of a block.
  static constexpr int max_code = 64;
  /// Iterations of which a host thread and a GPU thread compute the values together: a step is
  /// decoded once for all of them.
  static constexpr int lanes = 16, lanes_of_gpu = 5;
  /// Results that a GPU thread that has a chain alone keeps in local memory.
  static constexpr int local_results = 8;

  int n = 0;  ///< variables
  int blocks = 0;
  int results = 0;  ///< of all blocks
  int memory = 0;   ///< doubles of work memory: results, factors of products, parts of derivatives
  const std::int32_t* layout = nullptr;  ///< [blocks][ExpressionBlock::fields]
  const std::int32_t* code = nullptr;    ///< [instructions][4]: operation, a, b, parts
  const std::int32_t* steps = nullptr;   ///< [steps][ExpressionStep::words]
  const std::int32_t* ints = nullptr;
  const double* reals = nullptr;
  const std::int32_t* parts_begin = nullptr;  ///< [n + results + 1], into `parts`
  const std::int32_t* parts = nullptr;        ///< places in the work memory

  KILN_HD int dimension() const { return n; }
  KILN_HD int workspace() const { return memory; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    if constexpr (wants_gradient(want)) {
      return {0, energy_and_gradient(team, at)};
    } else {
      return {0, energy(team, at)};
    }
  }

 private:
#if defined(__CUDA_ARCH__)
  static constexpr int width = 1, wide = lanes_of_gpu;
#else
  static constexpr int width = lanes, wide = lanes;
#endif

  KILN_HD ExpressionBlock block(int b) const {
    const std::int32_t* f = layout + b * ExpressionBlock::fields;
    return {f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9]};
  }
  KILN_HD int begin_of(const ExpressionBlock& b, int segment) const {
    return b.begins < 0 ? segment : ints[b.begins + segment];
  }
  /// By a variable (from 0) or by a result (from n).
  KILN_HD double derivative(int of, const DensityPoint& at) const {
    double sum = 0;
    for (int k = parts_begin[of]; k < parts_begin[of + 1]; ++k) sum += at.work[parts[k]];
    return sum;
  }

  template <class Team>
  KILN_HD double energy(const Team& team, const DensityPoint& at) const {
    double* results_of_blocks = at.work;
#if defined(__CUDA_ARCH__)
    double few[local_results];
    if constexpr (std::is_same_v<Team, SingleTeam>) {
      if (results <= local_results) results_of_blocks = few;
    }
#endif
    return forward<Want::energy>(team, blocks, at.x, results_of_blocks);
  }

  template <class Team>
  KILN_HD double energy_and_gradient(const Team& team, const DensityPoint& at) const {
    forward<Want::both>(team, blocks - 1, at.x, at.work);
    const ExpressionBlock last = block(blocks - 1);
    double value[max_code][1];
    run<1>(last, 0, 1, at, value);
    const double seed[1] = {at.weights.term};
    if (team.rank() == 0) back<1>(last, 0, 1, at, seed, value);
    team.sync();
    for (int b = blocks - 2; b >= 0; --b) {
      backward(team, block(b), at);
      team.sync();
    }
    for (int i = team.rank(); i < n; i += team.size()) at.gradient[i] = derivative(i, at);
    team.sync();
    return value[last.code_end - last.code_begin - 1][0];
  }

  /// Computes the results of blocks 0 .. count - 1. Returns the value of the last block of the
  /// program, if it is among them.
  template <Want want, class Team>
  KILN_HD double forward(const Team& team, int count, const double* x, double* work) const {
    const ExpressionSteps program{steps, ints, reals};
    double value[wide] = {};
    for (int index = 0; index < count; ++index) {
      const ExpressionBlock b = block(index);
      const bool is_last = index + 1 == blocks, folds = b.begins >= 0;
      // Long sums by all threads together, others by one each.
      const bool together = !folds || (b.product == 0 && b.segments < 8);
      const int step = together && !is_last ? team.size() : 1;
      for (int s = together ? 0 : team.rank(); s < (folds ? b.segments : 1);
           s += together ? 1 : team.size()) {
        const int begin = folds ? begin_of(b, s) : 0,
                  end = folds ? begin_of(b, s + 1) : b.iterations;
        Folded all;
        for (int first = begin + (step > 1 ? team.rank() : 0); first < end; first += step * wide) {
          program.run<wide>(b.step_begin, b.step_end,
                            {first, step, end - 1, smaller(wide, end - first)}, x, work, value);
          KILN_UNROLL
          for (int l = 0; l < wide; ++l) {
            const int iteration = first + l * step;
            if (iteration >= end) continue;
            if (folds) {
              all.template add<want>(value[l], b.product != 0);
            } else if (!is_last) {
              work[b.results + iteration] = value[l];
            }
          }
        }
        if (!folds) continue;
        if (together) all.sum = team.sum(all.sum);
        if (together && team.rank() != 0) continue;
        work[b.results + s] = b.product == 0 ? all.sum : all.whole;
        if (wants_gradient(want) && b.product != 0) {
          work[b.factors + s] = all.product;
          work[b.factors + b.segments + s] = all.zeros;
        }
      }
      team.sync();
    }
    return value[0];
  }

  /// The values of a segment, added or multiplied.
  struct Folded {
    double sum = 0, whole = 1;
    double product = 1, zeros = 0;  ///< of the values that are not 0, and their number

    template <Want want>
    KILN_HD void add(double v, bool multiplies) {
      if (!multiplies) {
        sum += v;
        return;
      }
      whole *= v;
      if constexpr (wants_gradient(want)) {
        product *= v == 0 ? 1.0 : v;
        zeros += v == 0 ? 1.0 : 0.0;
      }
    }
  };

  template <class Team>
  KILN_HD void backward(const Team& team, const ExpressionBlock& b, const DensityPoint& at) const {
    double value[max_code][width], seed[width];
    const int last = b.code_end - b.code_begin - 1;
    if (b.begins < 0) {
      for (int first = team.rank() * width; first < b.iterations; first += team.size() * width) {
        const int count = smaller(width, b.iterations - first);
        run<width>(b, first, count, at, value);
        each<width>(count, [&](int l) {
          seed[l] = derivative(n + b.results + first + smaller(l, count - 1), at);
        });
        back<width>(b, first, count, at, seed, value);
      }
      return;
    }
    const bool together = b.segments < 8;
    for (int s = together ? 0 : team.rank(); s < b.segments; s += together ? 1 : team.size()) {
      const int end = begin_of(b, s + 1), step = together ? team.size() * width : width;
      const double slope = derivative(n + b.results + s, at);
      for (int first = begin_of(b, s) + (together ? team.rank() * width : 0); first < end;
           first += step) {
        const int count = smaller(width, end - first);
        run<width>(b, first, count, at, value);
        each<width>(count, [&](int l) {
          seed[l] = b.product == 0 ? slope : slope * others(b, s, value[last][l], at);
        });
        back<width>(b, first, count, at, seed, value);
      }
    }
  }

  /// The product of the other values of a segment.
  KILN_HD double others(const ExpressionBlock& b, int segment, double v,
                        const DensityPoint& at) const {
    const double product = at.work[b.factors + segment];
    const double zeros = at.work[b.factors + b.segments + segment];
    if (zeros == 0) return product / v;
    return zeros == 1 && v == 0 ? product : 0.0;
  }

  KILN_HD static int smaller(int a, int b) { return a < b ? a : b; }

  struct Instruction {
    ExpressionOp op;
    std::int32_t a, b, part;
  };
  KILN_HD Instruction instruction(int k) const {
#if defined(__CUDA_ARCH__)
    const int4 words = reinterpret_cast<const int4*>(code)[k];
    return {static_cast<ExpressionOp>(words.x), words.y, words.z, words.w};
#else
    const std::int32_t* words = code + 4 * std::int64_t{k};
    return {static_cast<ExpressionOp>(words[0]), words[1], words[2], words[3]};
#endif
  }

  /// f(l) for each iteration. A GPU computes what is behind the last one, too, instead of
  /// branching.
  template <int w, class F>
  KILN_HD static void each(int count, const F& f) {
#if defined(__CUDA_ARCH__)
    KILN_UNROLL
    for (int l = 0; l < w; ++l) f(l);
#else
    for (int l = 0; l < count; ++l) f(l);
#endif
  }

  /// The values of all instructions in some iterations.
  template <int w>
  KILN_HD void run(const ExpressionBlock& b, int first, int count, const DensityPoint& at,
                   double (&value)[max_code][w]) const {
    for (int k = b.code_begin; k < b.code_end; ++k) {
      const Instruction c = instruction(k);
      step<w>(c.op, c.a, c.b, first, count, at, value, value[k - b.code_begin]);
    }
  }

  template <int w>
  KILN_HD void step(ExpressionOp op, int a, int b, int first, int count, const DensityPoint& at,
                    const double (&value)[max_code][w], double* to) const {
    const double *x = nullptr, *y = nullptr;
    if (op >= ExpressionOp::affine) x = value[a];
    if (op >= ExpressionOp::add && op <= ExpressionOp::atan2 && op != ExpressionOp::power_of &&
        op != ExpressionOp::square) {
      y = value[b];
    }
    const auto each_value = [&](const auto& f) { each<w>(count, [&](int l) { to[l] = f(l); }); };
    const auto at_iteration = [&](int l) { return first + smaller(l, count - 1); };
    switch (op) {
      case ExpressionOp::variable:
        return each_value([&](int l) { return at.x[a + b * at_iteration(l)]; });
      case ExpressionOp::variable_at:
        return each_value([&](int l) { return at.x[ints[a + at_iteration(l)]]; });
      case ExpressionOp::result:
        return each_value([&](int l) { return at.work[a + b * at_iteration(l)]; });
      case ExpressionOp::result_at:
        return each_value([&](int l) { return at.work[ints[a + at_iteration(l)]]; });
      case ExpressionOp::table:
        return each_value([&](int l) { return reals[a + b * at_iteration(l)]; });
      case ExpressionOp::affine: {
        const double shift = reals[b], scale = reals[b + 1];
        return each_value([&](int l) { return shift + scale * x[l]; });
      }
      case ExpressionOp::add:
        return each_value([&](int l) { return x[l] + y[l]; });
      case ExpressionOp::subtract:
        return each_value([&](int l) { return x[l] - y[l]; });
      case ExpressionOp::multiply:
        return each_value([&](int l) { return x[l] * y[l]; });
      case ExpressionOp::divide:
        return each_value([&](int l) { return x[l] / y[l]; });
      case ExpressionOp::square:
        return each_value([&](int l) { return x[l] * x[l]; });
      default: {
        const double exponent = op == ExpressionOp::power_of ? reals[b] : 0.0;
        const bool two = y != nullptr;
        return each_value([&](int l) {
          return expression_operation(op, two ? x[l] : 0.0, two ? y[l] : x[l], exponent);
        });
      }
    }
  }

  /// From the derivatives by the value of the block, in some iterations, to those by what it loads.
  template <int w>
  KILN_HD void back(const ExpressionBlock& b, int first, int count, const DensityPoint& at,
                    const double* seed, const double (&value)[max_code][w]) const {
    double slope[max_code][w];
    const int size = b.code_end - b.code_begin;
    for (int k = 0; k < size; ++k) {
      each<w>(count, [&](int l) { slope[k][l] = k == size - 1 ? seed[l] : 0.0; });
    }
    for (int k = size - 1; k >= 0; --k) {
      const Instruction c = instruction(b.code_begin + k);
      if (c.op < ExpressionOp::table) {
        each<w>(count, [&](int l) {
          if (l < count) at.work[c.part + first + l] = slope[k][l];
        });
      } else if (c.op > ExpressionOp::table) {
        step_back<w>(c.op, c.a, c.b, count, value, value[k], slope[k], slope);
      }
    }
  }

  template <int w>
  KILN_HD void step_back(ExpressionOp op, int a, int b, int count,
                         const double (&value)[max_code][w], const double* v, const double* by,
                         double (&slope)[max_code][w]) const {
    const double* x = value[a];
    const auto add = [&](int to, const auto& f) {
      // A part that has no effect has no derivative, even where it has none itself.
      each<w>(count, [&](int l) { slope[to][l] += by[l] == 0 ? 0.0 : by[l] * f(l); });
    };
    const auto one = [](int) { return 1.0; };
    switch (op) {
      case ExpressionOp::affine: {
        const double scale = reals[b + 1];
        return add(a, [&](int) { return scale; });
      }
      case ExpressionOp::add:
        add(a, one);
        return add(b, one);
      case ExpressionOp::subtract:
        add(a, one);
        return add(b, [](int) { return -1.0; });
      case ExpressionOp::multiply: {
        const double* y = value[b];
        add(a, [&](int l) { return y[l]; });
        return add(b, [&](int l) { return x[l]; });
      }
      case ExpressionOp::divide: {
        const double* y = value[b];
        add(a, [&](int l) { return 1 / y[l]; });
        return add(b, [&](int l) { return -v[l] / y[l]; });
      }
      case ExpressionOp::square:
        return add(a, [&](int l) { return 2 * x[l]; });
      case ExpressionOp::power: {
        const double* y = value[b];
        add(a, [&](int l) { return y[l] == 0 ? 0.0 : y[l] * math::pow(x[l], y[l] - 1); });
        return add(b, [&](int l) { return v[l] == 0 ? 0.0 : v[l] * math::log(x[l]); });
      }
      case ExpressionOp::power_of: {
        const double exponent = reals[b];
        return add(a, [&](int l) { return exponent * math::pow(x[l], exponent - 1); });
      }
      case ExpressionOp::minimum:
      case ExpressionOp::maximum: {
        const double* y = value[b];
        const bool is_minimum = op == ExpressionOp::minimum;
        const auto second = [&](int l) { return is_minimum ? y[l] < x[l] : y[l] > x[l]; };
        add(a, [&](int l) { return second(l) ? 0.0 : 1.0; });
        return add(b, [&](int l) { return second(l) ? 1.0 : 0.0; });
      }
      case ExpressionOp::atan2: {
        const double* y = value[b];
        add(a, [&](int l) { return y[l] / (x[l] * x[l] + y[l] * y[l]); });
        return add(b, [&](int l) { return -x[l] / (x[l] * x[l] + y[l] * y[l]); });
      }
      default:
        return add(a, [&](int l) { return expression_function_slope(op, x[l], v[l]); });
    }
  }
};

}  // namespace kiln
