// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "starts.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln::hmc {

void begin_chains(Run& run, std::int64_t starts) {
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
    throw ObjectiveError("objective.start",
                         "none of " + std::to_string(batch.replicas()) + " starts of objective '" +
                             run.problem().objective->name() + "' has a finite value",
                         "starts lie within the bounds, or within 2 of 0 where there are none",
                         "--initial FILE with a point inside the support, or more --replicas");
  }
  const bool all_good = static_cast<std::int64_t>(good.size()) == batch.replicas();
  if (all_good && starts == batch.replicas()) return;
  // Those whose own start is not used come first: no two of the starts should be the same.
  std::ranges::stable_partition(good, [&](std::int64_t r) { return r >= starts; });
  std::vector<std::int64_t> from;
  std::size_t next = 0;
  for (std::int64_t r = 0; r < starts; ++r) {
    from.push_back(finite(r) ? r : good[next++ % good.size()]);
  }
  batch.write_states(batch.read_states(from, false));
  run.evaluate(batch.energy(), {});
}

}  // namespace kiln::hmc
