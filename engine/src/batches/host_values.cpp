// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Values of blocks in host memory: their types, their checks, and how they get into a batch.
#include "batches/host_values.hpp"

#include <string>

#include "kiln/errors.hpp"
#include "kiln/replica_batch.hpp"

namespace kiln {

Layout host_layout(BlockKind kind) {
  switch (kind) {
    case BlockKind::spin:
    case BlockKind::binary:
      return Layout::i8;
    case BlockKind::real:
      return Layout::f64;
    default:
      return Layout::i32;
  }
}

BlockValues empty_values(BlockKind kind, std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  switch (host_layout(kind)) {
    case Layout::i8:
      return std::vector<std::int8_t>(n);
    case Layout::f64:
      return std::vector<double>(n);
    default:
      return std::vector<std::int32_t>(n);
  }
}

namespace {

void check_value(const Block& block, std::int64_t variable, double value) {
  const bool spin_zero = block.kind == BlockKind::spin && value == 0;
  const Bounds bounds = block.bounds(variable);
  if (!(value >= bounds.lower && value <= bounds.upper) || spin_zero) {
    throw InvalidArgument("state.value", "a state has the value " + std::to_string(value) +
                                             ", which a block of kind " + to_string(block.kind) +
                                             " does not allow");
  }
}

}  // namespace

void check_state(const Space& space, const State& state) {
  if (state.size() != space.blocks().size()) {
    throw InvalidArgument("state.blocks", "a state has " + std::to_string(state.size()) +
                                              " blocks, but the space has " +
                                              std::to_string(space.blocks().size()) + " blocks");
  }
  for (std::size_t b = 0; b < state.size(); ++b) {
    const Block& block = space.blocks()[b];
    if (state[b].index() != empty_values(block.kind, 0).index()) {
      throw InvalidArgument("state.type", std::string("a block of kind ") + to_string(block.kind) +
                                              " has values of the wrong type");
    }
    std::visit(
        [&](const auto& values) {
          if (static_cast<std::int64_t>(values.size()) != block.count) {
            throw InvalidArgument("state.size",
                                  "a block of a state has " + std::to_string(values.size()) +
                                      " values instead of " + std::to_string(block.count));
          }
          for (std::size_t v = 0; v < values.size(); ++v) {
            check_value(block, static_cast<std::int64_t>(v), static_cast<double>(values[v]));
          }
          if (block.kind != BlockKind::permutation) return;
          std::vector<bool> seen(values.size());
          for (const auto value : values) {
            const auto place = static_cast<std::size_t>(value);
            if (seen[place]) {
              throw InvalidArgument("state.permutation",
                                    "a permutation holds " + std::to_string(place) + " twice");
            }
            seen[place] = true;
          }
        },
        state[b]);
  }
}

namespace {

// In host memory.
void put_values(StateBlock& host, std::int64_t slot, const BlockValues& values) {
  std::visit(
      [&](const auto& list) {
        for (std::int64_t v = 0; v < host.variables; ++v) {
          const auto value = static_cast<double>(list[static_cast<std::size_t>(v)]);
          if (host.layout != Layout::packed32) {
            host.set(v, slot, value);
            continue;
          }
          std::uint32_t& word = host.as<std::uint32_t>()[v * host.words() + slot / 32];
          const auto bit = static_cast<std::uint32_t>(host.bit_of(value)) << (slot % 32);
          word = (word & ~(1u << (slot % 32))) | bit;
        }
      },
      values);
}

}  // namespace

void ReplicaBatch::write_states(const std::vector<State>& states) {
  if (states.empty())
    throw InvalidArgument("batch.states", "write_states() needs at least one state");
  for (const State& state : states) check_state(space_, state);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    BlockStore& store = blocks_[b];
    std::vector<std::byte> bytes(store.now_memory.bytes());
    StateBlock host = store.now;
    host.data = bytes.data();
    for (std::int64_t slot = 0; slot < slots_; ++slot) {
      put_values(host, slot, states[static_cast<std::size_t>(slot) % states.size()][b]);
    }
    store.now_memory.upload(bytes);
  }
}

void ReplicaBatch::write_state(std::int64_t slot, const State& state) {
  if (slot < 0 || slot >= slots_) {
    throw InvalidArgument("batch.slot", "slot " + std::to_string(slot) + " is outside 0 .. " +
                                            std::to_string(slots_ - 1));
  }
  check_state(space_, state);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    BlockStore& store = blocks_[b];
    std::vector<std::byte> bytes = store.now_memory.download();
    StateBlock host = store.now;
    host.data = bytes.data();
    put_values(host, slot, state[b]);
    store.now_memory.upload(bytes);
  }
}

}  // namespace kiln
