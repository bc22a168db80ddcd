// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "command_states.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
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

// Fewer digits could not tell apart what a search evaluates; more tell no two doubles apart.
constexpr int fewest_digits = 12, max_digits = 17;
// Powers and logarithms together were 8 doubles off at most.
constexpr int max_steps = 64;

double rounded_to(double value, int digits) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::scientific, digits - 1);
  double rounded = value;
  std::from_chars(text.data(), end.ptr, rounded);
  return rounded;
}

// Of the values next to one that give a number back, one of few digits.
std::optional<double> value_that_gives(const CommandVariable& variable, double number,
                                       double value) {
  const auto gives_it = [&](double x) {
    return x >= variable.lower && x <= variable.upper && number_of(variable, x) == number;
  };
  for (int digits = fewest_digits; digits <= max_digits; ++digits) {
    const double rounded = rounded_to(value, digits);
    if (gives_it(rounded)) return rounded;
  }
  double below = value, above = value;
  for (int step = 0; step < max_steps; ++step) {
    below = std::nextafter(below, variable.lower), above = std::nextafter(above, variable.upper);
    if (gives_it(below)) return below;
    if (gives_it(above)) return above;
  }
  return std::nullopt;
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
    throw InvalidArgument(
        "command.variables", "the variables form " + std::to_string(blocks.size()) + " blocks",
        "at most " + std::to_string(TrackBest::max_blocks) +
            " blocks: integers with the same bounds share a block, categories with "
            "the same number of values share a block, and all reals share a block");
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
  const auto about = [&](double share) {
    const double value =
        variable.logarithmic ? low * std::pow(high / low, share) : low + share * (high - low);
    return std::clamp(value, low, high);
  };
  const double value = about(number);
  if (const auto same = value_that_gives(variable, number, value)) return *same;
  // Values lie further apart than shares: the share that this one gives is that of a value.
  const double share = number_of(variable, value);
  return value_that_gives(variable, share, about(share)).value_or(value);
}

double number_of(const CommandVariable& variable, double value) {
  if (variable.kind != Kind::real) return value;
  const double low = variable.lower, high = variable.upper;
  const double share = variable.logarithmic ? std::log(value / low) / std::log(high / low)
                                            : (value - low) / (high - low);
  return std::clamp(share, 0.0, 1.0);
}

std::string text_of(const CommandVariable& variable, double number) {
  if (variable.kind == Kind::category) return variable.labels[static_cast<std::size_t>(number)];
  return kiln::detail::show_real(value_of(variable, number));
}

}  // namespace kiln::problems::detail
