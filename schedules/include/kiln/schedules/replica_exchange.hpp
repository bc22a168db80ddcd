// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/walker_swap.hpp"
#include "kiln/kernels/sweeps/temperature_update.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

namespace ladder {
class Ladders;
struct Setting;
}  // namespace ladder

/// Options of replica exchange; 0, -1 and empty mean "choose for me"; `moves` has one rule for all
/// rungs or one for each. Those from `rungs` to `exchange` are those of parallel tempering.
struct ReplicaExchangeOptions {
  std::string coordinate = "temperature";
  std::int64_t rungs = 0;
  double beta_min = 0;
  double beta_max = 0;
  std::string ladder = "adaptive";
  std::vector<double> betas = {};
  double parameter_min = 0;
  double parameter_max = 0;
  std::vector<double> parameters = {};
  std::int64_t burn_in = -1;
  std::int64_t adaptation_rounds = 6;
  std::int64_t sweeps_per_swap = 1;
  std::string pairs = "even_odd";
  std::string cadence = "fixed";
  std::int64_t interval_min = 1;
  std::int64_t interval_max = 64;
  double swap_target = 0.23;
  double swap_gain = 1.25;
  std::int64_t swap_window = 20;
  double swap_probability = 1;
  std::string exchange = "index";
  std::vector<std::string> moves = {"metropolis"};
  std::int64_t walkers = -1;
  std::int64_t walker_sweeps = 1000;
  std::int64_t walker_interval = 1;
  std::string walker_restart = "random";

  KILN_API static const OptionTable<ReplicaExchangeOptions>& table();
};

/// Replica exchange over temperature, over a parameter of the Hamiltonian, or over both, with
/// annealing walkers beside the ladders. See docs/schedules/replica_exchange.md.
///
/// A group of the batch is a ladder and its walkers. Without walkers each rung samples the
/// Boltzmann distribution of its beta and lambda. Over temperature and without walkers it is
/// parallel tempering without cluster moves, to the bit, if all rungs use the Metropolis rule.
/// @par Source  Fukunishi, Watanabe, Takada, J. Chem. Phys. 116 (2002) 9058, for Hamiltonians;
/// Sugita, Kitao, Okamoto, J. Chem. Phys. 113 (2000) 6042; ParallelTempering for temperatures.
class KILN_API ReplicaExchange : public ScheduleOf<ReplicaExchangeOptions> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit ReplicaExchange(ReplicaExchangeOptions options = {});
  ~ReplicaExchange() override;

  std::string name() const override { return "replica-exchange"; }
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void enqueue(TickContext& run) override;
  void descend(DescendContext& run) override;
  void report(ReportContext& run, Result& result) override;

 private:
  void resolve_range(AllocateContext& run);
  void place_rungs(ladder::Setting& setting) const;
  void allocate_walkers(AllocateContext& run);
  void exchange_walkers(TickContext& run);

  std::unique_ptr<ladder::Ladders> ladders_;
  std::uint32_t sweeps_per_tick_ = 1;
  // Views of memory of the run, empty without walkers.
  View1<Cooling> cooling_;
  View1<std::uint32_t> restart_;  ///< [rung numbers], those of rungs stay 0
  View1<WalkerCounts> walker_counts_;
};

}  // namespace kiln
