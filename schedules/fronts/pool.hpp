// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/kernels/fronts/objective_points.hpp"
#include "kiln/kernels/run/state_block.hpp"
#include "kiln/kernels/surrogate/point_columns.hpp"
#include "kiln/run_context.hpp"

namespace kiln {

/// States in scratch memory of a run: of the same blocks and layouts as its batch.
std::vector<StateBlock> make_states(AllocateContext& run, const std::string& name,
                                    std::int64_t slots);
/// The blocks of the batch itself.
std::vector<StateBlock> states_of(ReplicaBatch& batch);

/// Points that compete for places: for each island a group of columns, residents first, then the
/// newcomers of a generation.
struct Pool {
  std::int64_t islands = 1, residents = 0, newcomers = 0, objectives = 2;
  View2<double> value;          ///< [objectives][columns]
  View1<double> violation;      ///< [columns]
  View1<std::int32_t> rank;     ///< [columns]
  View1<double> score;          ///< [columns]
  View1<std::int32_t> source;   ///< [slots of residents], of SelectSurvivors
  bool counts_accepted = true;  ///< whether newcomers that find a place count as accepted

  /// Allocates, in Schedule::allocate. All points are NaN: on no front, and anything takes their
  /// place.
  /// @param epsilon  sides of the boxes that fronts are made of, [objectives]; empty: of points.
  void allocate(AllocateContext& run, const std::vector<double>& epsilon = {});

  std::int64_t size() const { return residents + newcomers; }
  std::int64_t columns() const { return islands * size(); }
  PointGroups groups() const { return {islands, size(), {}}; }
  ObjectivePoints points() const;
  PointColumns resident_columns() const { return {residents, size(), 0}; }
  PointColumns newcomer_columns() const { return {newcomers, size(), residents}; }

  /// Values of the states of all replicas, into these columns.
  /// @param constraint  [constraints][columns], for who wants those values as well
  void evaluate(WorkContext& run, const std::vector<StateBlock>& states,
                const PointColumns& columns, View2<double> constraint = {}) const;
  /// Fronts of all points, copies taken off them.
  void rank_points(RunContext& run) const;
  /// Crowding distances as scores.
  void crowd(RunContext& run) const;
  /// Lets newcomers that are better take places of residents; source says whose.
  void select(RunContext& run) const;

 private:
  ObjectivePoints compared(RunContext& run) const;

  View1<std::byte> scratch_;
  View1<double> epsilon_;  // empty: none
  View2<double> box_;
};

/// Copies states of newcomers into the places that they took.
void move_states(RunContext& run, const std::vector<StateBlock>& from,
                 const std::vector<StateBlock>& to, View1<const std::int32_t> source);

}  // namespace kiln
