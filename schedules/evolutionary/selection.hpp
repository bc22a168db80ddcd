// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kiln/fronts/front.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/evolutionary.hpp"

#include "fronts/parent_selection.hpp"
#include "fronts/pool.hpp"

namespace kiln {

/// How a generation decides who lives: what strategies differ in.
class Selection : public ParentSelection {
 public:
  virtual ~Selection() = default;
  Selection() = default;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  /// In Schedule::allocate.
  virtual void allocate(AllocateContext&, const Pool&) {}
  /// Ranks and scores, by tournaments.
  void choose_by(SelectParents& kernel, const Pool& pool) const override;
  /// Lets newcomers of the pool that are better take places of residents, in pool.source.
  virtual void survive(RunContext& run, const Pool& pool) const = 0;
};

/// Whether the strategy spreads a population over weights or reference lines.
bool uses_directions(const EvolutionaryOptions& options);
/// Weights or lines that a population is spread over, [direction][objective]; empty for strategies
/// that need none.
Points directions_of(const EvolutionaryOptions& options, int objectives);

std::unique_ptr<Selection> make_selection(const EvolutionaryOptions& options,
                                          const Points& directions);

}  // namespace kiln
