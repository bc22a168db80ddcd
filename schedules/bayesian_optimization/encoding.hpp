// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/problem.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// A point as a model sees it: a coordinate for each variable, numbers in [0, 1], categories as
/// their index.
using Point = std::vector<double>;

/// One variable of a space as a coordinate.
struct Coordinate {
  BlockKind kind = BlockKind::real;
  std::size_t block = 0, variable = 0;
  double lower = 0, upper = 1;
  bool categorical = false;
  /// Where its values lie, in order of the values; empty: anywhere in [0, 1], or evenly over it if
  /// they are integers.
  std::vector<double> levels;
  CategorySimilarity similarity;  ///< of categories

  /// Whether climbs move along it: reals, and integers with so many values that they are as good.
  bool continuous() const { return levels.empty(); }
  /// How many values it has; infinity for reals.
  double values() const;
};

/// The map between states of a space and points.
class Encoding {
 public:
  /// @throws InvalidArgument for permutations, reals without bounds, and more than 4096 levels.
  /// @param names  whether categories whose names share pieces are "alike", all are "distinct", or
  /// that depends on how long the names are ("automatic")
  Encoding(const Space& space, const std::vector<VariableModel>& models, const std::string& names);

  std::int64_t dimension() const { return static_cast<std::int64_t>(coordinates_.size()); }
  const std::vector<Coordinate>& coordinates() const { return coordinates_; }
  std::vector<std::uint8_t> categorical() const;
  std::vector<CategorySimilarity> similarity() const;
  bool any_continuous() const;
  /// Points of a space without reals; infinity where it has some.
  double size() const;
  /// Where all values of a coordinate lie; none of reals.
  std::vector<double> places(std::size_t k) const;

  /// @throws InvalidArgument for what is no state of the space.
  void check(const State& state) const;
  Point encode(const State& state) const;
  State decode(const Point& point) const;
  /// The place of the value of a coordinate that stands for u in [0, 1), each value for as much.
  double place(std::size_t k, double u) const;
  /// The place of a value that is nearest to a number.
  double snap(std::size_t k, double x) const;
  /// The same of all coordinates: where it will be evaluated.
  Point snapped(Point point) const;

 private:
  std::size_t level_of(const Coordinate& c, double x) const;

  Space space_;
  std::vector<Coordinate> coordinates_;
};

}  // namespace kiln
