// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kiln/errors.hpp"
#include "kiln/kernels/information/ksg_neighbors.hpp"
#include "kiln/kernels/information/ksg_points.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

using Measure = InformationMeasure;

void require_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return;
  throw InvalidArgument("information.option",
                        fmt::format("{}={} is outside {} .. {}", name, value, low, high));
}

std::vector<std::int32_t> lags_of(const InformationOptions& options) {
  if (!options.lags.empty()) return options.lags;
  return {options.measure == Measure::transfer_entropy ? 1 : 0};
}

// The numbers that were given, or all columns that are no conditions.
std::vector<std::int32_t> chosen(const std::vector<std::int32_t>& given,
                                 const InformationColumns& which, std::int64_t columns) {
  std::vector<std::int32_t> all = given;
  for (std::int32_t c = 0; given.empty() && c < columns; ++c) {
    if (std::ranges::find(which.conditions, c) == which.conditions.end()) all.push_back(c);
  }
  return all;
}

void require_columns(const InformationColumns& which, std::int64_t columns) {
  for (const auto* list : {&which.sources, &which.targets, &which.conditions}) {
    for (const std::int32_t column : *list) {
      if (column >= 0 && column < columns) continue;
      throw InvalidArgument("information.column", fmt::format("there is no column {}", column),
                            fmt::format("0 .. {}", columns - 1));
    }
  }
}

// What is known already says nothing, and nothing can be said of it.
void require_apart(const std::vector<Series>& columns, const InformationColumns& which) {
  for (const std::int32_t condition : which.conditions) {
    for (const auto* list : {&which.sources, &which.targets}) {
      if (std::ranges::find(*list, condition) == list->end()) continue;
      throw InvalidArgument(
          "information.condition",
          fmt::format("column '{}' is a condition, and a {} too", columns[idx(condition)].name,
                      list == &which.sources ? "source of information" : "target"),
          "a column has one part");
    }
  }
}

// A task has a limited number of coordinates.
void require_dims(const InformationTask& task) {
  const std::size_t dims = task.z.size() + task.y.size() + task.x.size();
  if (dims <= KsgPoints::max_dims) return;
  throw InvalidArgument(
      "information.dimensions", fmt::format("an estimate would have {} coordinates", dims),
      fmt::format("at most {}", KsgPoints::max_dims), "shorten the past, or take fewer conditions");
}

}  // namespace

bool is_symmetric(InformationMeasure measure) {
  return measure == Measure::mutual_information || measure == Measure::binned_mutual_information ||
         measure == Measure::conditional_mutual_information;
}

bool is_binned(InformationMeasure measure) {
  return measure == Measure::entropy || measure == Measure::conditional_entropy ||
         measure == Measure::binned_mutual_information;
}

bool is_of_one_column(InformationMeasure measure) {
  return measure == Measure::entropy || measure == Measure::active_storage;
}

void check_options(const InformationOptions& options, std::int64_t rows) {
  const std::int64_t max_lag = std::max<std::int64_t>(0, rows - 1);
  require_range("k", options.k, 0, KsgNeighbors::max_k);
  require_range("type", options.type, 1, 2);
  require_range("past", options.past, 1, KsgPoints::max_dims - 2);
  require_range("source_past", options.source_past, 1, KsgPoints::max_dims - 1);
  require_range("theiler", options.theiler, 0, std::int64_t{1} << 30);
  require_range("surrogates", options.surrogates, 0, 1'000'000);
  require_range("bins", options.bins, 0, 64);
  if (options.bins == 1) require_range("bins", 1, 2, 64);
  if (!(options.false_discovery_rate > 0 && options.false_discovery_rate <= 1)) {
    throw InvalidArgument(
        "information.option",
        fmt::format("false_discovery_rate={} is outside (0, 1]", options.false_discovery_rate));
  }
  for (const std::int32_t lag : lags_of(options)) {
    require_range("lag", lag, options.measure == Measure::transfer_entropy ? 1 : 0,
                  std::int64_t{1} << 30);
    if (lag <= max_lag) continue;
    throw InvalidArgument("information.lag",
                          fmt::format("a lag of {} is beyond the {} rows", lag, rows),
                          fmt::format("at most {}", max_lag));
  }
  if (options.direct && (options.measure != Measure::transfer_entropy || options.surrogates == 0)) {
    throw InvalidArgument("information.direct",
                          "direct links need transfer entropy and surrogates");
  }
}

std::vector<InformationLink> links_of(const std::vector<Series>& columns,
                                      const InformationColumns& which,
                                      const InformationOptions& options) {
  const auto count = std::ssize(columns);
  require_columns(which, count);
  require_apart(columns, which);
  const bool conditional = options.measure == Measure::conditional_mutual_information;
  if (conditional && which.conditions.empty()) {
    throw InvalidArgument("information.condition",
                          "conditional mutual information needs a condition");
  }
  const std::vector<std::int32_t> targets = chosen(which.targets, which, count);
  const std::vector<std::int32_t> sources = chosen(which.sources, which, count);
  constexpr std::int64_t max_links = 1'000'000;
  const std::int64_t pairs =
      std::ssize(targets) * std::ssize(sources) * std::ssize(lags_of(options));
  if (!is_of_one_column(options.measure) && pairs > max_links) {
    throw InvalidArgument("information.links", fmt::format("{} pairs are too many", pairs),
                          fmt::format("at most {}", max_links), "choose columns");
  }
  std::vector<InformationLink> links;
  for (const std::int32_t target : targets) {
    if (is_of_one_column(options.measure)) {
      links.push_back({-1, target, 0, {}, false, InformationEstimate::none});
      continue;
    }
    for (const std::int32_t source : sources) {
      for (const std::int32_t lag : lags_of(options)) {
        if (source == target) continue;
        // Of two columns that are both sources and targets one direction says all.
        const bool is_other_way = is_symmetric(options.measure) && lag == 0 && source > target &&
                                  std::ranges::find(targets, source) != targets.end() &&
                                  std::ranges::find(sources, target) != sources.end();
        if (!is_other_way) {
          links.push_back({source, target, lag, {}, false, InformationEstimate::none});
        }
      }
    }
  }
  if (!links.empty()) return links;
  throw InvalidArgument("information.links", "there is no pair of columns to compare",
                        "two columns that are no conditions");
}

InformationTask task_of(const InformationLink& link, const InformationColumns& which,
                        const InformationOptions& options) {
  InformationTask task;
  task.y.push_back({link.target, 0});
  if (options.measure == Measure::active_storage) {
    for (std::int32_t p = 1; p <= options.past; ++p) task.x.push_back({link.target, p});
  } else if (link.source >= 0) {
    const std::int32_t rows = is_binned(options.measure) ? 1 : options.source_past;
    for (std::int32_t p = 0; p < rows; ++p) task.x.push_back({link.source, link.lag + p});
  }
  if (options.measure == Measure::transfer_entropy) {
    for (std::int32_t p = 1; p <= options.past; ++p) task.z.push_back({link.target, p});
  }
  if (options.measure == Measure::transfer_entropy ||
      options.measure == Measure::conditional_mutual_information) {
    for (const std::int32_t condition : which.conditions) task.z.push_back({condition, link.lag});
  }
  require_dims(task);
  return task;
}

}  // namespace kiln
