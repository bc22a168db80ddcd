// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "starts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

#include "shared/temperatures.hpp"

namespace kiln::hmc {

void begin_chains(WorkContext& run, std::int64_t starts) {
  ReplicaBatch& batch = run.batch();
  const std::vector<double> energies = batch.read_energies(false);
  const auto finite = [&](std::int64_t r) {
    return std::isfinite(energies[static_cast<std::size_t>(r)]);
  };
  std::vector<std::int64_t> good;
  for (std::int64_t r = 0; r < batch.replicas(); ++r) {
    if (finite(r)) good.push_back(r);
  }
  if (good.empty()) {
    throw ObjectiveError(
        "objective.start",
        "none of " + std::to_string(batch.replicas()) + " initial states of objective '" +
            run.problem().objective->name() + "' has a finite value",
        "random initial states lie between both bounds, within 4 of a single bound, or in -2 .. 2 "
        "without bounds",
        Fix::initial_states("a point inside the support").or_else(Fix::more_replicas()));
  }
  const bool all_good = static_cast<std::int64_t>(good.size()) == batch.replicas();
  if (all_good && starts == batch.replicas()) return;
  // Those whose own start is not used come first: no two of the starts should be the same.
  std::stable_partition(good.begin(), good.end(), [&](std::int64_t r) { return r >= starts; });
  std::vector<std::int64_t> from;
  std::size_t next = 0;
  for (std::int64_t r = 0; r < starts; ++r) {
    from.push_back(finite(r) ? r : good[next++ % good.size()]);
  }
  batch.write_states(batch.read_states(from, false));
  run.evaluate(batch.energy(), {});
}

void descend_starts(WorkContext& run, std::int64_t rungs, const std::vector<double>& parameter,
                    std::int64_t steps) {
  if (steps == 0) return;
  std::vector<double> cold, lambda;
  for (std::int64_t r = 0; r < rungs; ++r) {
    cold.push_back(std::numeric_limits<double>::infinity());
    if (parameter.empty()) continue;
    lambda.push_back(parameter[static_cast<std::size_t>(r) % parameter.size()]);
  }
  const DeviceArray<double> beta(run.queue(), cold), parameters(run.queue(), lambda);
  const double energy_tol = 0.5 * static_cast<double>(run.batch().space().variables());
  descend_by_gradient(run, {run.batch(), beta.view(), parameters.view(), run.control(), 0,
                            energy_tol, static_cast<std::int32_t>(steps)});
  run.queue().wait();
}

}  // namespace kiln::hmc
