// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <kiln/options.hpp>
#include <kiln/registry.hpp>
#include <kiln/run_context.hpp>
#include <kiln/schedule.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels.hpp"

namespace cross_entropy {

struct Options {
  double elite = 0.02;           ///< part of a population that is its elite
  double smoothing = 0.7;        ///< how far probabilities move towards the elite, 1: all the way
  double floor = 0.001;          ///< least probability of either value of a variable
  double converged = 0.02;       ///< a probability has converged if it is that near to 0 or 1
  std::int64_t patience = 50;    ///< rounds in which an elite becomes no better, before a restart
  std::int64_t populations = 1;  ///< independent ones

  static const kiln::OptionTable<Options>& table();
};

/// The cross-entropy method, for spaces of spins and bits.
///
/// A population of replicas is drawn from independent probabilities, one for each variable. A round
/// moves the probabilities towards the frequencies in the elite of the population, and draws it
/// anew. When all probabilities have converged, or the elite has long become no better, they become
/// 1/2 again.
///
/// The first round takes the states that the run begins with: random ones, or those that are given.
/// Source: Rubinstein, Kroese, The Cross-Entropy Method (Springer, 2004), chapter 2.
class CrossEntropy final : public kiln::ScheduleOf<Options> {
 public:
  explicit CrossEntropy(Options options = {});

  std::string name() const override { return "cross-entropy"; }
  std::string_view step_name() const override { return "round"; }
  kiln::WorkKind work_kind() const noexcept override { return kiln::WorkKind::evaluations; }
  kiln::Needs needs(const kiln::Problem& problem, const kiln::Budget& budget) override;
  void allocate(kiln::AllocateContext& run) override;
  void enqueue(kiln::TickContext& run) override;
  void report(kiln::ReportContext& run, kiln::Result& result) override;

 private:
  void allocate_probabilities(kiln::AllocateContext& run);

  SelectElite select_;
  std::vector<MoveProbabilities> move_;  // for each block
  std::vector<DrawStates> draw_;         // for each block
};

/// The schedule as the registry keeps it.
kiln::ScheduleEntry schedule_entry();

}  // namespace cross_entropy
