// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kiln/registry.hpp"

#include "cli/run_registry.hpp"
#include "experiments/evaluation_plan.hpp"
#include "output/solve_text.hpp"

namespace kiln::cli {
namespace {

// Whether no state can be better: that ends a run before its limit.
bool at_bound(const Result& result) {
  const bool most = result.sense == Sense::maximize;
  const auto bound = result.diagnostics.find(bound_name(most));
  if (bound == result.diagnostics.end()) return false;
  return most ? result.objective >= bound->second : result.objective <= bound->second;
}

}  // namespace

std::string stop_rule(const RunFacts& facts) {
  CommandOptions options = facts.options;
  if (facts.continues_until) {
    options.counts_evaluations &= options.budget.sweeps == facts.continues_until->sweeps;
    options.budget = *facts.continues_until;
  }
  const Registry registry = run_registry(options.schedule);
  const std::optional<EvaluationPlan> plan = evaluation_plan(
      options, registry.schedule(options.schedule), facts.parameters, facts.loaded.problem);
  return plan ? stop_rule(*plan, options) : stop_rule(options, facts.step, facts.parameters);
}

const char* bound_name(bool maximize) { return maximize ? "upper_bound" : "lower_bound"; }

std::string limit_name(bool records, const std::string& step) {
  return records ? "evaluation limit" : step + " limit";
}

std::string end_of_search(const std::string& value_name, bool at_bound) {
  if (!at_bound) return "schedule finished";
  return value_name == "conflicts" ? "proper colouring found" : "optimum found";
}

std::string stop_text(const Result& result) {
  const double s = result.time.run_s;
  switch (result.stop) {
    case Stop::target_reached:
      return fmt::format("target reached in {:.1f} s", s);
    case Stop::time_limit:
      return fmt::format("time limit after {:.1f} s", s);
    case Stop::work_limit:
      return fmt::format("work limit after {:.1f} s", s);
    case Stop::sweep_limit:
      if (!result.until.empty()) return fmt::format("all draws made after {:.1f} s", s);
      return fmt::format("{} after {:.1f} s",
                         limit_name(result.diagnostics.contains(records_evaluations), result.step),
                         s);
    case Stop::evaluation_limit:
      return fmt::format("evaluation limit after {:.1f} s", s);
    case Stop::gain_limit:
      return fmt::format("gained too little after {:.1f} s", s);
    case Stop::converged:
      if (!result.until.empty()) return fmt::format("conditions met after {:.1f} s", s);
      return fmt::format("{} after {:.1f} s", end_of_search(result.value_name, at_bound(result)),
                         s);
    case Stop::interrupted:
      return fmt::format("interrupted after {:.1f} s", s);
    case Stop::terminated:
      return fmt::format("terminated after {:.1f} s", s);
    case Stop::unfinished:
      return fmt::format("unfinished after {:.1f} s", s);
    case Stop::failed:
      return fmt::format("failed after {:.1f} s", s);
    case Stop::observer:
      return fmt::format("stopped by {} after {:.1f} s", result.stopped_by, s);
  }
  return "?";
}

}  // namespace kiln::cli
