// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/kernels/fronts/proposal_sweep.hpp"

namespace kiln {

/// A ProposalSweep of one slot by several lanes, with the bits of ProposalSweep::evaluate().
///
/// A sweep visits each variable once, and random numbers have names. So all proposed values and all
/// words of the decisions are known before the sweep. What remains in sequence is that a trial
/// state depends on the decisions before it: `levels` variables in turn have 2^levels - 1 trial
/// states. A lane evaluates and decides one of them, and a walk through the decisions finds those
/// that the sweep meets. The lanes evaluate states that the sweep does not meet; these count
/// nowhere.
///
/// Trial states are a binary tree in the order of a heap: lane 1 has the first variable moved, lane
/// 2 i continues lane i after a rejection, and lane 2 i + 1 after an acceptance. Lane 0 has no
/// state.
///
/// All lanes call the members in this order, with a barrier of the team after each: prepare(); for
/// each round evaluate(), decide() and advance(); finish(). The sweep must change single variables
/// (ProposalSweep::changes_single_variables()).
/// @tparam levels  variables of a round, 1 to 5
template <int levels>
class ProposalTree {
 public:
  static_assert(levels >= 1 && levels <= 5, "decisions of a team are the bits of one word");
  static constexpr int lanes = 1 << levels;

  /// Bytes of the memory of a slot, a multiple of 8.
  KILN_HD static constexpr std::int64_t bytes(std::int64_t variables) {
    return 8 * (2 * variables + lanes) + 8 * ((variables + 1) / 2);
  }

  /// The part of a lane, 0 to lanes - 1. The lanes of a slot share its memory, which is
  /// bytes(variables) long; `variables` is ProposalSweep::variables().
  KILN_HD ProposalTree(const ProposalSweep& sweep, std::int64_t slot, int lane,
                       std::int64_t variables, double* memory)
      : sweep_(sweep),
        slot_(slot),
        lane_(lane),
        variables_(variables),
        value_(memory),
        energy_(memory + 2 * variables),
        word_(reinterpret_cast<std::uint32_t*>(memory + 2 * variables + lanes)) {
    // From the root down: the bits of a lane below its first one are the decisions on its path.
    while (lane >> (level_ + 1) != 0) ++level_;
    moved_ = 1u << level_;
    for (int j = 0; j < level_; ++j) {
      const int child = lane >> (level_ - 1 - j);
      if (child % 2 == 0) continue;
      moved_ |= 1u << j;
      origin_ = child / 2;
    }
  }

  /// Draws the moves of every lanes-th variable.
  KILN_HD void prepare() const {
    if (lane_ == 0) energy_[0] = sweep_.accept.energy[slot_];
    ProposeMove move = sweep_.propose;
    std::int64_t begin = 0;
    for (std::int32_t b = 0; b < sweep_.values.n_blocks; ++b) {
      move.block = sweep_.values.state[b];
      for (std::int64_t v = lane_; v < move.block.variables; v += lanes) {
        const std::int64_t i = begin + v;
        move.variable = v;
        move.attempt = static_cast<std::uint32_t>(i);
        const double before = move.block.get(v, slot_);
        value_[i] = before;
        value_[variables_ + i] = stored(move.block, move.proposal(before, move.words(slot_)));
        word_[i] = sweep_.accept.word(slot_, move.attempt);
      }
      begin += move.block.variables;
    }
  }

  KILN_HD bool done() const { return first_ >= variables_; }

  /// Evaluates the trial state of the lane.
  template <class Function>
  KILN_HD void evaluate(const Function& f) const {
    if (has_state()) energy_[lane_] = sweep_.energy_at(f, TrialPoint{*this}, slot_);
  }

  /// Decides about the trial state of the lane: bit 0 is set if it is accepted, and bit 1 if its
  /// energy is not finite.
  KILN_HD unsigned decide() const {
    if (!has_state()) return 0;
    const double trial = energy_[lane_];
    const bool take = sweep_.accept.accepts(slot_, energy_[origin_], trial,
                                            [&] { return word_[first_ + level_]; });
    return (take ? 1u : 0u) | (AcceptMove::finite(trial) ? 0u : 2u);
  }

  /// Takes over the decisions that the sweep meets, and goes to the next round.
  /// @param taken  bit i: bit 0 of decide() of lane i
  /// @param not_finite  bit i: bit 1 of decide() of lane i
  KILN_HD void advance(unsigned taken, unsigned not_finite) {
    int node = 1, last = 0;
    for (int j = 0; j < levels && first_ + j < variables_; ++j) {
      const bool take = (taken >> node & 1u) != 0;
      not_finite_ += not_finite >> node & 1u;
      if (take) {
        last = node;
        ++accepted_;
        if (lane_ == j) value_[first_ + j] = value_[variables_ + first_ + j];
      }
      node = 2 * node + (take ? 1 : 0);
    }
    if (lane_ == 0 && last > 0) energy_[0] = energy_[last];
    first_ += levels;
  }

  /// Stores the state, its energy and the counts.
  KILN_HD void finish() const {
    std::int64_t begin = 0;
    for (std::int32_t b = 0; b < sweep_.values.n_blocks; ++b) {
      const StateBlock& block = sweep_.values.state[b];
      for (std::int64_t v = lane_; v < block.variables; v += lanes) {
        block.set(v, slot_, value_[begin + v]);
      }
      begin += block.variables;
    }
    if (lane_ != 0) return;
    if (accepted_ > 0) {
      sweep_.accept.energy[slot_] = energy_[0];
      sweep_.accept.accepted[slot_] += accepted_;
    }
    if (not_finite_ > 0) sweep_.accept.not_finite[slot_] += not_finite_;
  }

 private:
  // The state of a lane: the values so far, and proposed ones of moves that its path accepts.
  struct TrialPoint {
    const ProposalTree& tree;
    KILN_HD double operator[](std::int64_t variable) const {
      const std::int64_t j = variable - tree.first_;
      const bool moved = j >= 0 && j < levels && (tree.moved_ >> j & 1u) != 0;
      return tree.value_[moved ? tree.variables_ + variable : variable];
    }
  };

  KILN_HD bool has_state() const { return lane_ > 0 && first_ + level_ < variables_; }

  // What StateBlock::get() gives after set().
  KILN_HD static double stored(const StateBlock& block, double value) {
    return block.layout == Layout::f32 ? static_cast<double>(static_cast<float>(value)) : value;
  }

  const ProposalSweep& sweep_;
  std::int64_t slot_;
  int lane_;
  std::int64_t variables_, first_ = 0;  // first of the round
  double* value_;                       // [2][variables], so far and proposed
  double* energy_;                      // [lanes], of trial states; 0: of the state so far
  std::uint32_t* word_;                 // [variables], of the decisions
  int level_ = 0;                       // of the lane in the tree: the place of its variable
  unsigned moved_ = 0;                  // bit j: the trial state has variable j of the round moved
  int origin_ = 0;                      // the lane whose energy is the current one, or 0
  std::uint32_t accepted_ = 0, not_finite_ = 0;
};

}  // namespace kiln
