// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kiln/fronts/front.hpp"
#include "kiln/kernels/fronts/select_parents.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/multi_objective.hpp"

#include "pool.hpp"

namespace kiln {

/// How a generation decides who lives: what strategies differ in.
class Selection {
 public:
  virtual ~Selection() = default;
  Selection() = default;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  /// In Schedule::allocate.
  virtual void allocate(AllocateContext&, const Pool&) {}
  /// What tournaments and neighbourhoods parents are chosen by.
  virtual void choose_by(SelectParents& kernel, const Pool& pool) const;
  /// Lets newcomers of the pool that are better take places of residents, in pool.source.
  virtual void survive(RunContext& run, const Pool& pool) const = 0;
};

/// Weights or lines that a population is spread over, [direction][objective]; empty for strategies
/// that need none.
Points directions_of(const MultiObjectiveOptions& options, int objectives);

std::unique_ptr<Selection> make_selection(const MultiObjectiveOptions& options,
                                          const Points& directions);

}  // namespace kiln
