// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/run_context.hpp"
#include "kiln/schedules/amosa.hpp"

#include "fronts/frame.hpp"
#include "fronts/pool.hpp"

namespace kiln {

/// Replicas that anneal beside the archive of their island: its members are the residents of the
/// pool, proposals its newcomers.
class ArchiveAnnealing {
 public:
  void allocate(AllocateContext& run, const Pool& pool, const AmosaOptions& options,
                std::int64_t steps);
  /// In Schedule::initialize: evaluates the first states, which are newcomers of the pool too.
  void begin(InitializeContext& run, const Pool& pool, const std::vector<StateBlock>& states) const;
  /// After the proposals were evaluated.
  void step(WorkContext& run, const Pool& pool, const std::vector<StateBlock>& proposals) const;
  const std::vector<StateBlock>& archive() const { return archive_; }

 private:
  void archive_newcomers(WorkContext& run, const Pool& pool,
                         const std::vector<StateBlock>& from) const;

  AmosaOptions options_;
  std::int64_t steps_ = 1;
  std::vector<StateBlock> archive_;
  View2<double> value_;      // [objectives][slots], of the present states
  View1<double> violation_;  // [slots]
  View1<std::int32_t> source_, member_;
  Frame frame_;
};

}  // namespace kiln
