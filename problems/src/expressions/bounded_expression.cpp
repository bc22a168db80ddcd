// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/bounded_expression.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "kiln/problems/densities/expression.hpp"

namespace kiln::problems {
namespace {

using Kind = ExpressionNode::Kind;

// Of an operation: itself, a sum or product of a part with a number, and a number in a register.
constexpr int of_operation = 3;
// A value is put into a register, and stands at the end.
constexpr int most = Expression::max_code - 2;

// Its own block, one instruction for the others.
void cut(ExpressionNode& node) {
  ExpressionNode whole;
  whole.kind = Kind::fold;
  whole.text = "sum";
  whole.column = node.column;
  whole.varies = node.varies;
  whole.indices = node.indices;
  whole.parts.push_back(std::move(node));
  node = std::move(whole);
}

int bound(ExpressionNode& node);

// The first parts of a chain become a chain in its first place, until the rest is short.
int bound_chain(ExpressionNode& node, std::vector<int> sizes) {
  const auto cost = [&](std::size_t k) { return sizes[k] + of_operation; };
  for (;;) {
    int all = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) all += cost(k);
    if (all <= most) return all;
    std::size_t count = 0;
    int size = 0;
    while (count < sizes.size() && size + cost(count) <= most) size += cost(count++);
    if (count < 2) {  // a long first part, or a long second one
      const std::size_t longest = sizes[0] >= sizes[1] ? 0 : 1;
      cut(node.parts[longest]);
      sizes[longest] = 1;
      continue;
    }
    ExpressionNode head;
    head.kind = Kind::chain;
    head.column = node.column;
    head.operators = node.operators.substr(0, count);
    const auto end = node.parts.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(node.parts.begin(), end, std::back_inserter(head.parts));
    for (const ExpressionNode& part : head.parts) {
      head.varies |= part.varies;
      head.indices |= part.indices;
    }
    cut(head);
    node.parts.erase(node.parts.begin() + 1, end);
    node.parts.front() = std::move(head);
    node.operators.erase(1, count - 1);
    sizes.erase(sizes.begin() + 1, sizes.begin() + static_cast<std::ptrdiff_t>(count));
    sizes.front() = 1;
  }
}

// Returns the instructions that the node takes in the block of its surroundings, at most `most`.
int bound(ExpressionNode& node) {
  if (!node.varies) return 1;
  if (node.kind == Kind::name || node.kind == Kind::item) return 1;
  std::vector<int> sizes;
  for (ExpressionNode& part : node.parts) sizes.push_back(bound(part));
  if (node.kind == Kind::fold) return 1;
  // A chain of two and more; a call may have as many arguments.
  if (node.kind == Kind::chain) return bound_chain(node, std::move(sizes));
  for (;;) {
    int all = of_operation;
    for (const int size : sizes) all += size + of_operation;
    if (all <= most) return all;
    const auto longest = std::ranges::max_element(sizes);
    if (*longest == 1) return all;  // more arguments than a block has room for
    cut(node.parts[static_cast<std::size_t>(longest - sizes.begin())]);
    *longest = 1;
  }
}

}  // namespace

void bound_expression(ExpressionNode& formula) { bound(formula); }

}  // namespace kiln::problems
