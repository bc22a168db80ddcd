// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "ladder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "kiln/device/exact_math.hpp"
#include "kiln/executors/repeats_ticks.hpp"
#include "kiln/host_scratch.hpp"

#include "arrays.hpp"
#include "temperatures.hpp"

namespace kiln::ladder {
namespace {

// Values of the rungs of every ladder, then those of all walkers.
template <class T>
std::vector<T> spread(const std::vector<T>& of_rungs, std::int64_t ladders, std::int64_t walkers,
                      T of_walkers) {
  std::vector<T> all;
  for (std::int64_t g = 0; g < ladders; ++g) {
    all.insert(all.end(), of_rungs.begin(), of_rungs.end());
  }
  all.resize(all.size() + static_cast<std::size_t>(ladders * walkers), of_walkers);
  return all;
}

}  // namespace

// Replica k of a ladder begins at rung k, its walkers follow; padding sweeps along at the first
// rung of all.
void Ladders::place(AllocateContext& run) {
  const std::int64_t slots = run.batch().slots();
  places_ = {run.batch().groups(), rungs(), walkers(), in_blocks()};
  std::vector<std::int32_t> numbers = filled<std::int32_t>(places_.size(), 0),
                            rung_of = filled<std::int32_t>(slots, 0), best = rung_of;
  for (std::int64_t slot = 0; slot < places_.slots(); ++slot) {
    const std::int64_t number = places_.number_of(slot);
    const std::int64_t place = slot / places_.lanes() % places_.group_size();
    numbers[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(slot);
    rung_of[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(number);
    best[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(place);
  }
  run.queue().upload(run.batch().rung_of().data, rung_of.data(), rung_of.size() * sizeof(int));
  slot_of = in_blocks() ? View1<std::int32_t>{} : run.scratch("slot_of", numbers);
  if (slot_of) {
    run.require_saved<std::int32_t>("slot_of", [slots](const std::vector<std::int32_t>& saved) {
      std::vector<bool> held(static_cast<std::size_t>(slots), false);
      for (const std::int32_t slot : saved) {
        if (slot < 0 || slot >= slots || held[static_cast<std::size_t>(slot)]) return false;
        held[static_cast<std::size_t>(slot)] = true;
      }
      return true;
    });
  }
  best_rung = run.scratch("best_rung", best);
  run.require_saved_between<std::int32_t>("best_rung", 0, places_.group_size() - 1);
  swapping_ = {};
  partner_ = {};
  readers_ = {};
  if (!in_blocks()) return;
  swapping_ = run.scratch_zeros<std::uint32_t>("swapping", places_.size());
  readers_ = run.scratch_zeros<std::uint32_t>("tick_readers", places_.groups);
  if (setting_.mode == PairMode::all_pairs) {
    partner_ = run.scratch_zeros<std::int32_t>("partner", places_.size());
    run.require_saved_between<std::int32_t>("partner", -1, places_.size() - 1);
  }
}

// What goes along with a replica when it moves: all that is kept by slot, but not the slot's rung.
void Ladders::plan_moves(AllocateContext& run) {
  moves_ = {};
  if (!setting_.by_state || in_blocks()) return;
  ReplicaBatch& batch = run.batch();
  std::vector<SlotArray> arrays = batch.replica_arrays();
  auto* const family = run.objective().as<Parametric>();
  const EnergyComponents parts = family != nullptr ? family->components() : EnergyComponents{};
  for (const View1<double> part : {parts.base, parts.term}) {
    if (part) arrays.emplace_back(part);
  }
  arrays.emplace_back(last_end);
  arrays.emplace_back(round_trips_);
  arrays.emplace_back(best_rung);
  moves_.n_arrays = static_cast<std::int32_t>(arrays.size());
  std::copy(arrays.begin(), arrays.end(), moves_.arrays);
  moves_.rung_of = batch.rung_of();
  moves_.slot_of = slot_of;
  moves_.places = places_;
  moves_.control = run.control();
  const std::int64_t rows = std::ranges::max(arrays, {}, &SlotArray::rows).rows;
  plan_host_scratch(run.queue(), state_swap_tasks(rows, moves_.places.size()));
}

void Ladders::allocate(AllocateContext& run, const Setting& setting) {
  setting_ = setting;
  const std::int64_t groups = run.batch().groups(), slots = run.batch().slots();
  place(run);
  beta = run.scratch("beta", spread(setting.beta, groups, walkers(), setting.walker_beta));
  parameter = {};
  if (!setting.parameter.empty()) {
    parameter = run.scratch("parameter",
                            spread(setting.parameter, groups, walkers(), setting.walker_parameter));
  }
  cold_ = run.scratch("cold", filled(beta.size, exact::infinity()));
  prepare_descent(run);  // not in descend(): captured ticks would keep memory that moved
  SwapLadder fresh;
  fresh.interval = setting.cadence.interval;
  ladders_ = run.scratch("ladders", filled(places_.ladders(), fresh));
  run.require_saved<SwapLadder>("ladders", [](const std::vector<SwapLadder>& saved) {
    return std::ranges::all_of(saved, [](const SwapLadder& one) {
      return one.interval >= 1 && one.interval < 1e15 && one.in_window >= 0;
    });
  });
  last_end = run.scratch_zeros<LadderEnd>("last_end", slots);  // LadderEnd::none
  run.require_saved_between<std::uint32_t>("last_end", 0,
                                           static_cast<std::uint32_t>(LadderEnd::cold));
  round_trips_ = run.scratch_zeros<std::uint32_t>("round_trips", slots);
  const auto zeros = [&](const char* name, std::int64_t size) {
    return run.scratch_zeros<std::uint64_t>(name, size);
  };
  counts_ = {zeros("attempts", rungs() - 1), zeros("accepted", rungs() - 1),
             zeros("chance", rungs() - 1), zeros("totals", 2)};
  sums_ = run.scratch("sums", filled(rungs(), RungSums{}));
  cells_ = run.scratch("cells", filled(rungs() * LadderStatistics::cells_of_rung, RungCell{}));
  allocate_record(run);
  const bool links = setting.coordinate == Coordinate::temperature;
  const UniformLink link = links ? link_to_uniform(run, setting.beta.front()) : UniformLink{};
  link_ = run.scratch("link", filled(1, link));
  plan_ = run.scratch("plan", filled(1, setting.adaptation));
  run.require_saved<LadderPlan>("plan", [](const std::vector<LadderPlan>& saved) {
    return std::ranges::all_of(saved, [](const LadderPlan& one) {
      return one.rounds_left >= 0 && one.round_calls >= 1 && one.calls >= 0 && one.rest >= 0;
    });
  });
  barrier_ = run.scratch_zeros<double>("barrier", rungs());
  slope_ = run.scratch_zeros<double>("slope", rungs());
  fresh_ = run.scratch_zeros<double>("fresh", rungs());
  allocate_rules(run);
  plan_moves(run);
  run.show_beta({beta.data + rungs() - 1, 1});
  run.hand_betas({beta.data, rungs()});
}

void Ladders::allocate_record(AllocateContext& run) {
  const std::int64_t replicas = rungs() * places_.ladders();
  record_ = {};
  record_.calls = LadderRecord::calls_for(replicas);
  const std::int64_t size = record_.places() * replicas;
  record_.energy = run.scratch_zeros<double>("recorded_energy", size);
  if (setting_.coordinate == Coordinate::parameter) {
    record_.term = run.scratch_zeros<double>("recorded_term", size);
  }
  record_.parts = run.scratch(
      "recorded_parts",
      filled(rungs() * record_.calls * LadderRecord::parts_of_call, LadderStatistics::nothing()));
  record_.state =
      run.scratch_zeros<std::uint32_t>("record_state", LadderRecord::state_size(rungs()));
  run.require_saved<std::uint32_t>(
      "record_state", [places = record_.places()](const std::vector<std::uint32_t>& saved) {
        return saved[LadderRecord::next_at] < places && saved[LadderRecord::waiting_at] <= places &&
               saved[LadderRecord::ticket_at] == 0;
      });
}

FamilyEnergies Ladders::family(RunContext& run) const {
  if (!parameter) return {};
  const EnergyComponents components = run.objective<Parametric>().components();
  return {components.base, components.term, parameter};
}

void Ladders::allocate_rules(AllocateContext& run) {
  metropolis_ = heat_bath_ = {};
  const std::vector<SweepRule>& moves = setting_.moves;
  const auto baths = std::count(moves.begin(), moves.end(), SweepRule::heat_bath);
  if (baths == 0 || baths == rungs()) return;
  std::vector<std::uint32_t> of_rungs;
  for (const SweepRule rule : moves) of_rungs.push_back(rule == SweepRule::heat_bath ? 1 : 0);
  std::vector<std::uint32_t> flags =
      spread(of_rungs, run.batch().groups(), walkers(), of_rungs.back());
  heat_bath_ = run.scratch("heat_bath_rungs", flags);
  run.require_saved_equal("heat_bath_rungs", flags);
  for (std::uint32_t& flag : flags) flag = 1 - flag;
  metropolis_ = run.scratch("metropolis_rungs", flags);
  run.require_saved_equal("metropolis_rungs", flags);
}

// Of the rungs, if all move by the same.
SweepRule Ladders::rule() const {
  const bool baths = !setting_.moves.empty() && setting_.moves.back() == SweepRule::heat_bath;
  return baths ? SweepRule::heat_bath : SweepRule::metropolis;
}

// The same for all sweeps of a tick.
View2<const double> Ladders::betas() const {
  return {beta.data, setting_.sweeps_per_tick, beta.size, 0};
}

// Rungs that move by different rules are swept one after the other; who is not meant rests.
void Ladders::sweep(TickContext& run) const {
  if (!metropolis_ && !parameter) return run.sweep_in_row(betas(), true, rule());
  for (std::uint32_t s = 0; s < setting_.sweeps_per_tick; ++s) {
    const bool last = s + 1 == setting_.sweeps_per_tick;
    if (!metropolis_) {
      run.sweep(beta, s, last, rule(), parameter);
      continue;
    }
    run.sweep(beta, s, false, SweepRule::metropolis, parameter, metropolis_);
    run.sweep(beta, s, last, SweepRule::heat_bath, parameter, heat_bath_);
  }
}

LadderStatistics Ladders::statistics(RunContext& run) const {
  ReplicaBatch& batch = run.batch();
  LadderStatistics kernel{batch.energy(),
                          batch.best_energy(),
                          of_rungs(beta),
                          slot_of,
                          best_rung,
                          sums_,
                          places_.ladders(),
                          run.control(),
                          setting_.sweeps_per_tick,
                          run.inverse_scale()};
  kernel.cells = cells_;
  kernel.in_blocks = in_blocks();
  if (setting_.coordinate == Coordinate::parameter) {
    kernel.parameter = of_rungs(parameter);
    kernel.term = run.objective<Parametric>().components().term;
  }
  return kernel;
}

ReplicaSwap Ladders::swaps(TickContext& run) const {
  ReplicaBatch& batch = run.batch();
  return {batch.energy(),
          beta,
          batch.rung_of(),
          slot_of,
          ladders_,
          last_end,
          round_trips_,
          counts_,
          batch.draw_ids(),
          run.control(),
          rungs(),
          setting_.mode,
          setting_.cadence,
          setting_.sweeps_per_tick,
          run.inverse_scale(),
          family(run),
          rungs() + walkers(),
          in_blocks() ? SwapBlocks{batch.energy(), swapping_, partner_} : SwapBlocks{}};
}

LadderUpdate Ladders::update(TickContext& run) const {
  const bool of_parameter = setting_.coordinate == Coordinate::parameter;
  return {plan_,
          of_rungs(of_parameter ? parameter : beta),
          sums_,
          counts_,
          barrier_,
          slope_,
          fresh_,
          run.control(),
          setting_.sweeps_per_tick,
          cells_};
}

void Ladders::measure(TickContext& run) const { run.queue().launch(statistics(run)); }

void Ladders::swap(TickContext& run) const { run.queue().launch(swaps(run)); }

void Ladders::settle(TickContext& run) const {
  if (in_blocks()) return move_words(run);
  if (moves_.n_arrays > 0) run.queue().launch(moves_);
}

void Ladders::move_words(TickContext& run) const {
  for (int b = 0; b < run.batch().n_blocks(); ++b) run.queue().launch(word_swap(run, b));
}

WordSwap Ladders::word_swap(TickContext& run, int block) const {
  return {run.batch().state(block).packed(), swapping_, partner_, rungs(), run.control(),
          setting_.sweeps_per_tick};
}

void Ladders::adapt(TickContext& run) const { run.queue().launch(update(run)); }

LadderPhase Ladders::phase(TickContext& run) const {
  return {statistics(run), swaps(run), update(run), record_};
}

// Temperatures change before the states move, which do not depend on them.
void Ladders::exchange(TickContext& run) const {
  run.queue().launch(phase(run));
  settle(run);
}

void Ladders::tick(TickContext& run, bool best_first, std::int64_t at_once) const {
  const bool alike = in_blocks() && !metropolis_ && !parameter && run.batch().n_blocks() == 1;
  if (const auto kernel = alike ? run.sweep_kernel(betas(), rule()) : std::nullopt) {
    LadderTick tick{*kernel, phase(run), word_swap(run, 0), run.end_kernel(), best_first, readers_};
    if (at_once > 1) tick.ticks = repeated(run, tick, at_once);
    return run.queue().launch(tick);
  }
  if (at_once > 1)
    run.refuse_more(
        "its ladders are not in blocks of 32: the number of ladders (replicas / rungs) must be a "
        "multiple of 32, and draws must be by planes");
  if (best_first) run.track_best();
  sweep(run);
  exchange(run);
  run.finish_tick();
}

std::uint32_t Ladders::repeated(TickContext& run, const LadderTick& tick,
                                std::int64_t at_once) const {
  std::string refusal;
  if (!can_repeat(run.queue(), tick, refusal)) {
    run.refuse_more(std::move(refusal));
    return 1;
  }
  run.enqueued(at_once);
  return static_cast<std::uint32_t>(at_once);
}

void Ladders::descend(DescendContext& run) const {
  descend_to_minimum(run, cold_, setting_.sweeps_per_tick);
}

}  // namespace kiln::ladder
