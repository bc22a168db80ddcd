// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// What is known of the categories of one axis, which are the numbers 0, 1, ...: where its tables
/// begin. With `levels` = 0 nothing is.
struct AxisTable {
  std::int64_t begin = 0;
  std::int64_t levels = 0;
};

/// What the coordinates of points are: numbers, or categories that are equal or not, or categories
/// of which some are more alike than others. A borrowed view; travels into kernels by value.
struct Axes {
  View1<const std::uint8_t> categorical;  ///< [dimension], 0: numbers; empty: all are
  View1<const AxisTable> table;           ///< [dimension]; empty: nothing is known of any
  /// Of each axis with a table: [levels][levels] distances, then [levels][levels], the factor G of
  /// the similarity, G G^T (CategorySimilarity).
  View1<const double> numbers;

  KILN_HD bool is_categorical(std::int64_t k) const { return categorical && categorical[k] != 0; }
  KILN_HD bool is_known(std::int64_t k, double a) const {
    return table && a >= 0 && a < static_cast<double>(table[k].levels);
  }
  /// The distance of two categories of axis k: 1 where nothing is known of them.
  KILN_HD double distance(std::int64_t k, double a, double b) const {
    if (a == b) return 0.0;
    if (!is_known(k, a) || !is_known(k, b)) return 1.0;
    const AxisTable of = table[k];
    return numbers[of.begin + static_cast<std::int64_t>(a) * of.levels +
                   static_cast<std::int64_t>(b)];
  }
  /// The difference of two coordinates of axis k; of categories their distance.
  KILN_HD double difference(std::int64_t k, double a, double b) const {
    return is_categorical(k) ? distance(k, a, b) : a - b;
  }
  /// G(a, b) of axis k.
  KILN_HD double factor(std::int64_t k, double a, std::int64_t b) const {
    const AxisTable of = table[k];
    return numbers[of.begin + (of.levels + static_cast<std::int64_t>(a)) * of.levels + b];
  }
};

}  // namespace kiln
