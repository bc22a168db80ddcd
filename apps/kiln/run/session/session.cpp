// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/session/session.hpp"

#include "kiln/plan.hpp"
#include "kiln/problems/command.hpp"

#include "output/console.hpp"
#include "run/dry_run.hpp"
#include "run/session/session_run.hpp"

namespace kiln::cli {
namespace {

ExitCode dry_run(const Session& session) {
  const CommandOptions& options = session.options;
  constexpr std::string_view command = "command:";
  if (session.loaded.problem.identity.family == "command" && options.problem.starts_with(command)) {
    problems::require_program(options.problem.substr(command.size()),
                              options.problem_options.settings);
  }
  const RunPlan plan = plan_run(session.loaded.problem, *session.schedule, options.budget,
                                options.run, session.backend);
  const DryRun run{options,
                   session.loaded,
                   session.registry.schedule(options.schedule),
                   plan,
                   std::string(session.schedule->step_name()),
                   session.schedule->parameters()};
  if (options.has("json")) {
    print_result(dry_run_json(run));
  } else {
    print_text(dry_run_text(run, options.has("verbose") || !results_are_seen()));
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode run_session(Session session, const std::vector<std::string>& words,
                     const RunOutput& output) {
  if (session.options.has("dry-run")) return dry_run(session);
  return SessionRun(std::move(session), output).run(words);
}

}  // namespace kiln::cli
