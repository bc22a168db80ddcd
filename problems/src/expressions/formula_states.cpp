// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/formula_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/track_best.hpp"
#include "kiln/options.hpp"

#include "expressions/expression_variables.hpp"

namespace kiln::problems {
namespace {

Block block_of(const ExpressionVariable& variable) {
  switch (variable.kind) {
    case ExpressionVariable::Kind::real:
      return {BlockKind::real};
    case ExpressionVariable::Kind::binary:
      return {BlockKind::binary, 0, 0, 1};
    default:
      return {BlockKind::integer, 0, variable.lower, variable.upper};
  }
}

bool share(const Block& a, const Block& b) {
  const bool same_bounds = a.lower == b.lower && a.upper == b.upper;
  return a.kind == b.kind && (a.kind != BlockKind::integer || same_bounds);
}

struct Filled {
  Block block;
  std::vector<std::size_t> coordinates;
};

void close_box(Block& block) {
  block.count = std::ssize(block.box);
  block.lower = std::ranges::min_element(block.box, {}, &Bounds::lower)->lower;
  block.upper = std::ranges::max_element(block.box, {}, &Bounds::upper)->upper;
}

}  // namespace

FormulaStates::FormulaStates(const std::vector<ExpressionVariable>& variables)
    : names_(expression_coordinates(variables)) {
  std::vector<Filled> all;
  std::size_t coordinate = 0;
  for (const ExpressionVariable& one : variables) {
    const Block wanted = block_of(one);
    auto found = std::ranges::find_if(
        all, [&](const Filled& filled) { return share(filled.block, wanted); });
    if (found == all.end()) found = all.insert(all.end(), {wanted, {}});
    for (std::int64_t k = 0; k < one.elements(); ++k) {
      found->coordinates.push_back(coordinate++);
      if (wanted.kind == BlockKind::real) found->block.box.push_back({one.lower, one.upper});
    }
  }
  if (all.size() > TrackBest::max_blocks) {
    throw InvalidArgument("expr.variables",
                          "the variables form " + std::to_string(all.size()) + " blocks",
                          "at most " + std::to_string(TrackBest::max_blocks) +
                              " blocks: integers of the same bounds share a block, all reals "
                              "share a block, and all binary variables share a block");
  }
  std::vector<Block> blocks;
  for (Filled& filled : all) {
    filled.block.count = std::ssize(filled.coordinates);
    if (filled.block.kind == BlockKind::real) close_box(filled.block);
    blocks.push_back(std::move(filled.block));
    coordinate_at_.insert(coordinate_at_.end(), filled.coordinates.begin(),
                          filled.coordinates.end());
  }
  space_ = Space(std::move(blocks));
}

std::vector<double> FormulaStates::point_of(StateSpan state) const {
  std::vector<double> point(coordinate_at_.size());
  std::size_t place = 0;
  for (const BlockSpan& block : state) {
    std::visit(
        [&](auto values) {
          for (const auto value : values) point[coordinate_at_[place++]] = value;
        },
        block);
  }
  return point;
}

State FormulaStates::state_of(std::span<const double> point) const {
  State state;
  std::size_t place = 0;
  for (const Block& block : space_.blocks()) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::size_t coordinate = coordinate_at_[place++];
      const double value = point[coordinate];
      const Bounds bounds = block.bounds(i);
      const bool whole = block.kind == BlockKind::real || value == std::floor(value);
      if (!whole || !(value >= bounds.lower && value <= bounds.upper)) {
        throw InvalidArgument("state.value", kiln::detail::show_real(value) +
                                                 " is not a value of the variable '" +
                                                 names_[coordinate] + "'");
      }
      values.push_back(value);
    }
    if (block.kind == BlockKind::real) {
      state.emplace_back(std::move(values));
    } else if (block.kind == BlockKind::binary) {
      state.emplace_back(std::vector<std::int8_t>(values.begin(), values.end()));
    } else {
      state.emplace_back(std::vector<std::int32_t>(values.begin(), values.end()));
    }
  }
  return state;
}

void name_states(Problem& problem, const std::shared_ptr<const FormulaStates>& states) {
  for (const std::size_t coordinate : states->coordinate_at()) {
    problem.coordinates.push_back({.name = states->names()[coordinate]});
  }
  problem.solution.format = [states](StateSpan state) {
    std::string text;
    const std::vector<double> x = states->point_of(state);
    for (std::size_t i = 0; i < x.size(); ++i) {
      text += kiln::detail::show_real(x[i]) + "  # " + states->names()[i] + "\n";
    }
    return text;
  };
}

}  // namespace kiln::problems
