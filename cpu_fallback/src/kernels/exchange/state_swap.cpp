// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/state_swap.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kiln/host_scratch.hpp"

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// A slot that moves, and where its replica comes from.
struct Move {
  std::int64_t slot = 0, source = 0;
};

// A word with lanes that move.
struct MovingWord {
  std::int64_t word = 0;
  WordMoves moves;
};

// What moves in all arrays alike.
struct Plan {
  explicit Plan(const StateSwap& kernel) {
    for (std::int64_t slot = 0; slot < kernel.places.size(); ++slot) {
      const std::int64_t source = kernel.source_of(slot), distance = source - slot;
      sources.push_back(source);
      if (distance == 0) continue;
      moves.push_back({slot, source});
      if (words.empty() || words.back().word != slot / 32) words.push_back({slot / 32, {}});
      WordMoves& of_word = words.back().moves;
      std::uint32_t& lanes = distance == 1    ? of_word.next
                             : distance == -1 ? of_word.last
                                              : of_word.other;
      lanes |= 1u << (slot % 32);
    }
  }

  std::vector<std::int64_t> sources;  // [slots of groups]
  std::vector<Move> moves;
  std::vector<MovingWord> words;
};

// All of a row is read before any of it is written.
void move_words(const Plan& plan, std::uint32_t* row, std::byte* scratch) {
  auto* const changes = reinterpret_cast<std::uint32_t*>(scratch);
  const auto source = [&](std::int64_t slot) {
    return plan.sources[static_cast<std::size_t>(slot)];
  };
  for (std::size_t i = 0; i < plan.words.size(); ++i) {
    changes[i] = StateSwap::changes(row, plan.words[i].word, plan.words[i].moves, source);
  }
  for (std::size_t i = 0; i < plan.words.size(); ++i) row[plan.words[i].word] ^= changes[i];
}

template <class T>
void move_values(const Plan& plan, T* row, std::byte* scratch) {
  T* const values = reinterpret_cast<T*>(scratch);
  for (std::size_t i = 0; i < plan.moves.size(); ++i) values[i] = row[plan.moves[i].source];
  for (std::size_t i = 0; i < plan.moves.size(); ++i) row[plan.moves[i].slot] = values[i];
}

void move_row(const Plan& plan, const SlotArray& array, std::int64_t row, std::byte* scratch) {
  switch (array.bytes) {
    case 0:
      return move_words(plan, array.row<std::uint32_t>(row), scratch);
    case 1:
      return move_values(plan, array.row<std::uint8_t>(row), scratch);
    case 4:
      return move_values(plan, array.row<std::uint32_t>(row), scratch);
    default:
      return move_values(plan, array.row<std::uint64_t>(row), scratch);
  }
}

}  // namespace

template <>
void launch(const StateSwap& kernel, Queue& queue) {
  if (kernel.control->stop != DeviceStop::none) return;
  const Plan plan(kernel);
  if (plan.moves.empty()) return;
  for (std::int32_t a = 0; a < kernel.n_arrays; ++a) {
    const SlotArray& array = kernel.arrays[a];
    const HostTasks tasks =
        state_swap_tasks(array.rows, static_cast<std::int64_t>(plan.moves.size()));
    for_each_with_scratch(
        queue, tasks.count, tasks.bytes, [&](std::int64_t task, std::byte* scratch) {
          const std::int64_t begin = task * swap_rows_per_task;
          const std::int64_t end = std::min(array.rows, begin + swap_rows_per_task);
          for (std::int64_t r = begin; r < end; ++r) {
            move_row(plan, array, r, scratch);
          }
        });
  }
  for (const Move& move : plan.moves) kernel.settle(move.slot);
}

}  // namespace kiln::cpu
