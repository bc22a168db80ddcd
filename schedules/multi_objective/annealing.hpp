// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/run_context.hpp"
#include "kiln/schedules/multi_objective.hpp"

#include "frame.hpp"
#include "pool.hpp"

namespace kiln {

/// Replicas that anneal beside the archive of their island: its members are the residents of the
/// pool, proposals its newcomers.
class ArchiveAnnealing {
 public:
  void allocate(AllocateContext& run, const Pool& pool, const MultiObjectiveOptions& options,
                std::int64_t steps);
  /// In Schedule::initialize: the first states are at hand as newcomers of the pool.
  void begin(InitializeContext& run, const Pool& pool,
             const std::vector<StateBlock>& proposals) const;
  /// After the proposals were evaluated.
  void step(WorkContext& run, const Pool& pool, const std::vector<StateBlock>& proposals) const;
  const std::vector<StateBlock>& archive() const { return archive_; }
  View2<double> value() const { return value_; }
  View1<double> violation() const { return violation_; }

 private:
  void archive_newcomers(WorkContext& run, const Pool& pool,
                         const std::vector<StateBlock>& from) const;

  MultiObjectiveOptions options_;
  std::int64_t steps_ = 1;
  std::vector<StateBlock> archive_;
  View2<double> value_;      // [objectives][slots], of the present states
  View1<double> violation_;  // [slots]
  View1<std::int32_t> source_, member_;
  Frame frame_;
};

}  // namespace kiln
