// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "ladder.hpp"

#include <algorithm>

#include "kiln/device/exact_math.hpp"

#include "temperatures.hpp"

namespace kiln::ladder {
namespace {

template <class T>
std::vector<T> filled(std::int64_t size, T value) {
  return std::vector<T>(static_cast<std::size_t>(size), value);
}

// Values of the rungs of every ladder, then those of all walkers.
std::vector<double> spread(const std::vector<double>& of_rungs, std::int64_t ladders,
                           std::int64_t walkers, double of_walkers) {
  std::vector<double> all;
  for (std::int64_t g = 0; g < ladders; ++g) {
    all.insert(all.end(), of_rungs.begin(), of_rungs.end());
  }
  all.resize(all.size() + static_cast<std::size_t>(ladders * walkers), of_walkers);
  return all;
}

}  // namespace

// Replica k of a ladder begins at rung k, its walkers follow; padding sweeps along at the first
// rung of all.
void Ladders::place(Run& run) {
  const std::int64_t slots = run.batch().slots();
  const LadderPlaces places{run.batch().groups(), rungs(), walkers()};
  std::vector<std::int32_t> numbers = filled<std::int32_t>(places.size(), 0),
                            rung_of = filled<std::int32_t>(slots, 0), best = rung_of;
  for (std::int64_t slot = 0; slot < places.size(); ++slot) {
    const std::int64_t number = places.number_of(slot);
    numbers[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(slot);
    rung_of[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(number);
    best[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(slot % places.group_size());
  }
  run.queue().upload(run.batch().rung_of().data, rung_of.data(), rung_of.size() * sizeof(int));
  slot_of = run.scratch("slot_of", numbers);
  best_rung = run.scratch("best_rung", best);
}

// What goes along with a replica when it moves: all that is kept by slot, but not the slot's rung.
void Ladders::plan_moves(Run& run) {
  moves_ = {};
  if (!setting_.by_state) return;
  ReplicaBatch& batch = run.batch();
  std::vector<SlotArray> arrays = batch.replica_arrays();
  const EnergyComponents parts = run.components();
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
  moves_.places = {batch.groups(), rungs(), walkers()};
  moves_.control = run.control();
}

void Ladders::start(Run& run, const Setting& setting) {
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
  SwapLadder fresh;
  fresh.interval = setting.cadence.interval;
  ladders_ = run.scratch("ladders", filled(groups, fresh));
  last_end = run.scratch("last_end", filled(slots, LadderEnd::none));
  round_trips_ = run.scratch("round_trips", filled<std::uint32_t>(slots, 0));
  const auto none = filled<std::uint64_t>(rungs() - 1, 0);
  counts_ = {run.scratch("attempts", none), run.scratch("accepted", none),
             run.scratch("chance", none), run.scratch("totals", filled<std::uint64_t>(2, 0))};
  sums_ = run.scratch("sums", filled(rungs(), RungSums{}));
  plan_ = run.scratch("plan", filled(1, setting.adaptation));
  barrier_ = run.scratch("barrier", filled(rungs(), 0.0));
  slope_ = run.scratch("slope", filled(rungs(), 0.0));
  fresh_ = run.scratch("fresh", filled(rungs(), 0.0));
  plan_moves(run);
  run.show_beta({beta.data + rungs() - 1, 1});
}

FamilyEnergies Ladders::family(Run& run) const {
  if (!parameter) return {};
  const EnergyComponents components = run.components();
  return {components.base, components.term, parameter};
}

void Ladders::sweep(Run& run) const {
  for (std::uint32_t s = 0; s < setting_.sweeps_per_tick; ++s) {
    run.sweep(beta, s, s + 1 == setting_.sweeps_per_tick, SweepRule::metropolis, parameter);
  }
}

void Ladders::measure(Run& run) const {
  ReplicaBatch& batch = run.batch();
  run.queue().launch(LadderStatistics{batch.energy(), batch.best_energy(), of_rungs(beta), slot_of,
                                      best_rung, sums_, batch.groups(), run.control(),
                                      setting_.sweeps_per_tick, run.inverse_scale()});
}

void Ladders::swap(Run& run) const {
  ReplicaBatch& batch = run.batch();
  run.queue().launch(ReplicaSwap{batch.energy(), beta, batch.rung_of(), slot_of, ladders_, last_end,
                                 round_trips_, counts_, batch.names(), run.control(), rungs(),
                                 setting_.mode, setting_.cadence, setting_.sweeps_per_tick,
                                 run.inverse_scale(), family(run), rungs() + walkers()});
}

void Ladders::settle(Run& run) const {
  if (moves_.n_arrays > 0) run.queue().launch(moves_);
}

void Ladders::adapt(Run& run) const {
  const bool of_parameter = setting_.coordinate == Coordinate::parameter;
  run.queue().launch(LadderUpdate{plan_, of_rungs(of_parameter ? parameter : beta), sums_, counts_,
                                  barrier_, slope_, fresh_, run.control(),
                                  setting_.sweeps_per_tick});
}

void Ladders::exchange(Run& run) const {
  measure(run);
  swap(run);
  settle(run);
  adapt(run);
}

void Ladders::descend(Run& run) const {
  if (run.problem().objective->abilities().pace == Pace::host) return;
  kiln::descend(run, cold_, setting_.sweeps_per_tick);
}

}  // namespace kiln::ladder
