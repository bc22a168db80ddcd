// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "commands/inject.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "kiln/errors.hpp"

#include "batches/host_values.hpp"
#include "run_core.hpp"

namespace kiln {
namespace {

std::int64_t worst_of(const std::vector<double>& energies, std::int64_t replicas) {
  std::int64_t worst = 0;
  for (std::int64_t slot = 0; slot < replicas; ++slot) {
    const double energy = energies[static_cast<std::size_t>(slot)];
    if (!std::isfinite(energy)) return slot;
    if (energy > energies[static_cast<std::size_t>(worst)]) worst = slot;
  }
  return worst;
}

void require_takes_states(RunCore& core, const std::vector<State>& states) {
  const std::string name = core.schedule().name();
  if (core.schedule().as<TakesStates>() == nullptr) {
    throw InvalidArgument("commands.inject",
                          "schedule '" + name + "' takes no states while it runs",
                          "simulated annealing or parallel tempering");
  }
  if (states.empty()) throw InvalidArgument("commands.inject", "no state was given");
  if (static_cast<std::int64_t>(states.size()) > core.batch().replicas()) {
    throw InvalidArgument("commands.inject",
                          std::to_string(states.size()) + " states were given, and the run has " +
                              std::to_string(core.batch().replicas()) + " replicas",
                          "at most one state for each replica");
  }
  for (const State& state : states) check_state(core.batch().space(), state);
}

}  // namespace

// All states are evaluated before the energy of one is written, so that a refusal changes nothing.
void inject_states(RunCore& core, const std::vector<State>& states) {
  require_takes_states(core, states);
  ReplicaBatch& batch = core.batch();
  Queue& queue = core.queue();
  std::vector<double> energies = batch.read_energies(false);
  DeviceArray<double> evaluated(queue, batch.slots());
  std::vector<std::int64_t> slots;
  for (std::size_t i = 0; i < states.size(); ++i) {
    slots.push_back(worst_of(energies, batch.replicas()));
    energies[static_cast<std::size_t>(slots.back())] = -std::numeric_limits<double>::max();
  }
  const std::vector<State> before = batch.read_states(slots, false);
  for (std::size_t i = 0; i < states.size(); ++i) batch.write_state(slots[i], states[i]);
  evaluated.fill(0);
  core.evaluate(evaluated.view(), {}, {});
  const std::vector<double> values = evaluated.download();
  for (const std::int64_t slot : slots) {
    if (std::isfinite(values[static_cast<std::size_t>(slot)])) continue;
    for (std::size_t i = 0; i < slots.size(); ++i) batch.write_state(slots[i], before[i]);
    throw InvalidArgument("commands.inject", "a state has no finite energy");
  }
  for (const std::int64_t slot : slots) {
    queue.copy(batch.energy().data + slot, evaluated.data() + slot, sizeof(double));
  }
  core.track_best();
  queue.wait();
}

}  // namespace kiln
