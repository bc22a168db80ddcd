// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// The offset of the category tables of one axis, whose categories are the numbers 0, 1, ...
/// `levels` = 0: no tables.
struct AxisTable {
  std::int64_t begin = 0;
  std::int64_t levels = 0;
};

/// The kinds of the coordinates of points: numbers, categories that are equal or different, or
/// categories with a similarity. A borrowed view; passed to kernels by value.
struct Axes {
  View1<const std::uint8_t> categorical;  ///< [dimension], 0: a number; empty: all are numbers
  View1<const AxisTable> table;           ///< [dimension]; empty: no axis has a table
  /// For each axis with a table: [levels][levels] distances, then [levels][levels], the factor G of
  /// the similarity, G G^T (CategorySimilarity).
  View1<const double> numbers;

  KILN_HD bool is_categorical(std::int64_t k) const { return categorical && categorical[k] != 0; }
  KILN_HD bool is_known(std::int64_t k, double a) const {
    return table && a >= 0 && a < static_cast<double>(table[k].levels);
  }
  /// The distance of two categories of axis k: 1 without a table.
  KILN_HD double distance(std::int64_t k, double a, double b) const {
    if (a == b) return 0.0;
    if (!is_known(k, a) || !is_known(k, b)) return 1.0;
    const AxisTable of = table[k];
    return numbers[of.begin + static_cast<std::int64_t>(a) * of.levels +
                   static_cast<std::int64_t>(b)];
  }
  /// The difference of two coordinates of axis k; for categories their distance.
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
