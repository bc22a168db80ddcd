// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/options.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedule.hpp"
#include "kiln/statistics/extends_draws.hpp"

namespace kiln {

namespace ladder {
class Ladders;
}
namespace hmc {
class ChainMover;
class DrawRecorder;
class DrawWatch;
}  // namespace hmc

/// Options of Hmc; zeros and -1 mean the default in the option's sentence. With mode `automatic`,
/// options of sampling alone (draws, warmup, keep, thin, rungs, super_chains) make it sample.
struct KILN_API HmcOptions {
  std::string mode = "automatic";
  std::string sampler = "automatic";
  std::int64_t draws = -1;
  std::int64_t warmup = -1;
  double step_size = 0;
  double jitter = 0;
  std::int64_t leapfrogs = 0;
  double length = 0;
  double target_acceptance = 0;
  std::int64_t max_depth = 10;
  std::int64_t max_leapfrogs = 1024;
  std::string metric = "automatic";
  std::int64_t metric_rank = 0;
  std::int64_t super_chains = -1;
  std::int64_t descent = -1;
  std::int64_t keep = 0;
  std::int64_t thin = 0;
  std::int64_t rungs = 1;
  double parameter_min = 0;
  double beta_min = 0;
  double beta_max = 0;
  std::int64_t anneal_sweeps = 0;
  std::int64_t polish_sweeps = -1;

  KILN_API static const OptionTable<HmcOptions>& table();
};

/// Hamiltonian Monte Carlo: chains that follow the gradient of a density. It samples posteriors by
/// NUTS, or by trajectories whose length is adapted over all chains, optionally with a tempering
/// ladder; it anneals functions to minimise. An objective that is not declared as a posterior is
/// sampled as exp(-energy) if the options request draws. See docs/schedules/hmc.md.
///
/// A replica is a chain, a group a ladder. Chains adapt together, in warmup only.
/// @par Source  Neal (2011); Hoffman, Gelman, JMLR 15 (2014) 1593; Hoffman, Radul, Sountsov,
/// AISTATS 2021; Syed et al., J. R. Stat. Soc. B 84 (2022) 321 for the ladder.
class KILN_API Hmc : public ScheduleOf<HmcOptions, LooksAtDraws, ExtendsDraws> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit Hmc(HmcOptions options = {});
  ~Hmc() override;

  std::string name() const override { return "hmc"; }
  std::string_view step_name() const override { return "transition"; }
  WorkKind work_kind() const noexcept override { return WorkKind::gradients; }
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  void descend(DescendContext& run) override;
  void report(ReportContext& run, Result& result) override;
  void load(const Archive& archive) override;
  Look look(ReportContext& run, const DrawConditions& conditions, std::uint64_t sweeps) override;
  bool grows(std::string_view array) const override;
  void require_extendable(std::int64_t draws, std::uint64_t sweeps) const override;
  void extend_draws(Queue& queue, std::uint64_t sweeps) override;

 private:
  void settle(AllocateContext& run);
  bool samples() const { return resolved_.mode == "sample"; }
  bool tempered() const { return resolved_.rungs > 1; }
  void allocate_sampling(AllocateContext& run);
  void allocate_ladder(AllocateContext& run);
  void allocate_annealing(AllocateContext& run);
  void begin_cooling(InitializeContext& run);
  void report_sampling(ReportContext& run, Result& result);
  void tell_doubts(ReportContext& run, bool trouble, double gradients, Result& result) const;

  std::unique_ptr<hmc::ChainMover> mover_;
  std::unique_ptr<hmc::DrawRecorder> recorder_;
  std::unique_ptr<hmc::DrawWatch> watch_;
  std::unique_ptr<ladder::Ladders> ladders_;
  std::vector<double> parameters_;  // initial lambdas of the rungs; empty: there is no ladder
  View1<double> beta_;              // these views refer to memory of the run
  View1<double> parameter_;
  View1<std::uint32_t> restart_;
  View1<struct Cooling> cooling_;
};

}  // namespace kiln
