// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/objectives/catalog_density.hpp"
#include "kiln/problems/densities/expression.hpp"

#include "expressions/expression_program.hpp"

namespace kiln::test {

using ExpressionSource = CatalogDensitySource<Expression>;

/// The density of a formula without data.
inline std::shared_ptr<const ExpressionSource> expression_source(
    const std::string& formula, const std::vector<problems::ExpressionVariable>& variables) {
  const problems::ExpressionScope scope(variables, nullptr);
  problems::ExpressionNode node = problems::parse_expression(formula);
  scope.resolve(node);
  return problems::source_of(problems::compile_expression(scope, std::move(node), false));
}

}  // namespace kiln::test
