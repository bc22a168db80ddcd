// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/run_files.hpp"

namespace kiln::cli {

/// What a comparison knows of a run.
struct ComparedRun {
  const RunFiles* files = nullptr;
  std::string problem;
  std::string seed;
  std::optional<double> best;
  /// Schedule, device, options and parameters, without those that choose a seed or an output.
  std::map<std::string, std::string> settings;
  std::size_t group = 0;
  std::optional<double> hit_s;  ///< when its best value first reached the target
};

/// Runs of one problem. Those with equal settings form a group and differ by their seeds.
struct ComparedProblem {
  std::string name, value_name;
  bool maximized = false;
  std::vector<ComparedRun> runs;
  std::vector<std::string> groups;     ///< [group] the settings that differ, for people
  std::vector<std::string> differing;  ///< names of the settings that differ
  double target = 0;
  std::string target_origin;  ///< "best known value"
  bool has_target = false;
};

/// Sorts runs by problem and settings, in the order in which they are given.
/// @param target  as for comparison_of()
std::vector<ComparedProblem> compare(const std::vector<RunFiles>& runs,
                                     std::optional<double> target);

/// A median with the interval between two order statistics that covers the median of the
/// distribution with a probability of 95 % at least; fewer than six values have no such interval.
struct Median {
  double value = 0;
  std::optional<double> low, high;
};

/// @param values  at least one; infinity for a run that never hit
/// @par Source  David, Nagaraja, Order Statistics (2003), section 7.1.
Median median_of(std::vector<double> values);

}  // namespace kiln::cli
