// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/queue.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/result.hpp"
#include "kiln/telemetry/incumbent.hpp"

namespace kiln {

/// Where a run stands in its pipeline, and what the stages before did. Counts are those of all
/// earlier stages together. The default is that of a run of one schedule.
struct EarlierStages {
  std::int64_t stage = 0;   ///< of the run now, from 0
  std::int64_t stages = 0;  ///< of the pipeline; 0: there is none
  std::int64_t sweeps = 0, ticks = 0;
  std::uint64_t accepted = 0, not_finite = 0;
  std::optional<std::int64_t> gradients;
  std::vector<double> betas;  ///< of the rungs at the hand-over
  std::vector<StageResult> results;
  std::map<std::string, std::string> parameters;  ///< "1.cooling", resolved

  void save(Archive& archive) const;
  /// @throws InvalidArgument for sections that no run has saved.
  static EarlierStages from(const Archive& archive);
};

/// What a stage leaves to the next one. States stay on the device.
struct Handed {
  std::unique_ptr<ReplicaBatch> batch;
  DeviceArray<std::int32_t> origin;
  std::uint64_t best_key = ~0ull;
  double setup_s = 0, run_s = 0, to_best_s = 0, first_values = 0;
  bool begins_with_values = true;
  Counters in_ticks;
  IncumbentList incumbents;
};

/// How a run of a stage begins.
struct StageBegin {
  EarlierStages earlier;
  std::int64_t sweeps_after = 0;    ///< planned for later stages
  std::uint64_t reserve_bytes = 0;  ///< that the stage with the largest plan takes
  std::unique_ptr<Handed> handed;   ///< null: states are drawn, or loaded
};

}  // namespace kiln
