// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/densities/expression_op.hpp"

namespace kiln::problems {

/// A formula as it was written.
struct ExpressionNode {
  enum class Kind : std::uint8_t {
    number,
    name,      ///< `text`
    item,      ///< text[parts...]
    call,      ///< text(parts...)
    chain,     ///< parts[0] operators[1] parts[1] ..., of + and - or of * and /
    power,     ///< parts[0] ^ parts[1]
    negative,  ///< -parts[0]
    fold,      ///< sum or prod, by `text`, of parts[0] over `ranges`; without ranges: parts[0]
  };
  struct Range {
    std::string index;
    std::size_t column = 0;
    std::vector<ExpressionNode> bounds;  ///< from, to
    std::size_t level = 0;               ///< of the index, as resolve() finds it
  };

  Kind kind = Kind::number;
  std::size_t column = 0;  ///< in the text, from 1
  double number = 0;
  std::string text;
  std::string operators;  ///< of a chain; the first is + or *
  std::vector<Range> ranges;
  std::vector<ExpressionNode> parts;

  // As ExpressionScope::resolve() finds them.
  enum class Means : std::uint8_t { nothing, index, variable, data };
  Means means = Means::nothing;  ///< of a name or an item
  std::size_t which = 0;         ///< level of the index, number of the variable or of the array
  ExpressionOp op = {};          ///< of a call
  bool varies = false;           ///< with the variables
  std::uint32_t indices = 0;     ///< levels of the indices that it depends on, as bits
};

/// Reads
///
///     sum     = product { (+|-) product }
///     product = sign { (*|/) sign }
///     sign    = [+|-] sign | power
///     power   = value [ ^ sign ]
///     value   = number | name | name[sum, ...] | name(sum, ...) | (sum)
///             | (sum|prod)(name = sum..sum, ... , sum)
///
/// so that -x^2 is -(x^2) and 2^3^2 is 2^9.
/// @throws InvalidArgument `expr.syntax` with the column, and `expr.size` for a text of over 64 KiB
/// or of over 200 levels. Exported for the tests only; the header is not installed.
KILN_API ExpressionNode parse_expression(std::string_view text);

/// "column 12: MESSAGE", in all complaints about a formula.
[[noreturn]] void refuse_expression(const char* code, std::size_t column,
                                    const std::string& message, const std::string& expected = {},
                                    const std::string& fix = {});

/// Whether a text is of letters, digits and '_', no digit first.
bool is_expression_name(std::string_view text);

/// Most terms of all sums and products together.
inline constexpr std::int64_t max_terms = std::int64_t{1} << 22;
/// Most parts without variables that are computed when a formula is read: a few seconds.
inline constexpr std::int64_t max_steps = std::int64_t{1} << 28;
[[noreturn]] void refuse_terms(std::size_t column);

}  // namespace kiln::problems
