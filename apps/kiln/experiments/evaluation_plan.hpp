// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kiln/problem.hpp"

#include "cli/settings.hpp"

namespace kiln::cli {

/// How many expensive evaluations a run makes.
struct EvaluationPlan {
  std::int64_t studies = 1;             ///< independent searches, or islands of a population
  std::int64_t batch = 1;               ///< evaluated at the same time, in each study
  std::int64_t last = 1;                ///< the same of the last batch
  std::optional<std::int64_t> batches;  ///< of each study, one after the other; none: no limit
  std::int64_t points = 0;              ///< all that there are, if a study evaluates all; else 0
  const char* point = "point";          ///< what one is called: point, or row of a table

  std::optional<std::int64_t> total() const;
};

/// Nothing for schedules that are not for few evaluations.
/// @param parameters  of the schedule, as it shows them
std::optional<EvaluationPlan> evaluation_plan(const CommandOptions& options,
                                              const ScheduleEntry& entry,
                                              const std::map<std::string, std::string>& parameters,
                                              const Problem& problem);

/// Makes the evaluations that the schedule is to make a limit of the run, beside others.
/// @return false if a limit of sweeps comes first, which then stays as it was.
bool end_at_evaluations(CommandOptions& options, const ScheduleEntry& entry,
                        const std::map<std::string, std::string>& parameters);

/// "after 40 evaluations (20 batches of 2) or after 7200 s or at target 0.5"
std::string stop_rule(const EvaluationPlan& plan, const CommandOptions& options);

/// A note on the first call, and about how long all of them will take.
/// @param at_once  calls that run at the same time
std::string first_evaluation_text(const FirstEvaluation& first,
                                  const std::optional<EvaluationPlan>& plan, std::int64_t at_once);

}  // namespace kiln::cli
