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

bool uses_constant(const PreparedColumns& columns, const InformationTask& task,
                   InformationMeasure measure) {
  const auto is_constant = [&](const InformationAxis& axis) {
    return columns.constant[idx(axis.column)];
  };
  // A constant source leaves all of the entropy of the target.
  const bool source_counts = measure != InformationMeasure::conditional_entropy;
  return std::ranges::any_of(task.y, is_constant) ||
         (source_counts && std::ranges::any_of(task.x, is_constant));
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
    if (estimate.points > 1 && uses_constant(columns, tasks[i], map.measure)) {
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
  const std::int64_t fewest = std::max<std::int64_t>(1, estimator.fewest_neighbors());
  std::vector<std::int32_t> candidates{3, 4, 6, 8, 12, 16};
  std::erase_if(candidates, [&](std::int32_t k) { return k > fewest; });
  if (candidates.size() < 3) return static_cast<std::int32_t>(std::min<std::int64_t>(4, fewest));
  const std::vector<std::vector<double>> values =
      estimator.estimate(tasks, {.k = candidates.front(), .other_k = candidates}).of_other_k;
  std::size_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 1; c + 1 < candidates.size(); ++c) {
    double change = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      change +=
          std::abs(values[c][i] - values[c - 1][i]) + std::abs(values[c + 1][i] - values[c][i]);
    }
    if (change >= least) continue;
    least = change;
    best = c;
  }
  return candidates[best];
}

// Four times as many neighbours see a coarser picture: where dependence is strong or the dimension
// high, they see less of it, and so do k neighbours. Empty if there are no such neighbours.
std::vector<std::int32_t> coarser(const KsgEstimator& estimator, std::int32_t k) {
  const std::int32_t other = k <= 4 ? 4 * k : k / 4;
  if (estimator.fewest_neighbors() < other) return {};
  return {other};
}

void mark_biased(const std::vector<double>& of_other, std::vector<InformationEstimate>& estimates) {
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const double change = std::abs(of_other[i] - estimates[i].value);
    const double larger = std::max(of_other[i], estimates[i].value);
    // Where nothing is said, surrogates have the same bias.
    const bool says_something = larger > 3 * estimates[i].spread;
    if (says_something && change > 3 * estimates[i].spread && change > 0.1 * larger) {
      estimates[i].status = InformationStatus::biased;
    }
  }
}

// Surrogates of a task.
SurrogateKind kind_of(const PreparedColumns& columns, const InformationTask& task,
                      const InformationOptions& options) {
  if (options.surrogate_kind) return *options.surrogate_kind;
  if (options.measure == InformationMeasure::active_storage || task.x.empty()) {
    return SurrogateKind::permutation;
  }
  const bool both = depends_on_row_before(columns, task.y.front().column) &&
                    depends_on_row_before(columns, task.x.front().column);
  return both ? SurrogateKind::rotation : SurrogateKind::permutation;
}

// Tasks of the same numbers of coordinates, with the same kind of surrogates, run together.
struct Batch {
  std::array<std::size_t, 3> shape;
  SurrogateKind kind;
  friend auto operator<=>(const Batch&, const Batch&) = default;
};
using Batches = std::map<Batch, std::vector<std::size_t>>;

Batches batches_of(const PreparedColumns& columns, const Tasks& tasks,
                   const std::vector<std::size_t>& open, const InformationOptions& options) {
  Batches batches;
  for (const std::size_t i : open) {
    const InformationTask& task = tasks[i];
    const SurrogateKind kind =
        options.surrogates > 0 ? kind_of(columns, task, options) : SurrogateKind::permutation;
    batches[{{task.z.size(), task.y.size(), task.x.size()}, kind}].push_back(i);
  }
  return batches;
}

void note_kinds(const Batches& batches, const InformationOptions& options, std::int64_t points,
                InformationMap& map) {
  std::size_t rotated = 0, all = 0;
  for (const auto& [batch, numbers] : batches) {
    all += numbers.size();
    rotated += batch.kind == SurrogateKind::rotation ? numbers.size() : 0;
  }
  if (options.surrogates == 0 || rotated == 0) return;
  if (!options.surrogate_kind) {
    map.notes.push_back(fmt::format(
        "surrogates of {} of {} links are rotations, because source and target depend on "
        "the row before; permutations would take that for information",
        rotated, all));
  }
  const SurrogatePlan plan{options.surrogates, SurrogateKind::rotation, options.theiler};
  if (plan.count_of(points) < options.surrogates) {
    map.notes.push_back(fmt::format("{} points have {} rotations", points, plan.count_of(points)));
  }
}

SurrogatePlan plan_of(const InformationOptions& options, SurrogateKind kind) {
  return {options.surrogates, kind, options.theiler};
}

void estimate_by_neighbors(const InformationColumns& which, const InformationOptions& options,
                           const PreparedColumns& columns, const Tasks& tasks,
                           const Batches& batches, Backend& backend, InformationMap& map) {
  KsgEstimator estimator(columns, options, backend);
  std::int32_t k = options.k;
  for (const auto& [batch, numbers] : batches) {
    Tasks some;
    for (const std::size_t i : numbers) some.push_back(tasks[i]);
    if (k == 0) {
      k = stable_k(estimator, some);
      map.notes.push_back(fmt::format("{} neighbours: estimates change the least there", k));
    }
    KsgAnswer answer = estimator.estimate(some, {.k = k,
                                                 .other_k = coarser(estimator, k),
                                                 .surrogates = plan_of(options, batch.kind),
                                                 .local = options.local});
    if (!answer.of_other_k.empty()) mark_biased(answer.of_other_k.front(), answer.estimates);
    for (std::size_t i = 0; i < some.size(); ++i) {
      map.links[numbers[i]].estimate = std::move(answer.estimates[i]);
    }
  }
  mark_significant(map);
  if (!options.direct || k == 0) return;
  // One kind for all sources of a target: rotations where any link has them.
  const bool rotates = std::ranges::any_of(
      batches, [](const auto& one) { return one.first.kind == SurrogateKind::rotation; });
  const SurrogateKind kind = rotates ? SurrogateKind::rotation : SurrogateKind::permutation;
  keep_direct_links(which, options, k, plan_of(options, kind), estimator, map);
}

void estimate_by_bins(const std::vector<Series>& columns, const InformationOptions& options,
                      const PreparedColumns& prepared, const Tasks& tasks, const Batches& batches,
                      Backend& backend, InformationMap& map) {
  if (prepared.times.size() < 2) {
    throw InvalidArgument(
        "information.rows",
        fmt::format("{} rows without missing values are too few", prepared.times.size()),
        "at least 2");
  }
  for (const auto& [batch, numbers] : batches) {
    Tasks some;
    for (const std::size_t i : numbers) some.push_back(tasks[i]);
    const std::vector<InformationEstimate> estimates =
        estimate_from_bins(columns, prepared, some, options, plan_of(options, batch.kind), backend);
    for (std::size_t i = 0; i < some.size(); ++i) map.links[numbers[i]].estimate = estimates[i];
  }
  mark_significant(map);
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
  PreparedColumns prepared = prepare_columns(columns, tasks, options, *backend.make_queue());
  map.notes = prepared.notes;
  const std::vector<std::size_t> open = settle(prepared, tasks, map);
  if (open.empty()) return map;
  const Batches batches = batches_of(prepared, tasks, open, options);
  note_kinds(batches, options, std::ssize(prepared.times), map);
  if (is_binned(options.measure)) {
    estimate_by_bins(columns, options, prepared, tasks, batches, backend, map);
    return map;
  }
  if (options.local) map.point_rows = prepared.times;
  estimate_by_neighbors(which, options, prepared, tasks, batches, backend, map);
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
