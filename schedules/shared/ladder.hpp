// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kiln/kernels/exchange/ladder_phase.hpp"
#include "kiln/kernels/exchange/ladder_statistics.hpp"
#include "kiln/kernels/exchange/ladder_tick.hpp"
#include "kiln/kernels/exchange/ladder_update.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/kernels/exchange/state_swap.hpp"
#include "kiln/kernels/exchange/word_swap.hpp"
#include "kiln/result.hpp"
#include "kiln/run_context.hpp"

#include "uniform_distribution.hpp"

namespace kiln::ladder {

/// What the rungs of a ladder differ in.
enum class Coordinate : std::uint8_t { temperature, parameter, both };

/// What a ladder over a parameter asks of its objective.
inline constexpr std::string_view why_parameters =
    "rungs with different parameters need a family of objectives, E = A + lambda B";

/// How the ladders of a run are made.
struct Setting {
  Coordinate coordinate = Coordinate::temperature;
  std::vector<double> beta;       ///< [rungs], the target of the ladder last
  std::vector<double> parameter;  ///< [rungs], lambda; empty: that of the problem everywhere
  std::int64_t walkers = 0;       ///< replicas of a group that stand beside its ladder
  double walker_beta = 0;         ///< where they begin
  double walker_parameter = 0;    ///< theirs, if `parameter` is not empty
  LadderPlan adaptation;          ///< of the coordinate, which then must rise; none for both
  PairMode mode = PairMode::even_odd;
  SwapCadence cadence;
  std::uint32_t sweeps_per_tick = 1;
  std::vector<SweepRule> moves;  ///< [rungs], walkers move as the last rung; empty: Metropolis
  bool by_state = false;         ///< replicas move between slots, instead of rung numbers
  /// Groups of the batch are blocks of 32 ladders without walkers, of one Hamiltonian and in
  /// packed32; always by state.
  bool in_blocks = false;
};

/// The ladders of a run, one for each group of its batch, or 32 where groups are blocks: what
/// schedules with exchange share.
///
/// Numbers of rungs and walkers are those of LadderPlaces. Everything lies in scratch of the run. A
/// tick is tick(), or sweep(), then exchange() or its four parts, then TickContext::finish_tick().
class Ladders {
 public:
  /// @pre the groups of the batch have setting.beta.size() + setting.walkers replicas, or 32 times
  /// as many in blocks.
  void allocate(AllocateContext& run, const Setting& setting);

  void sweep(TickContext& run) const;    ///< all sweeps of a tick
  void measure(TickContext& run) const;  ///< energies, before anything is exchanged
  void swap(TickContext& run) const;     ///< one phase between rungs
  void settle(
      TickContext& run) const;  ///< after all exchanges of a tick: moves states if they are to move
  void adapt(TickContext& run) const;     ///< ends a round when it is due
  void exchange(TickContext& run) const;  ///< all four, with as few launches as the device allows
  /// A whole tick, with as few launches as the device allows. `best_first`: what came before it in
  /// the tick has changed states, whose best are to be kept.
  /// `at_once`: ticks between which nothing comes, at most run.ticks_at_once(). They are one launch
  /// where can_repeat() says so, else one tick is enqueued.
  void tick(TickContext& run, bool best_first, std::int64_t at_once) const;
  /// Gives the rungs other temperatures between two ticks. The adaptation ends, and all sums and
  /// counts begin anew.
  /// @param betas  [rungs], rising; of a ladder over temperatures without walkers
  void set_betas(RunContext& run, const std::vector<double>& betas) const;
  /// Schedule::descend: everything down to the next minimum of the problem.
  void descend(DescendContext& run) const;
  /// What the run tells about its ladders, and what would make it better. log Z is given
  /// over one coordinate.
  void report(ReportContext& run, Result& result) const;

  std::int64_t rungs() const { return static_cast<std::int64_t>(setting_.beta.size()); }
  std::int64_t walkers() const { return setting_.walkers; }
  bool in_blocks() const { return setting_.in_blocks; }
  /// Empty views where all replicas have the Hamiltonian of the problem.
  FamilyEnergies family(RunContext& run) const;

  View1<double> beta, parameter;  ///< [rung numbers]; parameter may be empty
  View1<std::int32_t> slot_of;    ///< [rung numbers]; empty in blocks
  View1<std::int32_t> best_rung;  ///< [slots]
  View1<LadderEnd> last_end;      ///< [slots]

 private:
  View1<double> of_rungs(View1<double> all) const { return {all.data, places_.groups * rungs()}; }
  LadderStatistics statistics(RunContext& run) const;
  ReplicaSwap swaps(TickContext& run) const;
  LadderUpdate update(TickContext& run) const;
  void place(AllocateContext& run);
  void move_words(TickContext& run) const;
  SweepRule rule() const;
  View2<const double> betas() const;
  LadderPhase phase(TickContext& run) const;
  WordSwap word_swap(TickContext& run, int block) const;
  std::uint32_t repeated(TickContext& run, const LadderTick& tick, std::int64_t at_once) const;
  void allocate_record(AllocateContext& run);
  void allocate_rules(AllocateContext& run);
  void plan_moves(AllocateContext& run);

  Setting setting_;
  /// Flags of the rungs that move by a rule, [rung numbers]; empty where all move by the same.
  View1<std::uint32_t> metropolis_, heat_bath_;
  LadderPlaces places_;
  StateSwap moves_;                ///< without arrays where rung numbers or words move
  View1<std::uint32_t> swapping_;  ///< empty unless in blocks
  View1<std::int32_t> partner_;    ///< empty unless all pairs exchange in blocks
  View1<std::uint32_t> readers_;   ///< of LadderTick; empty unless in blocks
  View1<double> cold_;
  View1<SwapLadder> ladders_;
  View1<std::uint32_t> round_trips_;
  SwapCounts counts_;
  View1<RungSums> sums_;
  View1<RungCell> cells_;
  LadderRecord record_;
  View1<UniformLink> link_;  ///< [1], of the first rung
  View1<LadderPlan> plan_;
  View1<double> barrier_, slope_, fresh_;
};

}  // namespace kiln::ladder
