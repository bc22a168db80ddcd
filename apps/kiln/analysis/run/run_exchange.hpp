// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/run/run_series.hpp"
#include "report/run_files.hpp"

namespace kiln::cli {

/// What a run says of its swaps.
struct Exchange {
  bool is_off = false;                   ///< by cadence=stochastic with swap_probability=0
  std::optional<double> min_acceptance;  ///< of all gaps; nothing while the run is in progress
  double round_trips = 0;

  /// Replicas pass every gap, and the whole ladder.
  bool works() const {
    constexpr double rare = 0.05;
    return !is_off && min_acceptance && *min_acceptance > rare && round_trips > 0;
  }
};

Exchange exchange_of(const RunFiles& files);

/// How often a run recorded epochs.
struct Recording {
  std::int64_t sweeps_per_tick = 1;  ///< no epoch is shorter
  std::int64_t min_apart = 0;        ///< sweeps from the first epoch of the file to the second
  /// Bytes of telemetry.bin with which its first epochs, all of which are recorded, suffice for
  /// the estimates of a ladder.
  std::int64_t enough_bytes = 0;
};

/// @param burn_in  sweeps
/// @param epochs  of the estimates
Recording recording_of(const TelemetryHeader& header, const ReplicaSeries& series,
                       std::int64_t burn_in, std::int64_t epochs);

}  // namespace kiln::cli
