// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kiln/export.hpp"
#include "kiln/kernels/run/energy_histogram.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of random search.
struct RandomSearchOptions {
  std::int64_t bins = 64;

  KILN_API static const OptionTable<RandomSearchOptions>& table();
};

/// Random search: each tick gives every replica a new random state, uniform over the space, and the
/// best state is kept. It is the baseline for other searches. The result has a histogram of the
/// values of all states. See docs/schedules/random_search.md.
class KILN_API RandomSearch : public ScheduleOf<RandomSearchOptions> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit RandomSearch(RandomSearchOptions options = {});
  ~RandomSearch() override;

  std::string name() const override { return "random-search"; }
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  /// Notes `states`, the number of drawn states.
  void annotate(ReportPoint& point) const override;
  void report(ReportContext& run, Result& result) override;

 private:
  EnergyHistogram histogram_;  // refers to memory of the run
  View1<double> range_;
  View1<std::uint64_t> count_;
};

}  // namespace kiln
