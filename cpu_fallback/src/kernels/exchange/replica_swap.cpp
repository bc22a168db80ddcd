// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/replica_swap.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

constexpr std::int64_t ladders_per_task = 64;  // whole blocks
static_assert(ladders_per_task % ladders_of_block == 0);

void add(std::uint64_t& total, std::uint64_t value) {
  if (value != 0) std::atomic_ref(total).fetch_add(value, std::memory_order_relaxed);
}

// What some ladders add to the counts of all.
struct Counted {
  explicit Counted(std::int64_t rungs)
      : attempts(static_cast<std::size_t>(rungs)), accepted(attempts), chance(attempts) {}

  void flush(const SwapCounts& counts) const {
    for (std::int64_t r = 0; r < counts.attempts.size; ++r) {
      const auto i = static_cast<std::size_t>(r);
      add(counts.attempts[r], attempts[i]);
      add(counts.accepted[r], accepted[i]);
      add(counts.chance[r], chance[i]);
    }
    add(counts.totals[0], phases);
    add(counts.totals[1], trips);
  }

  std::vector<std::uint64_t> attempts, accepted, chance;
  std::uint64_t phases = 0, trips = 0;
};

std::vector<std::int32_t> matching_of(const ReplicaSwap& kernel, std::int64_t ladder) {
  std::vector<std::uint32_t> words;
  for (std::int64_t r = 0; r < kernel.rungs; ++r) words.push_back(kernel.matching_word(ladder, r));
  std::vector<std::int32_t> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return words[static_cast<std::size_t>(a)] < words[static_cast<std::size_t>(b)];
  });
  return order;
}

// Notes for WordSwap that a ladder of a block has swapped rungs a and b.
void note_swap(const ReplicaSwap& kernel, std::int64_t ladder, std::int32_t a, std::int32_t b) {
  const LadderPlaces places = kernel.places();
  const std::int64_t lower = places.number_at(ladder, std::min(a, b));
  kernel.blocks.swapping[lower] |= 1u << places.lane_of(ladder);
  if (kernel.blocks.partner) kernel.blocks.partner[lower] = std::max(a, b);
}

void swap_ladder(const ReplicaSwap& kernel, std::int64_t ladder, Counted& counted) {
  const SwapPhase phase = kernel.begin(ladder);
  if (!phase.due) return;
  const bool matched = kernel.mode == PairMode::all_pairs;
  const std::vector<std::int32_t> order =
      matched ? matching_of(kernel, ladder) : std::vector<std::int32_t>{};
  std::uint32_t accepted = 0;
  for (std::int32_t p = 0; p < phase.size; ++p) {
    const std::int32_t at = phase.first + 2 * p;
    const std::int32_t a = matched ? order[static_cast<std::size_t>(at)] : at;
    const std::int32_t b = matched ? order[static_cast<std::size_t>(at) + 1] : at + 1;
    bool swapped = false;
    const std::uint64_t threshold = kernel.try_pair(ladder, a, b, swapped);
    accepted += swapped ? 1u : 0u;
    if (swapped && kernel.in_blocks()) note_swap(kernel, ladder, a, b);
    if (std::abs(a - b) != 1) continue;
    const auto lower = static_cast<std::size_t>(std::min(a, b));
    ++counted.attempts[lower];
    counted.accepted[lower] += swapped ? 1 : 0;
    counted.chance[lower] += threshold >> (32 - ReplicaSwap::chance_bits);
  }
  ++counted.phases;
  counted.trips += kernel.end(ladder, static_cast<std::uint32_t>(phase.size), accepted);
}

}  // namespace

template <>
void launch(const ReplicaSwap& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.last_sweep())) return;
  std::fill_n(kernel.blocks.swapping.data, kernel.blocks.swapping.size, 0u);
  const std::int64_t ladders = kernel.ladders.size;
  const std::int64_t tasks = (ladders + ladders_per_task - 1) / ladders_per_task;
  pool_of(queue).for_each(tasks, [&](std::int64_t task) {
    Counted counted(kernel.rungs);
    const std::int64_t end = std::min(ladders, (task + 1) * ladders_per_task);
    for (std::int64_t ladder = task * ladders_per_task; ladder < end; ++ladder) {
      swap_ladder(kernel, ladder, counted);
    }
    counted.flush(kernel.counts);
  });
}

}  // namespace kiln::cpu
