// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/tuning/tune_file.hpp"

namespace kiln::cli {

/// From this number of shapes on a Bayesian search chooses which ones are tried.
inline constexpr std::int64_t max_exhaustive_shapes = 199;
/// Trials of a Bayesian search.
inline constexpr std::int64_t max_bayesian_trials = 80;
/// The best shapes are measured a second time, one after the other, until one is confirmed.
inline constexpr std::size_t max_finalists = 3;

/// A tunable at one size.
struct TuneTask {
  const Tunable* tunable = nullptr;
  TuneSubject subject;
  std::string workload;  ///< "gset:G22"
  ShapeLimits limits;
};

/// What a search does with shapes. Only `test` takes long.
struct TuneActions {
  /// Why the default must not be compared with; "" if it is right. Called before the first trial.
  std::function<std::string()> default_fault;
  /// Verifies a shape and measures it. Nothing: it was interrupted.
  /// @param again  it is the best so far, and is measured a second time
  std::function<std::optional<TuneTrial>(const LaunchShape& shape, bool again)> test;
  /// Keeps a trial, so that it is never made again.
  std::function<void(const TuneTrial& trial)> keep;
  /// Whether no further trial may begin.
  std::function<bool()> ended;
  /// Before a trial: its number and how many there are at most.
  std::function<void(std::int64_t number, std::int64_t count, const LaunchShape& shape)> begin;
};

/// The shapes of a tunable that a device allows, without its default shape.
std::vector<LaunchShape> allowed_shapes(const Tunable& tunable, const ShapeLimits& limits);

/// Whether a shape is faster than the default beyond the 95 % intervals of both.
bool beats_default(const TuneTrial& trial);

/// Tries shapes until the best is known: all of them where they are few. A shape is chosen if it
/// beats its default in two separate measurements.
/// @param before  trials in it are not made again
/// @return nothing if the search ended before its end
std::optional<TuneOutcome> search_shapes(const TuneTask& task, const TuneRecords& before,
                                         const TuneActions& actions);

}  // namespace kiln::cli
