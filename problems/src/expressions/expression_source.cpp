// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "expressions/expression_program.hpp"

namespace kiln::problems {
namespace {

std::vector<std::int32_t> or_zero(std::vector<std::int32_t> values) {
  if (values.empty()) values.push_back(0);
  return values;
}

}  // namespace

std::shared_ptr<const CatalogDensitySource<Expression>> source_of(ExpressionProgram program) {
  auto source = std::make_shared<CatalogDensitySource<Expression>>(program.functor, false);
  source->array(&Expression::layout, std::move(program.layout))
      .array(&Expression::code, std::move(program.code))
      .array(&Expression::steps, std::move(program.steps))
      .array(&Expression::ints, or_zero(std::move(program.ints)))
      .array(&Expression::parts_begin, std::move(program.parts_begin))
      .array(&Expression::parts, or_zero(std::move(program.parts)));
  if (program.reals.empty()) program.reals.push_back(0);
  source->array(&Expression::reals, std::move(program.reals));
  return source;
}

}  // namespace kiln::problems
