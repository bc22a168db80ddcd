// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/device/axes.hpp"
#include "kiln/models/likeness.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Axes of points on the host and on a device.
class AxisTables {
 public:
  AxisTables() = default;
  /// @param categorical  [dimension], or empty: all are numbers
  /// @param likeness  [dimension], or empty; of axes that are not categorical it is left alone
  /// @throws InvalidArgument for another number of entries, and for what is no likeness.
  AxisTables(Queue& queue, std::int64_t dimension, std::vector<std::uint8_t> categorical,
             std::vector<CategoryLikeness> likeness);

  Axes on_device() const;
  Axes on_host() const;
  const std::vector<std::uint8_t>& categorical() const { return categorical_; }
  const std::vector<CategoryLikeness>& likeness() const { return likeness_; }

 private:
  void add_table(const CategoryLikeness& of, std::int64_t axis);

  std::vector<std::uint8_t> categorical_;
  std::vector<CategoryLikeness> likeness_;
  std::vector<AxisTable> tables_;
  std::vector<double> numbers_;
  DeviceArray<std::uint8_t> device_categorical_;
  DeviceArray<AxisTable> device_tables_;
  DeviceArray<double> device_numbers_;
};

}  // namespace kiln
