// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/pipelines/stages.hpp"
#include "kiln/plan.hpp"
#include "kiln/run.hpp"

#include "run_core.hpp"

namespace kiln {

/// The plans of all stages, with one number of replicas: that of the options, or the smallest that
/// all stages can divide and that is no less than the default of any.
/// @throws InvalidArgument for everything that a stage refuses, with the name of the stage.
std::vector<RunPlan> plan_stages(const Problem& problem, const std::vector<Stage>& stages,
                                 const Budget& budget, const RunOptions& options,
                                 const OpenedBackend& backend);

/// One plan for all of them: that of the first stage, with the memory of the largest.
RunPlan joint_plan(const std::vector<RunPlan>& plans, const Budget& budget,
                   const RunOptions& options);

/// The budget of a stage within that of the whole.
Budget stage_budget(const std::vector<Stage>& stages, std::size_t stage, const Budget& whole,
                    std::int64_t sweeps_before);

/// What a Run knows of the stages of its pipeline.
class RunStages {
 public:
  RunStages(const Problem& problem, const Schedule& pipeline, const std::vector<Stage>& stages,
            const Budget& budget, const RunOptions& options, const OpenedBackend& backend);

  const Schedule& pipeline() const noexcept { return pipeline_; }
  const Budget& budget() const noexcept { return budget_; }
  const RunOptions& options() const noexcept { return options_; }
  bool is_last(std::int64_t stage) const noexcept {
    return stage + 1 == static_cast<std::int64_t>(stages_.size());
  }
  /// Makes the run of the stage that `begin` names.
  std::unique_ptr<RunCore> make(StageBegin begin, std::shared_ptr<Queue> queue,
                                std::optional<DrawNaming> naming = {}) const;
  StageBegin first() const;

  /// What ends one call of RunCore::advance().
  struct CallLimit {
    Budget budget;
    StageLimit own;  ///< the limits of the stage that come before those of the caller
    bool by_work = false;
  };
  CallLimit limit_of(const RunCore& core, const Budget& wanted, double elapsed_s) const;

 private:
  const Problem& problem_;
  const Schedule& pipeline_;
  const std::vector<Stage>& stages_;
  Budget budget_;
  RunOptions options_;
  OpenedBackend backend_;
  std::uint64_t reserve_bytes_ = 0;
};

}  // namespace kiln
