// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/device/axes.hpp"
#include "kiln/models/similarity.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Axes of points on the host and on a device.
class AxisTables {
 public:
  AxisTables() = default;
  /// @param categorical  [dimension], or empty: all are numbers
  /// @param similarity  [dimension], or empty; ignored for axes that are not categorical
  /// @throws InvalidArgument for another number of entries, and for an invalid similarity.
  AxisTables(Queue& queue, std::int64_t dimension, std::vector<std::uint8_t> categorical,
             std::vector<CategorySimilarity> similarity);

  Axes on_device() const;
  Axes on_host() const;
  const std::vector<std::uint8_t>& categorical() const { return categorical_; }
  const std::vector<CategorySimilarity>& similarity() const { return similarity_; }

 private:
  void add_table(const CategorySimilarity& of, std::int64_t axis);

  std::vector<std::uint8_t> categorical_;
  std::vector<CategorySimilarity> similarity_;
  std::vector<AxisTable> tables_;
  std::vector<double> numbers_;
  DeviceArray<std::uint8_t> device_categorical_;
  DeviceArray<AxisTable> device_tables_;
  DeviceArray<double> device_numbers_;
};

}  // namespace kiln
