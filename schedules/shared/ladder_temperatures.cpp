// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Temperatures that a user sets while a ladder runs.
#include <vector>

#include "arrays.hpp"
#include "ladder.hpp"

namespace kiln::ladder {
namespace {

template <class T>
void put(RunContext& run, View1<T> to, const std::vector<T>& values) {
  if (to) run.queue().upload(to.data, values.data(), values.size() * sizeof(T));
}

template <class T>
void reset(RunContext& run, View1<T> to, T value = {}) {
  put(run, to, filled(to.size, value));
}

}  // namespace

// As the end of a round of adaptation does it, of which none follows.
void Ladders::set_betas(RunContext& run, const std::vector<double>& betas) const {
  std::vector<double> of_all;
  for (std::int64_t i = 0; i < beta.size; ++i) {
    of_all.push_back(betas[static_cast<std::size_t>(i % rungs())]);
  }
  put(run, beta, of_all);
  LadderPlan plan = run.read(plan_).front();
  plan.rounds_left = plan.calls = plan.moves = plan.rest = 0;
  put(run, plan_, {plan});
  std::vector<RungSums> sums = run.read(sums_);
  for (RungSums& one : sums) {
    RungSums fresh;
    fresh.best = one.best;  // covers the whole run
    one = fresh;
  }
  put(run, sums_, sums);
  reset(run, cells_);
  reset(run, counts_.attempts);
  reset(run, counts_.accepted);
  reset(run, counts_.chance);
  reset(run, counts_.totals);
  reset(run, record_.state);
  reset(run, record_.parts, LadderStatistics::nothing());
  put(run, link_, {UniformLink{}});  // was measured at the former hottest temperature
}

}  // namespace kiln::ladder
