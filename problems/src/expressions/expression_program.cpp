// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "expressions/bounded_expression.hpp"
#include "expressions/expression_link.hpp"

namespace kiln::problems {
namespace {

using Indices = ExpressionScope::Indices;
using Kind = ExpressionNode::Kind;
using Means = ExpressionNode::Means;
using Op = ExpressionOp;

/// shift + scale times a register; without a register the number `shift`.
struct Value {
  int reg = -1;
  double scale = 1, shift = 0;
  bool is_number() const { return reg < 0; }
  bool is_plain() const { return reg >= 0 && scale == 1 && shift == 0; }
};

/// A block that is being compiled.
struct Block {
  std::vector<Indices> iterations;
  std::vector<std::array<std::int32_t, 4>> code = {};
  std::map<std::array<std::int32_t, 3>, int> known = {};  // instructions that need no second one
};

class Compiler {
 public:
  explicit Compiler(const ExpressionScope& scope) : scope_(scope) {}

  ExpressionProgram compile(const ExpressionNode& formula, bool negated) {
    Block last{{Indices{}}};
    Value value = value_of(formula, last);
    if (negated) value = scaled(value, -1, last);
    finish(last, in_register(value, last), {}, false);
    link_expression(program_, loads_, scope_.coordinates(), results_, memory_);
    return std::move(program_);
  }

 private:
  Value value_of(const ExpressionNode& node, Block& block) {
    column_ = node.column;
    const Value value = any_value_of(node, block);
    if (value.is_number() && !std::isfinite(value.shift)) refuse_value(node.column);
    return value;
  }

  Value any_value_of(const ExpressionNode& node, Block& block) {
    if (!node.varies) return table_of(node, block);
    switch (node.kind) {
      case Kind::name:
      case Kind::item:
        return variable(node, block);
      case Kind::negative:
        return scaled(value_of(node.parts[0], block), -1, block);
      case Kind::chain:
        return chain(node, block);
      case Kind::power:
        return power(value_of(node.parts[0], block), value_of(node.parts[1], block), block);
      case Kind::call:
        return call(node, block);
      default:
        return fold(node, block);
    }
  }

  // --- values without variables: a number, or one for each iteration

  Value table_of(const ExpressionNode& node, Block& block) {
    std::vector<double> values;
    values.reserve(block.iterations.size());
    for (Indices& indices : block.iterations) {
      values.push_back(scope_.value(node, indices, {}));
      if (!std::isfinite(values.back())) refuse_value(node.column);
    }
    // By their bits: atan2() tells 0 from -0.
    const auto differs = [&](double v) {
      return std::bit_cast<std::uint64_t>(v) != std::bit_cast<std::uint64_t>(values.front());
    };
    if (values.empty() || std::ranges::none_of(values, differs)) {
      return {-1, 1, values.empty() ? 0 : values.front()};
    }
    return {emit(block, Op::table, numbers(values), 1)};
  }

  // --- loads

  Value variable(const ExpressionNode& node, Block& block) {
    std::vector<std::int32_t> of;
    of.reserve(block.iterations.size());
    for (Indices& indices : block.iterations) of.push_back(scope_.coordinate(node, indices));
    return load(block, Op::variable, std::move(of), 0);
  }

  // Evenly spaced places need no list. A list is named by the operation that follows the other.
  Value load(Block& block, Op even, std::vector<std::int32_t> places, std::int32_t offset) {
    const std::int32_t first = places.front();
    const std::int32_t step = places.size() > 1 ? places[1] - first : 0;
    bool is_even = true;
    for (std::size_t i = 0; i < places.size() && is_even; ++i) {
      is_even = places[i] == first + step * static_cast<std::int32_t>(i);
    }
    Op op = even;
    std::int32_t a = first, b = step;
    if (!is_even) {
      op = static_cast<Op>(static_cast<std::int32_t>(even) + 1);
      a = list(places);
      b = 0;
    }
    const std::size_t before = block.code.size();
    const int reg = emit(block, op, a, b);
    if (block.code.size() > before) {
      block.code.back()[3] = take_memory(places.size());
      for (std::int32_t& place : places) place += offset;
      loads_.push_back({block.code.back()[3], std::move(places)});
    }
    return {reg};
  }

  std::int32_t list(const std::vector<std::int32_t>& values) {
    const auto [at, is_new] = lists_.try_emplace(values, program_.ints.size());
    if (is_new) program_.ints.insert(program_.ints.end(), values.begin(), values.end());
    return static_cast<std::int32_t>(at->second);
  }

  // Behind the results, whose number is known at the end alone.
  std::int32_t take_memory(std::size_t doubles) {
    const std::int32_t place = memory_;
    memory_ += static_cast<std::int32_t>(doubles);
    return place;
  }

  // --- arithmetic

  int emit(Block& block, Op op, std::int32_t a, std::int32_t b) {
    const auto [at, is_new] = block.known.try_emplace({static_cast<std::int32_t>(op), a, b},
                                                      static_cast<int>(block.code.size()));
    if (is_new) block.code.push_back({static_cast<std::int32_t>(op), a, b, 0});
    return at->second;
  }

  std::int32_t numbers(const std::vector<double>& values) {
    std::vector<std::uint64_t> bits;
    bits.reserve(values.size());
    for (const double value : values) {
      if (!std::isfinite(value)) refuse_value(column_);
      bits.push_back(std::bit_cast<std::uint64_t>(value));
    }
    const auto [at, is_new] = tables_.try_emplace(std::move(bits), program_.reals.size());
    if (is_new) program_.reals.insert(program_.reals.end(), values.begin(), values.end());
    return static_cast<std::int32_t>(at->second);
  }

  [[noreturn]] static void refuse_value(std::size_t column) {
    refuse_expression("expr.value", column, "this part is always infinite or not a number");
  }

  int in_register(const Value& value, Block& block) {
    if (value.is_number()) return emit(block, Op::table, numbers({value.shift}), 0);
    if (value.is_plain()) return value.reg;
    return emit(block, Op::affine, value.reg, numbers({value.shift, value.scale}));
  }

  // Rounds as the formula does: at most one product and then one sum are put together.
  Value scaled(Value value, double by, Block& block) {
    if (value.is_number()) return {-1, 1, value.shift * by};
    if (value.shift == 0 && (value.scale == 1 || by == -1)) {
      value.scale *= by;
      return value;
    }
    return {in_register(value, block), by};
  }

  Value shifted(Value value, double by, Block& block) {
    if (value.is_number()) return {-1, 1, value.shift + by};
    if (value.shift != 0) value = {in_register(value, block)};
    value.shift = by;
    return value;
  }

  Value chain(const ExpressionNode& node, Block& block) {
    Value all = value_of(node.parts[0], block);
    for (std::size_t k = 1; k < node.parts.size(); ++k) {
      const Value part = value_of(node.parts[k], block);
      switch (node.operators[k]) {
        case '+':
          all = sum(all, part, block);
          break;
        case '-':
          all = difference(all, part, block);
          break;
        case '*':
          all = product(all, part, block);
          break;
        default:
          all = quotient(all, part, block);
      }
    }
    return all;
  }

  Value sum(const Value& a, const Value& b, Block& block) {
    if (b.is_number()) return shifted(a, b.shift, block);
    if (a.is_number()) return shifted(b, a.shift, block);
    if (b.scale == -1 && b.shift == 0) {
      return {emit(block, Op::subtract, in_register(a, block), b.reg)};
    }
    return {emit(block, Op::add, in_register(a, block), in_register(b, block))};
  }

  Value difference(const Value& a, const Value& b, Block& block) {
    if (b.is_number()) return shifted(a, -b.shift, block);
    if (a.is_number()) return shifted(scaled(b, -1, block), a.shift, block);
    return {emit(block, Op::subtract, in_register(a, block), in_register(b, block))};
  }

  Value product(const Value& a, const Value& b, Block& block) {
    if (b.is_number()) return scaled(a, b.shift, block);
    if (a.is_number()) return scaled(b, a.shift, block);
    const int x = in_register(a, block), y = in_register(b, block);
    return {x == y ? emit(block, Op::square, x, 0) : emit(block, Op::multiply, x, y)};
  }

  Value quotient(const Value& a, const Value& b, Block& block) {
    if (a.is_number() && b.is_number()) return {-1, 1, a.shift / b.shift};
    int exponent = 0;
    if (b.is_number() && std::abs(std::frexp(b.shift, &exponent)) == 0.5 &&
        std::isfinite(1 / b.shift)) {
      return scaled(a, 1 / b.shift, block);
    }
    return {emit(block, Op::divide, in_register(a, block), in_register(b, block))};
  }

  Value power(const Value& base, const Value& exponent, Block& block) {
    if (!exponent.is_number()) {
      return {emit(block, Op::power, in_register(base, block), in_register(exponent, block))};
    }
    const double n = exponent.shift;
    if (base.is_number()) return {-1, 1, std::pow(base.shift, n)};
    if (n == 0) return {-1, 1, 1};
    if (n == 1) return base;
    const int x = in_register(base, block);
    if (n == 0.5) return {emit(block, Op::sqrt, x, 0)};
    if (n == 2) return {emit(block, Op::square, x, 0)};
    if (n == 3) return {emit(block, Op::multiply, emit(block, Op::square, x, 0), x)};
    if (n == 4) return {emit(block, Op::square, emit(block, Op::square, x, 0), 0)};
    return {emit(block, Op::power_of, x, numbers({n}))};
  }

  Value call(const ExpressionNode& node, Block& block) {
    const Op op = node.op;
    Value all = value_of(node.parts[0], block);
    if (node.parts.size() == 1) return {emit(block, op, in_register(all, block), 0)};
    if (op == Op::power) return power(all, value_of(node.parts[1], block), block);
    for (std::size_t k = 1; k < node.parts.size(); ++k) {
      const Value part = value_of(node.parts[k], block);
      all = {emit(block, op, in_register(all, block), in_register(part, block))};
    }
    return all;
  }

  // --- sums and products

  Value fold(const ExpressionNode& node, Block& block) {
    // Of the iterations of the block those that the fold tells apart, each with its segment.
    std::map<std::vector<std::int32_t>, std::int32_t> segment_of;
    std::vector<Indices> outer;
    std::vector<std::int32_t> places;
    for (const Indices& indices : block.iterations) {
      std::vector<std::int32_t> key;
      for (std::size_t level = 0; level < indices.size(); ++level) {
        if ((node.indices >> level & 1U) != 0) key.push_back(indices[level]);
      }
      const auto [at, is_new] =
          segment_of.try_emplace(std::move(key), static_cast<std::int32_t>(outer.size()));
      if (is_new) outer.push_back(indices);
      places.push_back(at->second);
    }
    Block inner;
    std::vector<std::int32_t> begins{0};
    for (Indices& indices : outer) {
      unfold(node, 0, indices, inner);
      begins.push_back(static_cast<std::int32_t>(inner.iterations.size()));
    }
    const bool is_product = node.text == "prod";
    if (inner.iterations.empty()) return {-1, 1, is_product ? 1.0 : 0.0};
    if (node.ranges.empty()) begins.clear();
    const Value value = value_of(node.parts[0], inner);
    const std::int32_t results = finish(inner, in_register(value, inner), begins, is_product);
    for (std::int32_t& place : places) place += results;
    return load(block, Op::result, std::move(places), scope_.coordinates());
  }

  void unfold(const ExpressionNode& node, std::size_t range, Indices& indices, Block& block) {
    if (range == node.ranges.size()) {
      if (node.ranges.empty() && ++iterations_ > max_terms) refuse_terms(node.column);
      return block.iterations.push_back(indices);
    }
    const auto ends = scope_.bounds(node.ranges[range], indices);
    if (!ends) return;
    for (std::int32_t i = (*ends)[0]; i <= (*ends)[1]; ++i) {
      if (++iterations_ > max_terms) refuse_terms(node.column);
      indices[node.ranges[range].level] = i;
      unfold(node, range + 1, indices, block);
    }
  }

  // Adds the block to the program, and returns the number of its first result.
  std::int32_t finish(Block& block, int value, const std::vector<std::int32_t>& begins,
                      bool is_product) {
    if (value + 1 < static_cast<int>(block.code.size())) {
      block.code.push_back({static_cast<std::int32_t>(Op::affine), value, numbers({0.0, 1.0}), 0});
    }
    if (block.code.size() > Expression::max_code) {
      throw std::logic_error("a block of a formula is too long");
    }
    const auto begin = static_cast<std::int32_t>(program_.code.size() / 4);
    for (const auto& one : block.code) {
      program_.code.insert(program_.code.end(), one.begin(), one.end());
    }
    const auto iterations = static_cast<std::int32_t>(block.iterations.size());
    const std::int32_t segments =
        begins.empty() ? iterations : static_cast<std::int32_t>(begins.size()) - 1;
    const std::int32_t factors =
        is_product ? take_memory(2 * static_cast<std::size_t>(segments)) : 0;
    const std::int32_t first = results_;
    results_ += segments;
    for (const std::int32_t field :
         {begin, static_cast<std::int32_t>(program_.code.size() / 4), iterations, segments,
          begins.empty() ? -1 : list(begins), is_product ? 1 : 0, first, factors, 0, 0}) {
      program_.layout.push_back(field);
    }
    return first;
  }

  const ExpressionScope& scope_;
  ExpressionProgram program_;
  std::vector<ExpressionLoad> loads_;
  std::map<std::vector<std::uint64_t>, std::size_t> tables_;  // bits of numbers, in reals
  std::map<std::vector<std::int32_t>, std::size_t> lists_;    // in ints
  std::int32_t results_ = 0, memory_ = 0;
  std::int64_t iterations_ = 0;
  std::size_t column_ = 1;  // of what is compiled
};

/// Parts without variables are sums of numbers, which must end, too.
struct LimitedTerms {
  explicit LimitedTerms(const ExpressionScope& of) : scope(of) {
    scope.limit(max_terms, max_steps);
  }
  ~LimitedTerms() { scope.limit(-1, -1); }
  LimitedTerms(const LimitedTerms&) = delete;
  LimitedTerms& operator=(const LimitedTerms&) = delete;
  const ExpressionScope& scope;
};

}  // namespace

ExpressionProgram compile_expression(const ExpressionScope& scope, ExpressionNode formula,
                                     bool negated) {
  bound_expression(formula);
  const LimitedTerms limited(scope);
  return Compiler(scope).compile(formula, negated);
}

}  // namespace kiln::problems
