// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/kernels/information/ksg_points.hpp"
#include "kiln/queue.hpp"

namespace kiln::test {

using Columns = std::vector<std::vector<double>>;  // [column][row]

/// Problems of KsgNeighbors and KsgCounts over columns of a table.
struct KsgProblems {
  Columns columns;
  std::int32_t z = 0, y = 1, x = 1, theiler = 0;
  std::vector<std::int32_t> times;                  ///< [n], of each row
  std::vector<std::vector<std::int32_t>> problems;  ///< the column of each coordinate: z, y, x
  /// The columns in which each coordinate of y and x is searched, without a condition; empty: those
  /// of the problem.
  std::vector<std::vector<std::int32_t>> searched;

  std::int64_t n() const { return static_cast<std::int64_t>(columns.front().size()); }
  std::int32_t dims() const { return z + y + x; }
  std::int32_t x_begin() const { return z + y; }
  /// The rows in the order of a column.
  std::vector<std::int32_t> order_of(std::int32_t column) const;
  /// The rows in the order in which the points of a problem stand.
  std::vector<std::int32_t> order_of_problem(std::int64_t problem) const;
  /// Whether two rows may be neighbours.
  bool may_be_neighbors(std::int64_t row, std::int64_t other) const;
  /// The largest difference of two rows in the coordinates begin .. end - 1.
  double distance(std::int64_t problem, std::int32_t begin, std::int32_t end, std::int64_t row,
                  std::int64_t other) const;
};

/// How the values of columns are drawn.
enum class ValueKind : std::uint8_t {
  reals,    ///< in (-1, 1)
  lattice,  ///< -3 .. 3, zeros of both signs: distances are equal or 0
  mixed     ///< columns of reals and of integers by turns
};

/// Problems of some rows: each takes other columns, but they share the first or not, by turns.
KsgProblems make_ksg_problems(std::int64_t n, std::int32_t z, std::int32_t y, std::int32_t x,
                              ValueKind kind, std::uint64_t seed, std::int64_t problems = 3);

/// Times of `n` rows that leave some out, and `theiler`.
void set_theiler(KsgProblems& in, std::int32_t theiler, std::uint64_t seed);

/// What KsgNeighbors finds, in the order in which the points of each problem stand.
struct KsgRadii {
  std::vector<double> radius, extent_y, extent_x;  ///< [problem * n + point]
};

/// Distances to the k-th neighbour and sides of rectangles by two loops over all rows.
KsgRadii radii_by_definition(const KsgProblems& in, std::int32_t k);

/// The counts of one point, n_z, n_yz, n_xz or n_y, n_x, by a loop over all rows.
std::vector<std::int32_t> counts_by_definition(const KsgProblems& in, const KsgRadii& radii,
                                               bool extents, std::int64_t problem, std::int64_t row,
                                               std::int64_t point);

/// The axes and orders of problems on a device.
class DeviceKsgProblems {
 public:
  DeviceKsgProblems(Queue& queue, const KsgProblems& in);

  KsgPoints points() const;
  View2<const std::int32_t> search() const { return table(search_); }
  View2<const std::int32_t> natural() const { return table(natural_); }

 private:
  View2<const std::int32_t> table(const DeviceArray<std::int32_t>& numbers) const {
    if (numbers.size() == 0) return {};
    return {numbers.data(), problems_, numbers.size() / problems_, numbers.size() / problems_};
  }
  std::int64_t n_, problems_;
  KsgPoints shape_;
  DeviceArray<double> axes_;
  DeviceArray<std::int32_t> rows_, search_, natural_, orders_, order_of_, times_;
};

}  // namespace kiln::test
