// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "command_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/track_best.hpp"
#include "kiln/options.hpp"

namespace kiln::problems::detail {
namespace {

using Kind = CommandVariable::Kind;

Block block_of(const CommandVariable& variable) {
  if (variable.kind == Kind::real) return {BlockKind::real, 1, 0, 1};
  const BlockKind kind = variable.kind == Kind::integer ? BlockKind::integer : BlockKind::category;
  return {kind, 1, variable.lower, variable.upper};
}

}  // namespace

CommandStates::CommandStates(const std::vector<CommandVariable>& variables) {
  std::vector<Block> blocks;
  std::vector<std::vector<int>> of_block;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const Block block = block_of(variables[v]);
    const auto found = std::ranges::find_if(blocks, [&](const Block& b) {
      return b.kind == block.kind && b.lower == block.lower && b.upper == block.upper;
    });
    const auto at = static_cast<std::size_t>(found - blocks.begin());
    if (found == blocks.end()) {
      blocks.push_back(block);
      of_block.emplace_back();
    }
    blocks[at].count = static_cast<std::int64_t>(of_block[at].size()) + 1;
    of_block[at].push_back(static_cast<int>(v));
  }
  if (blocks.size() > TrackBest::max_blocks) {
    throw InvalidArgument("command.variables",
                          "the variables are of " + std::to_string(blocks.size()) + " sorts",
                          "at most " + std::to_string(TrackBest::max_blocks) +
                              ": integers of the same bounds are one, categories of as many "
                              "values, and all reals");
  }
  for (const auto& list : of_block) order_.insert(order_.end(), list.begin(), list.end());
  space_ = Space(std::move(blocks));
}

Numbers CommandStates::numbers_of(StateSpan state) {
  Numbers numbers;
  for (const BlockSpan& block : state) {
    std::visit([&](auto list) { numbers.insert(numbers.end(), list.begin(), list.end()); }, block);
  }
  return numbers;
}

State CommandStates::state_of(const Numbers& numbers) const {
  State state;
  std::size_t at = 0;
  for (const Block& block : space_.blocks()) {
    Numbers reals;
    std::vector<std::int32_t> levels;
    for (std::int64_t i = 0; i < block.count; ++i, ++at) {
      reals.push_back(numbers[at]);
      levels.push_back(static_cast<std::int32_t>(numbers[at]));
    }
    if (block.kind == BlockKind::real) {
      state.emplace_back(std::move(reals));
    } else {
      state.emplace_back(std::move(levels));
    }
  }
  return state;
}

double value_of(const CommandVariable& variable, double number) {
  if (variable.kind != Kind::real) return number;
  const double low = variable.lower, high = variable.upper;
  const double value =
      variable.logarithmic ? low * std::pow(high / low, number) : low + number * (high - low);
  return std::clamp(value, low, high);
}

double number_of(const CommandVariable& variable, double value) {
  if (variable.kind != Kind::real) return value;
  const double low = variable.lower, high = variable.upper;
  return variable.logarithmic ? std::log(value / low) / std::log(high / low)
                              : (value - low) / (high - low);
}

std::string text_of(const CommandVariable& variable, double number) {
  if (variable.kind == Kind::category) return variable.labels[static_cast<std::size_t>(number)];
  return kiln::detail::show_real(value_of(variable, number));
}

}  // namespace kiln::problems::detail
