// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

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

/// How many draws of points of this dimension are kept where nobody says how many, those of all
/// chains together.
std::int64_t room_of_draws(std::int64_t dimension);

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

  /// See ExtendsDraws, here for the arrays of this recorder.
  bool grows(std::string_view array) const;
  void require_extendable(std::int64_t draws, std::uint64_t sweeps) const;
  /// Makes the moments of all draws so far anew, from the kept ones: in other halves.
  void extend(Queue& queue, std::uint64_t sweeps);

  const RecorderSetting& setting() const { return setting_; }
  const DrawTrace& trace() const { return trace_; }
  std::int64_t dimension() const { return dimension_; }
  /// Of all chains, after the warmup.
  std::int64_t divergences(ReportContext& run) const;

 private:
  RecordDraws moments_on_host(std::vector<double>& mean, std::vector<double>& square,
                              std::uint64_t half) const;
  void collect_draws(ReportContext& run, Sample& sample, std::span<const double> known) const;
  void collect_block(ReportContext& run, const Quantities& quantities, std::int64_t begin,
                     std::int64_t end, std::span<const double> known, Sample& sample) const;
  void collect_moments(ReportContext& run, Sample& sample) const;

  RecorderSetting setting_;
  std::int64_t dimension_ = 0;
  ChainMoments moments_;
  DrawTrace trace_;
  HamiltonianMoments hamiltonians_;
  View1<std::uint64_t> gradients_, warmup_gradients_, divergences_;
};

}  // namespace kiln::hmc
