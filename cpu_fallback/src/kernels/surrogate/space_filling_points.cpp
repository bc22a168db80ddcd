// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/space_filling_points.hpp"

#include <algorithm>
#include <array>

#include "kiln/errors.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t points_per_task = 4096;

// Direction numbers of a row after scrambling, and its shift.
struct ScrambledRow {
  std::array<std::uint32_t, SpaceFillingPoints::digits> direction{};
  std::uint32_t shift = 0;

  ScrambledRow(const SpaceFillingPoints& kernel, std::int64_t row) {
    const DrawName named = kernel.draws(row, SpaceFillingPoints::scramble);
    std::array<std::uint32_t, SpaceFillingPoints::digits> column;
    for (int digit = 0; digit < SpaceFillingPoints::digits; ++digit) {
      const std::uint32_t word = draw_word(named, static_cast<std::uint32_t>(digit));
      column[static_cast<std::size_t>(digit)] = SpaceFillingPoints::scramble_column(digit, word);
    }
    for (std::size_t bit = 0; bit < direction.size(); ++bit) {
      const std::uint32_t plain =
          kernel.directions(row % kernel.dimension, static_cast<std::int64_t>(bit));
      for (std::size_t digit = 0; digit < column.size(); ++digit) {
        if ((plain >> (column.size() - 1 - digit) & 1) != 0) direction[bit] ^= column[digit];
      }
    }
    shift = draw_word(named, SpaceFillingPoints::shift_word);
  }

  std::uint32_t operator()(std::uint32_t index) const {
    std::uint32_t word = shift;
    for (std::size_t bit = 0; index != 0; ++bit, index >>= 1) {
      if ((index & 1) != 0) word ^= direction[bit];
    }
    return word;
  }
};

void fill(const SpaceFillingPoints& kernel, std::int64_t row, std::int64_t begin,
          std::int64_t end) {
  double* to = kernel.row_of(row);
  if (kernel.kind == PointsKind::sobol) {
    const ScrambledRow scrambled(kernel, row);
    const std::uint64_t first = kernel.first_of(row / kernel.dimension);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t index = first + static_cast<std::uint64_t>(i);
      to[i] = open_unit(scrambled(static_cast<std::uint32_t>(index)));
    }
  } else if (kernel.kind == PointsKind::latin_hypercube) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = kernel.latin(row, i);
  } else {
    for (std::int64_t i = begin; i < end; ++i) to[i] = kernel.uniform(row, i);
  }
}

}  // namespace

template <>
void launch(const SpaceFillingPoints& kernel, Queue& queue) {
  if (!kernel.valid()) {
    throw InvalidArgument("kernel.space_filling_points", SpaceFillingPoints::refusal);
  }
  if (!kernel.active()) return;
  const std::int64_t parts = (kernel.points + points_per_task - 1) / points_per_task;
  pool_of(queue).for_each(kernel.rows() * parts, [&](std::int64_t task) {
    const std::int64_t begin = task % parts * points_per_task;
    fill(kernel, task / parts, begin, std::min(kernel.points, begin + points_per_task));
  });
}

}  // namespace kiln::cpu
