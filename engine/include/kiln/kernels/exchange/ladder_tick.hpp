// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/view_bytes.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_phase.hpp"
#include "kiln/kernels/exchange/word_swap.hpp"
#include "kiln/kernels/run/end_tick.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

namespace kiln {

/// A tick of blocks of 32 ladders (LadderPlaces): MetropolisSweep, LadderPhase, WordSwap and
/// EndTick, one after the other. A GPU does the work of all four in one launch where states fit in
/// shared memory, pairs are even_odd and the cadence is fixed.
///
/// A launch makes `ticks` ticks, fewer where the run stops. Where whole ladders fit on
/// multiprocessors (RepeatsTicks) a GPU keeps them there from tick to tick.
///
/// All parts have the control block, the energies and the states of the same batch, and groups of
/// the batch are blocks: a word has one rung of 32 ladders of one key. The ladders of a block have
/// the same SwapLadder where the cadence is fixed.
///
/// Class E: the bits are those of the parts.
struct KILN_API LadderTick {
  static constexpr const char* name = "ladder_tick";
  static constexpr const char* summary =
      "makes ticks of blocks of 32 ladders: metropolis_sweep, ladder_phase, word_swap and "
      "end_tick";

  MetropolisSweep sweep;
  LadderPhase phase;
  WordSwap words;
  EndTick end;
  /// Whether the first tick begins with TrackBest of `end`: what came before it has changed states.
  bool best_first = false;
  /// [blocks of ladders], scratch: zero between launches. Empty: the parts are launched.
  View1<std::uint32_t> readers = {};
  std::uint32_t ticks = 1;  ///< at least 1

  /// The same for one of its ticks; `first`: the first one.
  LadderTick one(bool first) const {
    LadderTick tick = *this;
    tick.ticks = 1;
    tick.best_first = best_first && first;
    return tick;
  }
  /// Of one tick. The energies that the sweep writes stay on the chip for the rest of it.
  double bytes() const {
    return sweep.bytes() + bytes_of(phase.swap.beta) + 2 * bytes_of(phase.swap.ladders) +
           bytes_of(end.best.best_energy);
  }
};

}  // namespace kiln
