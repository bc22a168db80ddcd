// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kiln/kernels/hamiltonian/record_draws.hpp"
#include "kiln/result.hpp"
#include "kiln/run_context.hpp"

namespace kiln::hmc {

/// What is to be recorded.
struct RecorderSetting {
  ChainPools pools;
  std::int64_t pool = 0;  ///< whose chains are draws
  std::int64_t warmup = 0;
  std::int64_t draws = 0;
  std::int64_t keep = 0;          ///< 0: as many chains as there is room for
  std::int64_t super_chains = 0;  ///< groups of chains that began in one state; 0: none
  std::int64_t thin = 0;          ///< 0: 1, or more where even four chains need it
};

/// What a user reads of a point: quantities of the posterior, or its coordinates.
Quantities quantities_of(const Problem& problem, std::int64_t dimension);

/// Keeps draws in scratch of the run, and makes a Sample of them at its end.
class DrawRecorder {
 public:
  void allocate(AllocateContext& run, const RecorderSetting& setting);
  /// The draws after a transition with these statistics.
  void record(TickContext& run, const TransitionStatistics& statistics,
              std::uint32_t step_offset) const;
  /// Downloads everything. `sweeps`: transitions that were made, warm-up included.
  /// @param known  quantities of the first draws, [draw][chain][quantity], which are not computed
  /// again
  std::shared_ptr<Sample> collect(ReportContext& run, std::int64_t sweeps,
                                  std::span<const double> known) const;

  const RecorderSetting& setting() const { return setting_; }
  const DrawTrace& trace() const { return trace_; }
  std::int64_t dimension() const { return dimension_; }
  /// Of all chains, after the warmup.
  std::int64_t divergences(ReportContext& run) const;

 private:
  void collect_draws(ReportContext& run, Sample& sample, std::span<const double> known) const;
  void collect_moments(ReportContext& run, Sample& sample) const;

  RecorderSetting setting_;
  std::int64_t dimension_ = 0;
  ChainMoments moments_;
  DrawTrace trace_;
  HamiltonianMoments hamiltonians_;
  View1<std::uint64_t> gradients_, warmup_gradients_, divergences_;
};

}  // namespace kiln::hmc
