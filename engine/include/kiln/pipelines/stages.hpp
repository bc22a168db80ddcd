// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// When a stage hands its replicas to the next one; the first limit reached counts.
struct StageLimit {
  std::optional<std::int64_t> sweeps = std::nullopt;  ///< sweeps of each replica, > 0
  std::optional<double> time_limit_s = std::nullopt;  ///< seconds of run time of the stage, > 0

  bool empty() const noexcept { return !sweeps && !time_limit_s; }
};

/// A schedule that is part of a pipeline.
struct Stage {
  std::shared_ptr<Schedule> schedule;
  StageLimit limit = {};
};

/// Ability of schedules that are made of others, which follow each other on the same replicas.
///
/// A run asks the stages, not the pipeline, for their needs, memory and ticks. Every stage sees a
/// separate run: sweeps and ticks begin at 0, the budget is that of the stage, and states are
/// given. So a stage takes the same path as a run of its schedule alone that is given the states,
/// the betas (RunContext::handed_betas) and stage_seed(). At the hand-over replicas stay in their
/// slots and on the device.
class KILN_API HasStages {
 public:
  static constexpr std::string_view interface_name = "stages";
  virtual const std::vector<Stage>& stages() const noexcept = 0;

 protected:
  ~HasStages() = default;
};

/// The seed of a stage: that of the run for the first one, and of later ones a word that no group
/// of any stage has for its key, so that no stage draws words of another.
KILN_API std::uint64_t stage_seed(std::uint64_t seed, std::int64_t stage) noexcept;

}  // namespace kiln
