// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/information/estimate_information.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "kiln/errors.hpp"
#include "kiln/kernels/information/ksg_neighbors.hpp"

#include "bin_estimator.hpp"
#include "columns.hpp"
#include "direct_links.hpp"
#include "idx.hpp"
#include "ksg_estimator.hpp"
#include "significance.hpp"
#include "tasks.hpp"

namespace kiln {
namespace {

using Tasks = std::vector<InformationTask>;

bool uses_constant(const PreparedColumns& columns, const InformationTask& task) {
  const auto is_constant = [&](const InformationAxis& axis) {
    return columns.constant[idx(axis.column)];
  };
  return std::ranges::any_of(task.y, is_constant) || std::ranges::any_of(task.x, is_constant);
}

// Whether x says all of y, and z does not.
bool is_unbounded(const PreparedColumns& columns, const InformationTask& task) {
  const InformationAxis& y = task.y.front();
  const auto copies_y = [&](const InformationAxis& axis) { return is_copy(columns, y, axis); };
  return std::ranges::any_of(task.x, copies_y) && std::ranges::none_of(task.z, copies_y);
}

// Values that need no estimator. @return the numbers of the other links
std::vector<std::size_t> settle(const PreparedColumns& columns, const Tasks& tasks,
                                InformationMap& map) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    InformationEstimate& estimate = map.links[i].estimate;
    estimate.points = std::ssize(columns.times);
    if (estimate.points > 1 && uses_constant(columns, tasks[i])) {
      estimate.status = InformationStatus::constant;
      estimate.value = estimate.spread = 0;
    } else if (estimate.points > 2 && !is_binned(map.measure) && is_unbounded(columns, tasks[i])) {
      estimate.status = InformationStatus::unbounded;
      estimate.value = std::numeric_limits<double>::infinity();
    } else {
      open.push_back(i);
    }
  }
  return open;
}

// Of several numbers of neighbours the one around which values change the least, over all tasks.
std::int32_t stable_k(KsgEstimator& estimator, const Tasks& tasks) {
  constexpr std::array<std::int32_t, 6> candidates{3, 4, 6, 8, 12, 16};
  std::vector<std::vector<InformationEstimate>> of_k;
  for (const std::int32_t k : candidates) {
    if (estimator.fewest_neighbors() < k) break;
    of_k.push_back(estimator.estimate(tasks, k, 0, false));
  }
  if (of_k.size() < 3)
    return std::min<std::int32_t>(
        4, static_cast<std::int32_t>(std::max<std::int64_t>(1, estimator.fewest_neighbors())));
  std::size_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 1; c + 1 < of_k.size(); ++c) {
    double change = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      change += std::abs(of_k[c][i].value - of_k[c - 1][i].value) +
                std::abs(of_k[c + 1][i].value - of_k[c][i].value);
    }
    if (change >= least) continue;
    least = change;
    best = c;
  }
  return candidates[best];
}

// Four times as many neighbours see a coarser picture: where dependence is strong or the dimension
// high, they see less of it, and so do k neighbours.
void mark_biased(KsgEstimator& estimator, const Tasks& tasks, std::int32_t k,
                 std::vector<InformationEstimate>& estimates) {
  const std::int32_t other = k <= 4 ? 4 * k : k / 4;
  if (estimator.fewest_neighbors() < other) return;
  const std::vector<InformationEstimate> of_other = estimator.estimate(tasks, other, 0, false);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const double change = std::abs(of_other[i].value - estimates[i].value);
    const double larger = std::max(of_other[i].value, estimates[i].value);
    // Where nothing is said, surrogates have the same bias.
    const bool says_something = larger > 3 * estimates[i].spread;
    if (says_something && change > 3 * estimates[i].spread && change > 0.1 * larger) {
      estimates[i].status = InformationStatus::biased;
    }
  }
}

// Tasks of the same numbers of coordinates run together.
std::map<std::array<std::size_t, 3>, std::vector<std::size_t>> by_shape(
    const Tasks& tasks, const std::vector<std::size_t>& open) {
  std::map<std::array<std::size_t, 3>, std::vector<std::size_t>> shapes;
  for (const std::size_t i : open) {
    shapes[{tasks[i].z.size(), tasks[i].y.size(), tasks[i].x.size()}].push_back(i);
  }
  return shapes;
}

void estimate_by_neighbors(const InformationColumns& which, const InformationOptions& options,
                           const PreparedColumns& columns, const Tasks& tasks,
                           const std::vector<std::size_t>& open, Backend& backend,
                           InformationMap& map) {
  KsgEstimator estimator(columns, options, backend);
  std::int32_t k = options.k;
  for (const auto& [shape, numbers] : by_shape(tasks, open)) {
    Tasks some;
    for (const std::size_t i : numbers) some.push_back(tasks[i]);
    if (k == 0) {
      k = stable_k(estimator, some);
      map.notes.push_back(fmt::format("{} neighbours: estimates change the least there", k));
    }
    std::vector<InformationEstimate> estimates =
        estimator.estimate(some, k, options.surrogates, options.local);
    mark_biased(estimator, some, k, estimates);
    for (std::size_t i = 0; i < some.size(); ++i) {
      map.links[numbers[i]].estimate = std::move(estimates[i]);
    }
  }
  mark_significant(map);
  if (options.direct && k > 0) keep_direct_links(which, options, k, estimator, map);
}

void note_statuses(InformationMap& map) {
  std::int64_t biased = 0;
  for (const InformationLink& link : map.links) {
    biased += link.estimate.status == InformationStatus::biased ? 1 : 0;
  }
  if (biased == 0) return;
  map.notes.push_back(fmt::format(
      "{} of {} estimates change with k by more than their spread: too few rows for so strong a "
      "dependence, true values are larger",
      biased, map.links.size()));
}

InformationEstimate single(const std::vector<Series>& columns, const InformationColumns& which,
                           const InformationOptions& options) {
  const OpenedBackend opened = open_backend("cpu");
  return estimate_information(columns, which, options, *opened.backend).links.front().estimate;
}

}  // namespace

InformationMap estimate_information(const std::vector<Series>& columns,
                                    const InformationColumns& which,
                                    const InformationOptions& options, Backend& backend) {
  InformationMap map;
  map.measure = options.measure;
  map.rows = columns.empty() ? 0 : std::ssize(columns.front().values);
  map.surrogates = options.surrogates;
  map.false_discovery_rate = options.false_discovery_rate;
  for (const Series& column : columns) map.names.push_back(column.name);
  check_options(options, map.rows);
  map.links = links_of(columns, which, options);
  Tasks tasks;
  for (const InformationLink& link : map.links) tasks.push_back(task_of(link, which, options));
  PreparedColumns prepared = prepare_columns(columns, tasks, options);
  map.notes = prepared.notes;
  const std::vector<std::size_t> open = settle(prepared, tasks, map);
  if (open.empty()) return map;
  if (is_binned(options.measure)) {
    if (prepared.times.size() < 2) {
      throw InvalidArgument(
          "information.rows",
          fmt::format("{} rows without missing values are too few", prepared.times.size()),
          "at least 2");
    }
    Tasks some;
    for (const std::size_t i : open) some.push_back(tasks[i]);
    const std::vector<InformationEstimate> estimates =
        estimate_from_bins(columns, prepared, some, options, backend);
    for (std::size_t i = 0; i < open.size(); ++i) map.links[open[i]].estimate = estimates[i];
    mark_significant(map);
    return map;
  }
  if (options.local) map.point_rows = prepared.times;
  estimate_by_neighbors(which, options, prepared, tasks, open, backend, map);
  note_statuses(map);
  return map;
}

InformationEstimate mutual_information(const std::vector<double>& x, const std::vector<double>& y,
                                       InformationOptions options) {
  options.measure = InformationMeasure::mutual_information;
  return single({{"x", x}, {"y", y}}, {{0}, {1}, {}}, options);
}

InformationEstimate conditional_mutual_information(const std::vector<double>& x,
                                                   const std::vector<double>& y,
                                                   const std::vector<double>& z,
                                                   InformationOptions options) {
  options.measure = InformationMeasure::conditional_mutual_information;
  return single({{"x", x}, {"y", y}, {"z", z}}, {{0}, {1}, {2}}, options);
}

InformationEstimate transfer_entropy(const std::vector<double>& source,
                                     const std::vector<double>& target,
                                     InformationOptions options) {
  options.measure = InformationMeasure::transfer_entropy;
  return single({{"x", source}, {"y", target}}, {{0}, {1}, {}}, options);
}

}  // namespace kiln
