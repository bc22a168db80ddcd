// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnosis_series.hpp"

#include <algorithm>
#include <array>

namespace kiln::cli {
namespace {

// Columns of the two tables of a ladder, first those that every run has.
constexpr std::array<const char*, 2> gap_columns{"acceptance", "rejection"};
constexpr std::array<const char*, 8> rung_columns{"beta",         "mean_energy", "energy_deviation",
                                                  "log_z",        "best_energy", "best_share",
                                                  "cluster_size", "cluster_open"};

bool is_gap_column(const std::string& name) {
  return std::ranges::find(gap_columns, name) != gap_columns.end();
}

}  // namespace

std::size_t rungs_of(const Diagnosis& run) { return run.series.at("beta").size(); }

std::vector<std::string> columns_of_rungs(const Diagnosis& run) {
  std::vector<std::string> names;
  for (const char* name : rung_columns) {
    if (run.series.contains(name)) names.emplace_back(name);
  }
  for (const auto& [name, values] : run.series) {
    const bool listed = std::ranges::find(names, name) != names.end();
    if (!listed && !is_gap_column(name)) names.push_back(name);
  }
  std::erase_if(names,
                [&](const auto& name) { return run.series.at(name).size() != rungs_of(run); });
  return names;
}

std::map<std::string, std::vector<Number>> remaining_series(const Diagnosis& run) {
  std::map<std::string, std::vector<Number>> rest = run.series;
  if (!run.has_ladder()) return rest;
  for (const char* name : gap_columns) rest.erase(name);
  for (const std::string& name : columns_of_rungs(run)) rest.erase(name);
  std::erase_if(rest, [](const auto& one) { return one.second.empty(); });
  return rest;
}

bool Diagnosis::has_ladder() const {
  const auto size_of = [&](const char* name) {
    const auto found = series.find(name);
    return found == series.end() ? std::size_t{0} : found->second.size();
  };
  const std::size_t rungs = size_of("beta");
  return diagnostics.contains("barrier") && rungs > 0 && size_of("acceptance") + 1 == rungs &&
         size_of("rejection") + 1 == rungs;
}

}  // namespace kiln::cli
