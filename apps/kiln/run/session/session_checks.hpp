// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/problem.hpp"
#include "kiln/registry.hpp"
#include "kiln/result.hpp"

#include "cli/settings.hpp"
#include "run/problem_source.hpp"

// What keeps a run from being started, or its result from being one. Each throws.
namespace kiln::cli {

/// Records have the shape of one stage: a run of a pipeline has none.
/// @throws InvalidArgument if the user asks for them.
void leave_out_telemetry(CommandOptions& options, const Schedule& schedule);

/// @throws ObjectiveError `result.infeasible`; SelfCheckError `check.mismatch`
void require_verified(const Result& result, const Problem& problem);

/// A front without a member is no result, though there may be states that come near one.
/// @throws ObjectiveError `result.infeasible`, `objective.not_finite`, `run.no_evaluation`
void require_front(const Result& result, const Problem& problem);

/// @throws InputError `repeat.changed`
void require_unchanged(const LoadedProblem& loaded, const CommandOptions& options);

/// @throws InvalidArgument `schedule.no_draws`
void require_sampler(const ScheduleEntry& entry, const Registry& registry);

/// Of a naming of draws that a file gives beside shared noise, which excludes it: whose words the
/// user did not write. @throws InvalidArgument `run.draw_naming`
void require_possible_naming(const CommandOptions& options, const Schedule& schedule);

/// What records energies of replicas has nothing to record of a front. @throws InvalidArgument
/// `cli.telemetry`
void require_telemetry(const CommandOptions& options, const ScheduleEntry& entry);

/// A problem to be sampled: a posterior as it is, a formula as the negative logarithm of a density.
/// @throws InvalidArgument `problem.no_density`
Problem with_density(Problem problem, const CommandOptions& options);
/// The same before the problem is made: families with options (--var) but formulas have no
/// densities.
void require_sampled_family(const CommandOptions& options, const Registry& registry);

/// Before anything that takes time: of --save, what repeats another run may be replaced, and
/// nothing else. @throws IoError `io.exists`
void check_save(const std::string& path);

/// Likewise of --metrics: earlier metrics may be replaced. @throws IoError `io.exists`, `io.write`
void check_metrics(const std::string& path, const std::string& run_folder);

}  // namespace kiln::cli
