// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "encoding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

constexpr std::int64_t max_levels = 4096;

std::vector<double> levels_of(const Block& block, const Bounds& bounds) {
  if (block.kind == BlockKind::real && bounds.lower < bounds.upper) return {};
  if (block.kind == BlockKind::real) return {0};
  if (block.kind == BlockKind::spin || block.kind == BlockKind::binary) return {0, 1};
  const auto count = static_cast<std::int64_t>(block.upper - block.lower) + 1;
  if (block.kind == BlockKind::integer && count > max_levels) return {};  // as good as real
  if (count > max_levels) {
    throw InvalidArgument("space.categories",
                          "Bayesian optimisation supports categories of at most " +
                              std::to_string(max_levels) + " values, not " + std::to_string(count));
  }
  std::vector<double> levels;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(i);
    levels.push_back(
        block.kind == BlockKind::category || count == 1 ? x : x / static_cast<double>(count - 1));
  }
  return levels;
}

void refuse_unless_modelled(const Block& block) {
  if (block.kind == BlockKind::permutation) {
    throw InvalidArgument(
        "space.permutation",
        "Bayesian optimisation supports numbers and categories, but no permutations",
        "simulated-annealing supports permutations");
  }
  if (!std::isfinite(block.lower) || !std::isfinite(block.upper)) {
    throw InvalidArgument("space.bounds", "Bayesian optimisation needs bounds for all variables",
                          "give the space finite bounds");
  }
}

double canonical_value(const BlockValues& values, std::size_t variable) {
  return std::visit([&](const auto& all) { return static_cast<double>(all.at(variable)); }, values);
}

// Formulas and sequences say what they stand for; short names are mere names.
bool say_much(const std::vector<std::string>& names) {
  constexpr std::size_t long_enough = 8;
  std::size_t length = 0;
  for (const std::string& name : names) length += name.size();
  return length >= long_enough * names.size();
}

CategorySimilarity similarity_of(const VariableModel& model, const std::string& names,
                                 const Coordinate& c) {
  if (!c.categorical) return {};
  if (model.similarity.levels > 0) return model.similarity;
  if (model.names.size() != c.levels.size() || names == "distinct") return {};
  return names == "alike" || say_much(model.names) ? similarity_of_names(model.names)
                                                   : CategorySimilarity{};
}

}  // namespace

Encoding::Encoding(const Space& space, const std::vector<VariableModel>& models,
                   const std::string& names)
    : space_(space) {
  for (std::size_t b = 0; b < space.blocks().size(); ++b) {
    const Block& block = space.blocks()[b];
    refuse_unless_modelled(block);
    for (std::int64_t i = 0; i < block.count; ++i) {
      Coordinate c;
      c.kind = block.kind;
      c.block = b, c.variable = static_cast<std::size_t>(i);
      c.lower = block.bounds(i).lower, c.upper = block.bounds(i).upper;
      c.levels = levels_of(block, block.bounds(i));
      c.categorical = block.kind == BlockKind::category;
      if (coordinates_.size() < models.size()) {
        const VariableModel& model = models[coordinates_.size()];
        if (!model.levels.empty()) c.levels = model.levels;
        if (block.kind == BlockKind::category) {
          c.categorical = model.categorical || model.levels.empty();
          c.similarity = similarity_of(model, names, c);
        }
      }
      coordinates_.push_back(std::move(c));
    }
  }
}

std::vector<std::uint8_t> Encoding::categorical() const {
  std::vector<std::uint8_t> flags;
  for (const Coordinate& c : coordinates_) flags.push_back(c.categorical ? 1 : 0);
  return flags;
}

std::vector<CategorySimilarity> Encoding::similarity() const {
  std::vector<CategorySimilarity> all;
  for (const Coordinate& c : coordinates_) all.push_back(c.similarity);
  return all;
}

bool Encoding::any_continuous() const {
  return std::ranges::any_of(coordinates_, [](const Coordinate& c) { return c.continuous(); });
}

double Coordinate::values() const {
  if (!continuous()) return static_cast<double>(levels.size());
  return kind == BlockKind::real ? std::numeric_limits<double>::infinity() : upper - lower + 1;
}

double Encoding::size() const {
  double size = 1;
  for (const Coordinate& c : coordinates_) size *= c.values();
  return size;
}

std::vector<double> Encoding::places(std::size_t k) const {
  const Coordinate& c = coordinates_[k];
  if (!c.continuous() || c.kind == BlockKind::real) return c.levels;
  std::vector<double> all;
  for (double i = 0; i < c.values(); ++i) all.push_back(i / (c.values() - 1));
  return all;
}

void Encoding::check(const State& state) const {
  std::vector<std::size_t> sizes;
  for (const BlockValues& block : state) {
    sizes.push_back(std::visit([](const auto& values) { return values.size(); }, block));
  }
  for (const Coordinate& c : coordinates_) {
    const double value = c.block < sizes.size() && c.variable < sizes[c.block]
                             ? canonical_value(state[c.block], c.variable)
                             : std::numeric_limits<double>::quiet_NaN();
    const bool whole = c.kind == BlockKind::real || value == std::floor(value);
    const bool spin = c.kind != BlockKind::spin || value != 0;
    if (value >= c.lower && value <= c.upper && whole && spin) continue;
    throw InvalidArgument("state.value", "variable " + std::to_string(c.variable + 1) +
                                             " of block " + std::to_string(c.block + 1) +
                                             " has a value that the kind " +
                                             std::string(to_string(c.kind)) + " does not allow");
  }
}

Point Encoding::encode(const State& state) const {
  Point point;
  for (const Coordinate& c : coordinates_) {
    const double value = canonical_value(state.at(c.block), c.variable);
    if (c.continuous()) {
      const double x = (value - c.lower) / (c.upper - c.lower);
      point.push_back(c.upper > c.lower ? std::clamp(x, 0.0, 1.0) : 0.0);
    } else {
      const double level = c.kind == BlockKind::spin ? (value > 0 ? 1 : 0) : value - c.lower;
      point.push_back(c.levels.at(static_cast<std::size_t>(level)));
    }
  }
  return point;
}

std::size_t Encoding::level_of(const Coordinate& c, double x) const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < c.levels.size(); ++i) {
    if (std::abs(c.levels[i] - x) < std::abs(c.levels[best] - x)) best = i;
  }
  return best;
}

double Encoding::snap(std::size_t k, double x) const {
  const Coordinate& c = coordinates_[k];
  if (!c.continuous()) return c.levels[level_of(c, x)];
  if (c.kind == BlockKind::real) return x;
  const double most = c.values() - 1;
  return std::clamp(std::round(x * most), 0.0, most) / most;
}

Point Encoding::snapped(Point point) const {
  for (std::size_t k = 0; k < point.size(); ++k) point[k] = snap(k, point[k]);
  return point;
}

double Encoding::place(std::size_t k, double u) const {
  const Coordinate& c = coordinates_[k];
  if (c.kind == BlockKind::real && c.continuous()) return u;
  const double index = std::min(c.values() - 1, std::floor(u * c.values()));
  return c.continuous() ? index / (c.values() - 1) : c.levels[static_cast<std::size_t>(index)];
}

State Encoding::decode(const Point& point) const {
  State state;
  for (const Block& block : space_.blocks()) {
    const auto n = static_cast<std::size_t>(block.count);
    if (block.kind == BlockKind::real) {
      state.emplace_back(std::vector<double>(n));
    } else if (block.kind == BlockKind::spin || block.kind == BlockKind::binary) {
      state.emplace_back(std::vector<std::int8_t>(n));
    } else {
      state.emplace_back(std::vector<std::int32_t>(n));
    }
  }
  for (std::size_t k = 0; k < coordinates_.size(); ++k) {
    const Coordinate& c = coordinates_[k];
    double value = c.continuous() ? c.lower + point[k] * (c.upper - c.lower)
                                  : c.lower + static_cast<double>(level_of(c, point[k]));
    if (c.kind == BlockKind::spin) value = point[k] > 0.5 ? 1 : -1;
    if (c.kind != BlockKind::real) value = std::round(value);
    value = std::clamp(value, c.lower, c.upper);
    std::visit(
        [&](auto& all) {
          using Value = typename std::decay_t<decltype(all)>::value_type;
          all[c.variable] = static_cast<Value>(value);
        },
        state[c.block]);
  }
  return state;
}

}  // namespace kiln
