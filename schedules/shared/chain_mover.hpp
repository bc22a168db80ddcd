// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/device/metric_estimate.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/hmc_adaptation.hpp"
#include "kiln/run_context.hpp"

namespace kiln::hmc {

/// How chains are to be moved.
struct MoverSetting {
  bool no_u_turn = false;
  bool learns_length = false;  ///< by ChEES; else `leapfrogs`, or `length` if that is 0
  std::int64_t leapfrogs = 0;  ///< > 0: of every transition
  double length = 0;           ///< > 0: longest trajectory, in units of the metric
  double step_size = 0;        ///< > 0: fixed; 0: adapted
  double jitter = 0;           ///< of the step size
  double target_acceptance = 0.8;
  std::int64_t max_leapfrogs = 1024;
  std::int64_t max_depth = 10;
  std::int64_t warmup = 0;        ///< transitions in which step, length and metric adapt
  std::int64_t rank = 0;          ///< of the metric; 0: diagonal
  double largest_change = 1;      ///< eigenvalues that count as 1, see HmcPlan
  std::int64_t super_chains = 0;  ///< > 0: member m of a pool is of group m modulo this
  bool adapts_metric = true;
  bool never_frozen = false;
  ChainPools pools;
};

/// Ends of the windows of a warm-up, the beginning of the first one first: 10, 25, 50, 100, 200,
/// ..., and the last one 50 transitions before the end, or a tenth of the warm-up if that is less,
/// but not fewer than 12. A length that is learnt needs 150 transitions after the last one, or half
/// of the warm-up if that is less: the logarithm moves by 0.025 in each. The first windows are so
/// short because gradients show the scale of a target on the way to its bulk already: on raw scales
/// the way is too long for the metric of the beginning. Empty where there is no room.
KILN_TEST_API std::vector<std::uint32_t> metric_windows(std::int64_t warmup, bool learns_length);

/// Moves chains by Hamiltonian transitions and adapts how: what schedules with gradients share.
/// Everything lies in scratch of the run.
class ChainMover {
 public:
  /// @throws InvalidArgument if the objective has no such transitions, which schedules require.
  void allocate(AllocateContext& run, const MoverSetting& setting);
  /// One transition of every chain, and the adaptation after it.
  void move(TickContext& run, View1<const double> beta, View1<const double> parameter,
            std::uint32_t step_offset) const;

  const TransitionStatistics& statistics() const { return statistics_; }
  /// [pools], copied from the device.
  std::vector<HmcTuning> read_tuning(ReportContext& run) const;
  std::vector<HmcAdaptation> read_adaptation(ReportContext& run) const;
  std::vector<std::int32_t> read_rank(ReportContext& run) const;

 private:
  void allocate_statistics(AllocateContext& run);
  static void require_saved_statistics(AllocateContext& run);
  void allocate_metric(AllocateContext& run);

  MoverSetting setting_;
  HmcPlan plan_;
  TransitionStatistics statistics_;
  PoolMoments moments_;
  MetricStore metric_;
  View1<HmcAdaptation> adaptation_;
  View1<HmcTuning> tuning_;
  View1<double> scratch_;
};

}  // namespace kiln::hmc
