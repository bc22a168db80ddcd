// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "models/axis_tables.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

// What rounding may leave below 0 of a semi-definite matrix.
constexpr double largest_rounding = 1e-9;

[[noreturn]] void refuse(std::int64_t axis, const char* why) {
  throw InvalidArgument("process.similarity",
                        "the similarity matrix of axis " + std::to_string(axis + 1) + " " + why,
                        "a symmetric positive semi-definite matrix with 1 on its diagonal");
}

void check_shape(const CategorySimilarity& of, std::int64_t axis) {
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(of.levels, 0));
  if (of.levels < 0 || of.values.size() != n * n) refuse(axis, "is not square");
  for (std::size_t a = 0; a < n; ++a) {
    if (of.values[a * n + a] != 1) refuse(axis, "has a diagonal value that is not 1");
    for (std::size_t b = 0; b < a; ++b) {
      const double value = of.values[a * n + b];
      if (!std::isfinite(value) || value != of.values[b * n + a]) refuse(axis, "is not symmetric");
    }
  }
}

// G with G G^T = the similarity, lower triangular. A pivot of 0 stands for a category that the
// others make up.
std::vector<double> factor_of(const CategorySimilarity& of, std::int64_t axis) {
  const auto n = static_cast<std::size_t>(of.levels);
  std::vector<double> g(n * n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k; i < n; ++i) {
      double left = of.values[i * n + k];
      for (std::size_t j = 0; j < k; ++j) left -= g[i * n + j] * g[k * n + j];
      if (i == k) {
        if (left < -largest_rounding) refuse(axis, "is not positive semi-definite");
        g[k * n + k] = left > largest_rounding ? std::sqrt(left) : 0.0;
      } else if (g[k * n + k] > 0) {
        g[i * n + k] = left / g[k * n + k];
      } else if (std::abs(left) > std::sqrt(largest_rounding)) {
        refuse(axis, "is not positive semi-definite");
      }
    }
  }
  return g;
}

}  // namespace

AxisTables::AxisTables(Queue& queue, std::int64_t dimension, std::vector<std::uint8_t> categorical,
                       std::vector<CategorySimilarity> similarity) {
  const auto d = static_cast<std::size_t>(dimension);
  if ((!categorical.empty() && categorical.size() != d) ||
      (!similarity.empty() && similarity.size() != d)) {
    throw InvalidArgument("process.categorical",
                          "each of the lists categorical and similarity needs one entry for each "
                          "coordinate, or none");
  }
  if (std::ranges::none_of(categorical, [](std::uint8_t c) { return c != 0; })) return;
  categorical_ = std::move(categorical);
  device_categorical_ = DeviceArray<std::uint8_t>(queue, categorical_);
  if (std::ranges::none_of(similarity, [](const auto& of) { return of.levels > 0; })) return;
  similarity_ = std::move(similarity);
  for (std::int64_t k = 0; k < dimension; ++k)
    add_table(similarity_[static_cast<std::size_t>(k)], k);
  device_tables_ = DeviceArray<AxisTable>(queue, tables_);
  device_numbers_ = DeviceArray<double>(queue, numbers_);
}

void AxisTables::add_table(const CategorySimilarity& of, std::int64_t axis) {
  check_shape(of, axis);
  const bool used = categorical_[static_cast<std::size_t>(axis)] != 0;
  tables_.push_back({static_cast<std::int64_t>(numbers_.size()), used ? of.levels : 0});
  if (!used) return;
  const std::vector<double> factor = factor_of(of, axis);
  for (const double value : of.values) numbers_.push_back(std::sqrt(std::max(0.0, 1 - value)));
  numbers_.insert(numbers_.end(), factor.begin(), factor.end());
}

Axes AxisTables::on_device() const {
  return {device_categorical_.view(), device_tables_.view(), device_numbers_.view()};
}

Axes AxisTables::on_host() const {
  const auto view = [](const auto& all) {
    using Value = typename std::decay_t<decltype(all)>::value_type;
    return View1<const Value>(all.data(), static_cast<std::int64_t>(all.size()));
  };
  return {view(categorical_), view(tables_), view(numbers_)};
}

}  // namespace kiln
