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
  std::vector<IncumbentRow> incumbents;  ///< values as `best`
  /// Schedule, device, options and parameters, without those that choose a seed or an output.
  std::map<std::string, std::string> settings;
  std::size_t group = 0;
  std::optional<double> hit_s;  ///< when its best value first reached the target
};

/// Runs of one problem: of one name, with the same data, sizes, objective and sense. Those with
/// equal settings form a group.
struct ComparedProblem {
  std::string name, value_name;
  /// What else identifies the problem, with the words for a reader: {"fingerprint", "3f..."}.
  std::map<std::string, std::string> identity;
  /// The name, and what distinguishes the problem from others of this name:
  /// "g.rud (fingerprint 3f29ab04)".
  std::string title;
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
