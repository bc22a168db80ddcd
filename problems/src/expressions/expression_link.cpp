// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_link.hpp"

#include <cstddef>

#include "expressions/expression_steps.hpp"

namespace kiln::problems {
namespace {

void list_parts(ExpressionProgram& program, std::span<const ExpressionLoad> loads) {
  const Expression& f = program.functor;
  std::vector<std::int32_t>& begin = program.parts_begin;
  begin.assign(static_cast<std::size_t>(f.n + f.results) + 1, 0);
  for (const ExpressionLoad& load : loads) {
    for (const std::int32_t of : load.of) ++begin[static_cast<std::size_t>(of) + 1];
  }
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  program.parts.resize(static_cast<std::size_t>(begin.back()));
  std::vector<std::int32_t> next = begin;
  for (const ExpressionLoad& load : loads) {
    for (std::size_t i = 0; i < load.of.size(); ++i) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(load.of[i])]++);
      program.parts[at] = f.results + load.place + static_cast<std::int32_t>(i);
    }
  }
}

}  // namespace

void link_expression(ExpressionProgram& program, std::span<const ExpressionLoad> loads,
                     std::int32_t coordinates, std::int32_t results, std::int32_t memory) {
  Expression& f = program.functor;
  f.n = coordinates;
  f.blocks = static_cast<int>(program.layout.size()) / ExpressionBlock::fields;
  f.results = results;
  f.memory = results + memory;
  for (int b = 0; b < f.blocks; ++b) {
    const auto at = static_cast<std::size_t>(b) * ExpressionBlock::fields;
    if (program.layout[at + 5] != 0) program.layout[at + 7] += results;
  }
  for (std::size_t k = 0; k < program.code.size(); k += 4) {
    if (static_cast<ExpressionOp>(program.code[k]) < ExpressionOp::table) {
      program.code[k + 3] += results;
    }
  }
  add_steps(program);
  list_parts(program, loads);
}

}  // namespace kiln::problems
