// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/rows/standardize.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

// In standard deviations of the column: far below what data resolve, far above rounding.
constexpr double tie_noise = 1e-8;

using Lags = std::map<std::int32_t, std::set<std::int32_t>>;  // of each column that is used

Lags lags_of(const std::vector<InformationTask>& tasks) {
  Lags lags;
  for (const InformationTask& task : tasks) {
    for (const auto* block : {&task.z, &task.y, &task.x}) {
      for (const InformationAxis& axis : *block) lags[axis.column].insert(axis.lag);
    }
  }
  return lags;
}

// The rows from `longest` on at which every axis has a value.
std::vector<std::int32_t> whole_rows(const std::vector<Series>& columns, const Lags& lags,
                                     std::int64_t longest, std::int64_t length) {
  if (length <= longest) return {};
  std::vector<std::uint8_t> whole(idx(length - longest), 1);
  for (const auto& [column, offsets] : lags) {
    for (const std::int32_t lag : offsets) {
      const double* const values = columns[idx(column)].values.data() + (longest - lag);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        whole[i] = whole[i] != 0 && std::isfinite(values[i]) ? 1 : 0;
      }
    }
  }
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] != 0)
      rows.push_back(static_cast<std::int32_t>(i) + static_cast<std::int32_t>(longest));
  }
  return rows;
}

// Moves columns to mean 0, and scales them to standard deviation 1 if options say so: some at a
// time, in device memory. Missing values become 0.
// @return the standard deviations of the columns that are used
std::map<std::int32_t, double> standardize(const std::vector<Series>& columns, const Lags& lags,
                                           const InformationOptions& options, Queue& queue,
                                           PreparedColumns& prepared) {
  constexpr std::int64_t values_at_once = std::int64_t{1} << 25;
  const std::int64_t length = prepared.length;
  std::vector<std::int32_t> used;
  for (const auto& [column, offsets] : lags) used.push_back(column);
  std::map<std::int32_t, double> deviations;
  const std::int64_t most =
      std::max<std::int64_t>(1, values_at_once / std::max<std::int64_t>(1, length));
  for (std::int64_t begin = 0; begin < std::ssize(used); begin += most) {
    const std::int64_t rows = std::min(most, std::ssize(used) - begin);
    std::vector<double> packed;
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::vector<double>& values = columns[idx(used[idx(begin + i)])].values;
      packed.insert(packed.end(), values.begin(), values.end());
    }
    DeviceArray<double> value(queue, packed), statistics(queue, 3 * rows);
    DeviceArray<std::byte> room(queue, Standardize::room_bytes(rows, length));
    Standardize kernel;
    kernel.value = View2<const double>{value.data(), rows, length, length};
    kernel.result = {value.data(), rows, length, length};
    kernel.statistics = {statistics.data(), rows, 3, 3};
    // The mean is taken off in any case: noise would be lost in the rounding of large values.
    kernel.divides = options.standardize;
    kernel.room = room.view();
    queue.launch(kernel);
    const std::vector<double> made = value.download(), moments = statistics.download();
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int32_t column = used[idx(begin + i)];
      std::copy_n(made.data() + i * length, length, prepared.values.data() + column * length);
      const double deviation = moments[idx(3 * i + Standardize::deviation)];
      deviations[column] = deviation > 0 ? deviation : 0;  // NaN: nothing is there
    }
  }
  return deviations;
}

// The rows of a column whose value occurs more than once, in no order. By hashing: sorting a
// million values takes ten times as long.
std::vector<std::int32_t> tied_rows(const std::vector<double>& values) {
  const std::uint64_t places = std::bit_ceil(2 * values.size() + 2);
  std::vector<std::int32_t> first(places, -1);  // the first row with the value of a place
  std::vector<bool> counted(values.size());
  std::vector<std::int32_t> tied;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!std::isfinite(values[row])) continue;
    const double value = values[row] == 0 ? 0.0 : values[row];  // -0 is 0
    std::uint64_t hash = std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u;
    std::uint64_t place = (hash ^ (hash >> 32)) & (places - 1);
    while (first[place] >= 0 && values[idx(first[place])] != value)
      place = (place + 1) & (places - 1);
    if (first[place] < 0) {
      first[place] = static_cast<std::int32_t>(row);
      continue;
    }
    tied.push_back(static_cast<std::int32_t>(row));
    const std::size_t before = idx(first[place]);
    if (!counted[before]) tied.push_back(first[place]);
    counted[before] = true;
  }
  return tied;
}

bool is_constant(const std::vector<Series>& columns, std::int32_t column,
                 const std::set<std::int32_t>& lags, const std::vector<std::int32_t>& times) {
  const std::vector<double>& values = columns[idx(column)].values;
  for (const std::int32_t lag : lags) {
    for (const std::int32_t time : times) {
      if (values[idx(time - lag)] != values[idx(times.front() - *lags.begin())]) return false;
    }
  }
  return true;
}

// Half the width of the middle half of the values: outliers do not count. The deviation where that
// is 0.
double robust_width(const double* values, const std::vector<double>& given, double deviation) {
  std::vector<double> present;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (std::isfinite(given[i])) present.push_back(values[i]);
  }
  const auto quarter = static_cast<std::ptrdiff_t>(present.size() / 4);
  if (quarter == 0) return deviation;
  std::ranges::nth_element(present, present.begin() + quarter);
  const double low = present[static_cast<std::size_t>(quarter)];
  std::ranges::nth_element(present, present.end() - 1 - quarter);
  const double width = (present[present.size() - 1 - static_cast<std::size_t>(quarter)] - low) / 2;
  return width > 0 ? std::min(width, deviation) : deviation;
}

// Tells equal values of a standardised column apart.
void separate_ties(const Series& column, std::int32_t number, double deviation,
                   const InformationOptions& options, PreparedColumns& prepared) {
  double* const target = prepared.values.data() + number * prepared.length;
  const std::vector<std::int32_t> tied = tied_rows(column.values);
  if (tied.empty() || deviation == 0) return;
  const double noise =
      tie_noise * robust_width(target, column.values, options.standardize ? 1 : deviation);
  prepared.noise[idx(number)] = noise;
  const DrawName name{options.seed, 0, static_cast<std::uint32_t>(number), RngDomain::surrogate, 1};
  for (const std::int32_t row : tied) {
    target[row] += noise * (open_unit(draw_word(name, static_cast<std::uint32_t>(row))) - 0.5);
  }
  prepared.tied.push_back(fmt::format("'{}' ({})", column.name, tied.size()));
}

// Names of at most so many columns stand in a note.
constexpr std::size_t named_columns = 5;

void note_ties(PreparedColumns& prepared) {
  const std::size_t all = prepared.tied.size();
  if (all == 0) return;
  const std::size_t named = std::min(all, named_columns);
  const auto end = prepared.tied.begin() + static_cast<std::ptrdiff_t>(named);
  std::string list = fmt::format("{}", fmt::join(prepared.tied.begin(), end, ", "));
  if (named < all) list += fmt::format(" and {} more columns", all - named);
  prepared.notes.push_back(
      fmt::format("values occur more than once in {}: noise of {:.0e} of their width tells them "
                  "apart",
                  list, tie_noise));
}

}  // namespace

PreparedColumns prepare_columns(const std::vector<Series>& columns,
                                const std::vector<InformationTask>& tasks,
                                const InformationOptions& options, Queue& queue) {
  PreparedColumns prepared;
  prepared.length = columns.empty() ? 0 : std::ssize(columns.front().values);
  for (const Series& column : columns) {
    if (std::ssize(column.values) == prepared.length) continue;
    throw InvalidArgument(
        "information.length",
        fmt::format("column '{}' has {} rows, and column '{}' has {}", column.name,
                    column.values.size(), columns.front().name, prepared.length),
        "all columns have as many rows");
  }
  const Lags lags = lags_of(tasks);
  std::int32_t longest = 0;
  for (const auto& [column, offsets] : lags) longest = std::max(longest, *offsets.rbegin());
  prepared.times = whole_rows(columns, lags, longest, prepared.length);
  const std::int64_t missing =
      std::max<std::int64_t>(0, prepared.length - longest) - std::ssize(prepared.times);
  if (missing > 0) {
    prepared.notes.push_back(
        fmt::format("{} of {} rows left out: a value is missing in a column that is used", missing,
                    prepared.length));
  }
  prepared.values.resize(columns.size() * idx(prepared.length));
  prepared.constant.resize(columns.size());
  prepared.noise.resize(columns.size());
  for (const auto& [column, deviation] : standardize(columns, lags, options, queue, prepared)) {
    prepared.constant[idx(column)] =
        prepared.times.empty() || is_constant(columns, column, lags.at(column), prepared.times);
    separate_ties(columns[idx(column)], column, deviation, options, prepared);
  }
  note_ties(prepared);
  return prepared;
}

bool depends_on_row_before(const PreparedColumns& columns, std::int32_t column) {
  const double* const values = columns.values.data() + column * columns.length;
  double n = 0, sum[2] = {}, square[2] = {}, product = 0;
  for (std::size_t i = 1; i < columns.times.size(); ++i) {
    if (columns.times[i] != columns.times[i - 1] + 1) continue;
    const double before = values[columns.times[i - 1]], now = values[columns.times[i]];
    n += 1;
    sum[0] += before, sum[1] += now;
    square[0] += before * before, square[1] += now * now;
    product += before * now;
  }
  const double spread = (square[0] - sum[0] * sum[0] / n) * (square[1] - sum[1] * sum[1] / n);
  if (n < 10 || !(spread > 0)) return false;
  const double correlation = (product - sum[0] * sum[1] / n) / std::sqrt(spread);
  return std::abs(correlation) > 4 / std::sqrt(n);
}

namespace {

// Points a quarter and three quarters up in the order of an axis; farther out if those are equal up
// to noise.
std::pair<std::size_t, std::size_t> quartile_points(const PreparedColumns& columns,
                                                    const InformationAxis& axis) {
  std::vector<std::size_t> order(columns.times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t p) { return columns.at(axis, p); });
  const double noise = columns.noise[idx(axis.column)];
  std::size_t low = order.size() / 4, high = order.size() - 1 - low;
  while (low > 0 && columns.at(axis, order[high]) - columns.at(axis, order[low]) <= 2 * noise) {
    low /= 2;
    high = order.size() - 1 - low;
  }
  return {order[low], order[high]};
}

// The correlation of two axes.
double correlation_of(const PreparedColumns& columns, const InformationAxis& a,
                      const InformationAxis& b) {
  const auto n = static_cast<double>(columns.times.size());
  double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < columns.times.size(); ++i) {
    mean_a += columns.at(a, i) / n;
    mean_b += columns.at(b, i) / n;
  }
  for (std::size_t i = 0; i < columns.times.size(); ++i) {
    const double of_a = columns.at(a, i) - mean_a, of_b = columns.at(b, i) - mean_b;
    aa += of_a * of_a;
    bb += of_b * of_b;
    ab += of_a * of_b;
  }
  return ab / (std::sqrt(aa) * std::sqrt(bb));
}

// Whether all points are on the line through two of them.
bool on_line(const PreparedColumns& columns, const InformationAxis& a, const InformationAxis& b,
             std::size_t low, std::size_t high) {
  const double run = columns.at(a, high) - columns.at(a, low);
  const double rise = columns.at(b, high) - columns.at(b, low);
  if (run == 0 || rise == 0) return false;
  const double slope = rise / run;
  const double noise =
      columns.noise[idx(b.column)] + std::abs(slope) * columns.noise[idx(a.column)];
  for (std::size_t i = 0; i < columns.times.size(); ++i) {
    const double away = columns.at(a, i) - columns.at(a, low), along = away * slope;
    const double rounding = 1e-9 * std::max(std::abs(rise), std::abs(along));
    const double allowed = rounding + 2 * noise * (1 + std::abs(away / run));
    if (std::abs(columns.at(b, i) - columns.at(b, low) - along) > allowed) return false;
  }
  return true;
}

}  // namespace

bool is_copy(const PreparedColumns& columns, const InformationAxis& a, const InformationAxis& b) {
  // Most pairs are no copies, and their correlation shows it. That of columns with an outlier in
  // common does not, and any line through it is as good: so the line goes through the quartiles.
  constexpr double nearly_one = 0.999999;
  const double correlation = correlation_of(columns, a, b);
  if (!(std::abs(correlation) > nearly_one)) return false;
  const auto [low, high] = quartile_points(columns, a);
  return on_line(columns, a, b, low, high);
}

}  // namespace kiln
