// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedule.hpp"

#include <numeric>

#include "kiln/run.hpp"

namespace kiln {

Schedule::~Schedule() = default;
void Schedule::begin(Run&) {}
void Schedule::annotate(ReportPoint&) const {}
void Schedule::finish(Run&) {}
void Schedule::report(Run&, Result&) {}

FrontCandidates Schedule::front(Run& run) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(run.batch().replicas()));
  std::iota(slots.begin(), slots.end(), 0);
  FrontCandidates candidates;
  candidates.states = run.batch().read_states(slots, true);
  return candidates;
}

}  // namespace kiln
