// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/queue.hpp"

#include "backends/backends_blocks.hpp"

namespace kiln::test {

/// What propose_move and accept_move change.
struct MoveState {
  std::vector<double> values;               ///< [variable][slot]
  std::vector<std::int32_t> first, second;  ///< [slots]
  std::vector<double> before;               ///< [slots]
  std::vector<double> energy;               ///< [slots]
  std::vector<std::uint64_t> accepted, not_finite;
  friend bool operator==(const MoveState&, const MoveState&) = default;
};

struct MoveInputs {
  BlockShape shape;
  MoveState state;
  std::int64_t variable = 0;
  std::uint32_t attempt = 0;
  std::uint32_t offset = 0;
  HostNames names;
  RunControl control;
  std::vector<double> trial;       ///< [slots], accept_move
  std::vector<double> beta;        ///< [rungs]
  std::vector<std::int32_t> rung;  ///< [slots]
  double inverse_scale = 1;
};

/// Random states of energy 0, equal trial energies, beta 1, control at step 3.
MoveInputs make_move(const BlockShape& shape, std::int64_t groups);

/// Blocks of every kind in every layout that moves are made in (all but packed32).
std::vector<BlockShape> move_shapes();

/// Launches propose_move.
MoveState propose(Queue& queue, const MoveInputs& inputs);
/// Launches propose_move, then accept_move.
MoveState propose_and_accept(Queue& queue, const MoveInputs& inputs);
/// Launches accept_move alone, on a state with a move on trial.
MoveState accept(Queue& queue, const MoveInputs& inputs);

}  // namespace kiln::test
