// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/report_quantities.hpp"

#include "kiln/registry.hpp"

#include "cli/run_registry.hpp"

namespace kiln::cli {

// A step of a chain or of a population moves all variables at once, so its attempts are no moves of
// one variable.
std::vector<std::string> report_quantities(const RunFacts& facts) {
  const Registry registry = run_registry(facts.options.schedule);
  const ScheduleEntry& entry = registry.schedule(facts.options.schedule);
  if (entry.few_evaluations) return {};
  if (entry.several_objectives) return {"acceptance_rate"};
  if (facts.options.verb->samples) return {"mean", "acceptance_rate"};
  if (entry.samples && facts.step == "transition") return {"mean", "acceptance_rate", "beta"};
  return {"mean", "acceptance_rate", "beta", "attempts_per_ns"};
}

}  // namespace kiln::cli
