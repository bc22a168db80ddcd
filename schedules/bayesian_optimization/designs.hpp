// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/kernels/surrogate/space_filling_points.hpp"
#include "kiln/problem.hpp"
#include "kiln/queue.hpp"

#include "encoding.hpp"

namespace kiln {

/// Points that fill the space of some studies, from sequences that are theirs.
class Designs {
 public:
  Designs(Queue& queue, const Encoding& encoding, const std::string& kind,
          std::vector<std::uint64_t> keys,
          const std::shared_ptr<const std::vector<State>>& candidates);

  /// Points `first` to `first + count - 1` of the sequence of a study. That of Latin hypercubes is
  /// one of `of_all` points after the other.
  std::vector<Point> points(std::size_t study, std::uint64_t first, std::int64_t count,
                            std::int64_t of_all);
  struct Cube {
    std::size_t study = 0;
    std::uint64_t step = 0;
  };
  /// Numbers in (0, 1): [cubes][dimension][count], of another sequence in each step of a study.
  std::vector<double> unit_cubes(const std::vector<Cube>& cubes, std::int64_t count);

  /// All points of a space without reals; none where it has some, or more than `most` points.
  std::vector<Point> all_points(std::size_t most) const;

  std::uint64_t key(std::size_t study) const { return keys_[study]; }
  /// All points that exist, where not all do.
  const std::vector<Point>& table() const { return table_; }

 private:
  const Point& nearest_row(const Point& point) const;
  std::vector<double> draw(const std::vector<std::uint64_t>& keys, std::uint64_t first,
                           std::int64_t count, PointsKind kind);

  Queue& queue_;
  const Encoding& encoding_;
  PointsKind kind_ = PointsKind::sobol;
  std::vector<std::uint64_t> keys_;
  std::vector<Point> table_;
  DeviceArray<std::uint32_t> directions_;
};

}  // namespace kiln
