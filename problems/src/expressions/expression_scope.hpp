// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/problems/expression.hpp"
#include "kiln/problems/model_data.hpp"

#include "expressions/expression_functions.hpp"
#include "expressions/expression_text.hpp"

namespace kiln::problems {

/// What the names of a formula stand for. Exported for the tests only.
class KILN_API ExpressionScope {
 public:
  /// Sums in sums.
  static constexpr std::size_t max_levels = 16;
  using Indices = std::array<std::int32_t, max_levels>;

  /// The variables and data must outlive it; data may be null.
  ExpressionScope(std::span<const ExpressionVariable> variables, const ModelData* data);

  /// Finds what each name means. @throws InvalidArgument `expr.name`, `expr.call`, `expr.index`
  /// and others with the column of the first that means nothing
  void resolve(ExpressionNode& node) const;
  /// The first variable that none of the formulas has; null: they have all.
  const ExpressionVariable* unused(std::span<const ExpressionNode* const> formulas) const;

  /// The value by the formula as it stands, for verification and for parts that do not vary.
  /// @param x  [coordinates()]; empty for parts that do not vary
  double value(const ExpressionNode& node, Indices& indices, std::span<const double> x) const;
  /// The coordinate of a name or an item that means a variable.
  std::int32_t coordinate(const ExpressionNode& node, Indices& indices) const;
  /// From and to of a range; none if it is empty.
  std::optional<std::array<std::int32_t, 2>> bounds(const ExpressionNode::Range& range,
                                                    Indices& indices) const;
  /// Parts of formulas that value() may still compute, see limit().
  std::int64_t steps_left() const noexcept { return steps_left_; }
  std::int32_t coordinates() const noexcept { return coordinates_; }
  /// From now on value() refuses (`expr.size`) after so many terms of sums, or parts of formulas;
  /// negative: never.
  void limit(std::int64_t terms, std::int64_t steps) const noexcept {
    terms_left_ = terms;
    steps_left_ = steps;
  }

 private:
  using Shape = std::vector<std::int64_t>;
  void resolve(ExpressionNode& node, std::vector<std::string>& levels) const;
  void resolve_name(ExpressionNode& node, const std::vector<std::string>& levels) const;
  void resolve_call(ExpressionNode& node) const;
  [[noreturn]] void refuse_name(const ExpressionNode& node,
                                const std::vector<std::string>& levels) const;
  [[noreturn]] void refuse_call(const ExpressionNode& node) const;
  void resolve_fold(ExpressionNode& node, std::vector<std::string>& levels) const;
  const Shape& shape_of(const ExpressionNode& node) const;
  std::int64_t place(const ExpressionNode& node, Indices& indices) const;
  double call(const ExpressionNode& node, Indices& indices, std::span<const double> x) const;
  void fold(const ExpressionNode& node, std::size_t range, Indices& indices,
            std::span<const double> x, double& result) const;
  std::string known_names(const std::vector<std::string>& levels, const std::string& name) const;

  std::span<const ExpressionVariable> variables_;
  std::vector<std::int32_t> offsets_;  // of variables, among the coordinates
  std::vector<const DataArray*> data_;
  std::int32_t coordinates_ = 0;
  mutable std::int64_t terms_left_ = -1, steps_left_ = -1;
};

}  // namespace kiln::problems
