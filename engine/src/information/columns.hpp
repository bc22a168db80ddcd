// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/information/options.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// A coordinate of a point: a column, so many rows before the point's.
struct InformationAxis {
  std::int32_t column = 0, lag = 0;
  friend bool operator==(const InformationAxis&, const InformationAxis&) = default;
  friend auto operator<=>(const InformationAxis&, const InformationAxis&) = default;
};

/// What one estimate is of: what x says of y, given z.
struct InformationTask {
  std::vector<InformationAxis> z, y, x;
};

/// Columns as estimators take them: standardised, equal values told apart.
struct PreparedColumns {
  std::int64_t length = 0;
  std::vector<double> values;       ///< [column][length]; missing ones stand at 0
  std::vector<std::int32_t> times;  ///< rows at which every axis of every task has a value
  std::vector<bool> constant;       ///< of each column, at those rows
  std::vector<double> noise;        ///< of each column: width of what tells equal values apart
  std::vector<std::string> tied;    ///< "'x' (12)": columns with equal values, and how many
  std::vector<std::string> notes;

  double at(const InformationAxis& axis, std::size_t point) const {
    return values[static_cast<std::size_t>(axis.column * length + times[point] - axis.lag)];
  }
};

/// The number of the first surrogate of a column: those of other columns have other numbers.
constexpr std::int64_t first_surrogate_of(std::int32_t column) {
  return std::int64_t{column} << Surrogates::series_bits;
}

/// On the device of a queue. @throws InvalidArgument for columns of different lengths
PreparedColumns prepare_columns(const std::vector<Series>& columns,
                                const std::vector<InformationTask>& tasks,
                                const InformationOptions& options, Queue& queue);

/// Whether the values of a column depend on those of the row before: their correlation is beyond
/// four standard errors.
bool depends_on_row_before(const PreparedColumns& columns, std::int32_t column);

/// Whether one axis is a linear function of the other, up to rounding.
bool is_copy(const PreparedColumns& columns, const InformationAxis& a, const InformationAxis& b);

}  // namespace kiln
