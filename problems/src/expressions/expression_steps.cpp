// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_steps.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

namespace kiln::problems {
namespace {

using Op = ExpressionOp;
using Step = ExpressionStep;
using Action = Step::Action;

/// An instruction of a block: what it computes from the values of earlier ones.
struct Instruction {
  Op op;
  std::int32_t a, b;

  bool is_load() const { return op <= Op::table; }
  /// Number of values that it reads.
  int reads() const {
    if (is_load()) return 0;
    const bool two = op >= Op::add && op <= Op::atan2 && op != Op::square && op != Op::power_of;
    return two ? 2 : 1;
  }
};

class Steps {
 public:
  Steps(std::span<const std::int32_t> code, ExpressionProgram& program) : program_(program) {
    for (std::size_t k = 0; k < code.size(); k += 4) {
      code_.push_back({static_cast<Op>(code[k]), code[k + 1], code[k + 2]});
    }
    uses_.assign(code_.size(), 0);
    place_.assign(code_.size(), -1);
    for (const Instruction& one : code_) {
      if (one.reads() > 0) ++uses_[index(one.a)];
      if (one.reads() > 1) ++uses_[index(one.b)];
    }
    compute(static_cast<int>(code_.size()) - 1);
  }

 private:
  static std::size_t index(std::int32_t k) { return static_cast<std::size_t>(k); }

  // --- steps

  void push(Action action, Step::Operand operand, std::int32_t a, std::int32_t b) {
    const auto first = static_cast<std::int32_t>(Step::word(action, operand));
    program_.steps.insert(program_.steps.end(), {first, a, b, -1});
  }
  std::int32_t& word(int i) { return program_.steps[program_.steps.size() - 4 + index(i)]; }
  bool has(Step::Flag flag) { return (static_cast<unsigned>(word(0)) >> 16U & flag) != 0; }
  void set(Step::Flag flag) { word(0) |= static_cast<std::int32_t>(flag) << 16; }

  // The constants of the last step, made when the first is needed.
  double& constant(int i) {
    if (word(3) < 0) {
      word(3) = static_cast<std::int32_t>(program_.reals.size());
      program_.reals.insert(program_.reals.end(), {0, 1, 0, 1, 0});
    }
    return program_.reals[index(word(3) + i)];
  }
  // Once a value is kept, what follows needs another step.
  void another_step() { push(Action::take, Step::Operand::accumulator, 0, 0); }

  // --- values

  /// Whether value k is an operand as it is: a load, or a value that is kept.
  bool is_operand(std::int32_t k) const {
    return code_[index(k)].is_load() || place_[index(k)] >= 0;
  }

  void push_with(Action action, std::int32_t k) {
    const Instruction& one = code_[index(k)];
    if (!one.is_load()) {
      push(action, Step::Operand::kept, place_[index(k)], 0);
      release(k);
      return;
    }
    constexpr std::array operands{Step::Operand::variable, Step::Operand::variable_at,
                                  Step::Operand::result, Step::Operand::result_at,
                                  Step::Operand::table};
    push(action, operands[index(static_cast<std::int32_t>(one.op))], one.a, one.b);
  }

  /// Appends steps after which the accumulator is value k.
  void compute(std::int32_t k) {
    if (is_operand(k)) return push_with(Action::take, k);
    const Instruction& one = code_[index(k)];
    if (one.reads() == 2) {
      combine(one);
    } else if (one.op == Op::affine) {
      scale(one);
    } else if (one.op == Op::square) {
      compute(one.a);
      if (has(Step::squared) || has(Step::scaled_after_square) || has(Step::keeps)) another_step();
      set(Step::squared);
    } else {
      apply(one);
    }
    if (uses_[index(k)] < 2) return;
    keep(k);
    --uses_[index(k)];  // whoever asked reads the accumulator
  }

  void apply(const Instruction& one) {
    const Action action = Step::action_of(one.op);
    if (is_operand(one.a)) {
      push_with(action, one.a);
    } else {
      compute(one.a);
      push(action, Step::Operand::accumulator, 0, 0);
    }
    if (one.op != Op::power_of) return;
    const double exponent = program_.reals[index(one.b)];
    constant(4) = exponent;
  }

  void scale(const Instruction& one) {
    const double shift = program_.reals[index(one.b)], factor = program_.reals[index(one.b + 1)];
    compute(one.a);
    if (has(Step::scaled_after_square) || has(Step::keeps)) another_step();
    const bool first = !has(Step::scaled) && !has(Step::squared);
    set(first ? Step::scaled : Step::scaled_after_square);
    constant(first ? 0 : 2) = shift;
    constant(first ? 1 : 3) = factor;
  }

  void combine(const Instruction& one) {
    if (!is_operand(one.b) && is_operand(one.a)) {
      compute(one.b);
      return combine_with(one, one.a, true);
    }
    compute(one.a);
    if (is_operand(one.b)) return combine_with(one, one.b, false);
    if (place_[index(one.a)] < 0) {
      keep(one.a);
    } else {
      ++uses_[index(one.a)];  // is read from its place, because the accumulator goes on
    }
    compute(one.b);
    combine_with(one, one.a, true);
  }

  /// Combines the accumulator with value k. If they are swapped, the accumulator is the second.
  void combine_with(const Instruction& one, std::int32_t k, bool swapped) {
    switch (one.op) {
      case Op::add:
        return push_with(Action::add, k);
      case Op::multiply:
        return push_with(Action::multiply, k);
      case Op::subtract:
        return push_with(swapped ? Action::subtract_from : Action::subtract, k);
      case Op::divide:
        return push_with(swapped ? Action::divide_into : Action::divide, k);
      default:
        push_with(Step::action_of(one.op), k);
        if (swapped) set(Step::swapped);
    }
  }

  // --- places of kept values

  void keep(std::int32_t k) {
    if (has(Step::keeps)) another_step();
    std::size_t place = 0;
    while (place < taken_.size() && taken_[place]) ++place;
    if (place == taken_.size()) taken_.push_back(false);
    if (place >= ExpressionSteps::max_kept) {
      throw std::logic_error("a block of a formula keeps too many values");
    }
    taken_[place] = true;
    place_[index(k)] = static_cast<std::int32_t>(place);
    set(Step::keeps);
    word(0) = static_cast<std::int32_t>(static_cast<std::uint32_t>(word(0)) |
                                        static_cast<std::uint32_t>(place) << 24U);
  }

  /// A kept value has been read once more.
  void release(std::int32_t k) {
    if (--uses_[index(k)] > 0) return;
    taken_[index(place_[index(k)])] = false;
  }

  ExpressionProgram& program_;
  std::vector<Instruction> code_;
  std::vector<int> uses_;            // readings to come, of each value
  std::vector<std::int32_t> place_;  // of each value, if it is kept
  std::vector<bool> taken_;          // places
};

}  // namespace

void add_steps(ExpressionProgram& program) {
  constexpr std::size_t fields = ExpressionBlock::fields;
  for (std::size_t at = 0; at < program.layout.size(); at += fields) {
    const auto begin = static_cast<std::size_t>(program.layout[at]) * 4,
               end = static_cast<std::size_t>(program.layout[at + 1]) * 4;
    program.layout[at + 8] = static_cast<std::int32_t>(program.steps.size() / Step::words);
    Steps(std::span(program.code).subspan(begin, end - begin), program);
    program.layout[at + 9] = static_cast<std::int32_t>(program.steps.size() / Step::words);
  }
}

}  // namespace kiln::problems
