// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run does not believe of a state that a file holds: sums of a file say that it is whole,
// not that its values are in range.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "kiln/kernels/run/state_values.hpp"

#include "run_parts.hpp"
#include "run_scratch.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {
namespace {

StateBlock host_copy(Queue& queue, const Block& block, StateBlock state,
                     std::vector<std::byte>& bytes) {
  bytes.resize(block_bytes(block, state.layout, state.slots));
  queue.download(bytes.data(), state.data, bytes.size());
  state.data = bytes.data();
  state.box = nullptr;  // of reals alone
  return state;
}

}  // namespace

void RunCore::check_saved(const std::string& name,
                          std::function<bool(std::span<const std::byte>)> holds) {
  scratch_->check(name, std::move(holds));
}

// No schedule changes which rungs the slots of a group are at, only their order.
std::vector<std::int32_t> RunCore::rungs() {
  std::vector<std::int32_t> rungs(static_cast<std::size_t>(batch_->slots()));
  queue_->download(rungs.data(), batch_->rung_of().data, rungs.size() * sizeof(std::int32_t));
  const std::int64_t size = batch_->group_size();
  const auto end_of = [&](std::int64_t slot) { return rungs.begin() + std::ptrdiff_t{slot}; };
  for (std::int64_t group = 0; group < batch_->groups(); ++group) {
    std::sort(end_of(group * size), end_of((group + 1) * size));
  }
  return rungs;
}

void RunCore::require_sound(const std::vector<std::int32_t>& rungs_before, std::uint64_t steps) {
  const RunControl control = control_.download().front();
  if (control.step != steps || control.ticket != 0 || control.stop > DeviceStop::work_limit) {
    refuse_loaded("counts of ticks and steps");
  }
  if (rungs() != rungs_before) refuse_loaded("'rung_of'");
  require_places();
  require_states();
  const std::string unsound = scratch_->unsound();
  if (!unsound.empty()) refuse_loaded("'" + unsound + "'");
  if (telemetry_ && !telemetry_->is_sound(control)) refuse_loaded("epochs of telemetry");
}

// Indices that kernels and results follow: each replica once, in a slot of its group.
void RunCore::require_places() {
  const std::int64_t replicas = batch_->replicas(), size = batch_->group_size();
  std::vector<bool> held(static_cast<std::size_t>(replicas), false);
  const std::vector<std::int32_t> replica_of = batch_->read_replica_of();
  for (std::int64_t slot = 0; slot < replicas; ++slot) {
    const std::int64_t replica = replica_of[static_cast<std::size_t>(slot)];
    const bool here = replica >= 0 && replica / size == slot / size;
    if (!here || held[static_cast<std::size_t>(replica)]) refuse_loaded("'replica_of'");
    held[static_cast<std::size_t>(replica)] = true;
  }
}

// Padding moves along with the replicas and is read by none; its values are indices all the same.
void RunCore::require_states() {
  std::vector<std::byte> bytes;
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    const Block& block = batch_->space().blocks()[static_cast<std::size_t>(b)];
    const StateBlock now = host_copy(*queue_, block, batch_->state(b), bytes);
    if (!are_states(now, batch_->replicas(), EmptySlots::refused) ||
        !are_states(now, batch_->slots(), EmptySlots::allowed)) {
      refuse_loaded("states");
    }
    const StateBlock best = host_copy(*queue_, block, batch_->best_state(b), bytes);
    if (!are_states(best, batch_->slots(), EmptySlots::allowed)) refuse_loaded("best states");
  }
}

}  // namespace kiln
