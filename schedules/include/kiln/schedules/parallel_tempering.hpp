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
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

namespace ladder {
class Ladders;
}

/// Options of parallel tempering; 0, -1 and empty mean "choose for me".
struct ParallelTemperingOptions {
  std::int64_t rungs = 0;
  double beta_min = 0;
  double beta_max = 0;
  std::string ladder = "adaptive";
  std::vector<double> betas = {};
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
  std::string cluster_moves = "automatic";
  std::int64_t cluster_interval = 10;

  static const OptionTable<ParallelTemperingOptions>& table();
};

/// Parallel tempering: ladders of replicas at fixed temperatures that exchange their places. Each
/// replica samples the Boltzmann law of the rung where it stands. See
/// docs/schedules/parallel_tempering.md.
///
/// A group of the batch is a ladder; all ladders have the same temperatures and draws of their own.
/// @par Source  Geyer (1991); Hukushima, Nemoto, J. Phys. Soc. Japan 65 (1996) 1604; Syed et al.,
/// J. R. Stat. Soc. B 84 (2022) 321.
class KILN_API ParallelTempering : public Schedule {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit ParallelTempering(ParallelTemperingOptions options = {});
  ~ParallelTempering() override;

  std::string name() const override { return "parallel-tempering"; }
  std::map<std::string, std::string> parameters() const override;
  Needs needs(const Problem& problem, const Budget& budget) override;
  void start(Run& run) override;
  void enqueue(Run& run) override;
  void finish(Run& run) override;
  void report(Run& run, Result& result) override;
  void save(Archive& archive) const override;  // everything lies in the run's scratch
  void load(const Archive& archive) override;

 private:
  void resolve_range(Run& run);
  std::vector<double> first_ladder() const;
  void start_clusters(Run& run);
  void allocate_clusters(Run& run);
  void move_clusters(Run& run);
  void report_clusters(Run& run, Result& result);

  ParallelTemperingOptions options_;
  ParallelTemperingOptions resolved_;
  std::uint32_t sweeps_per_tick_ = 1;
  std::unique_ptr<ladder::Ladders> ladders_;
  View1<std::uint32_t> moved_, open_;  // these belong to the run; empty without cluster moves
  View1<std::uint64_t> moves_, sizes_;
  bool symmetric_ = false;
};

}  // namespace kiln
