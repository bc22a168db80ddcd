// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "kiln/plan.hpp"
#include "kiln/registry.hpp"

#include "cli/settings.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {

/// What `kiln solve --dry-run` found out.
struct DryRun {
  const CommandOptions& options;
  const LoadedProblem& loaded;
  const ScheduleEntry& schedule;
  const RunPlan& plan;
  std::string step;                               ///< what a step of the schedule is called
  std::map<std::string, std::string> parameters;  ///< of the schedule, resolved
};

/// Sizes, device, memory needed and free, and options and parameters with their origin.
/// @param whole  also those that have their defaults, which are more than a screen
std::string dry_run_text(const DryRun& run, bool whole);

/// The same as a document, schema `kiln.plan/1`.
std::string dry_run_json(const DryRun& run);

}  // namespace kiln::cli
