// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/cluster_move.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// Words of the state are shared by replicas that other threads move.
std::atomic_ref<std::uint32_t> word_of(const ClusterMove& kernel, std::int32_t variable,
                                       std::int32_t slot) {
  return std::atomic_ref(kernel.state(variable, slot / 32));
}

bool bit_of(const ClusterMove& kernel, std::int32_t variable, std::int32_t slot) {
  const std::uint32_t word = word_of(kernel, variable, slot).load(std::memory_order_relaxed);
  return ((word >> (slot % 32)) & 1u) != 0;
}

void flip(const ClusterMove& kernel, std::int32_t variable, std::int32_t slot) {
  word_of(kernel, variable, slot).fetch_xor(1u << (slot % 32), std::memory_order_relaxed);
}

// The sites that may join a cluster (1), and how many they are.
std::uint32_t mark_candidates(const ClusterMove& kernel, std::int32_t s, std::int32_t t,
                              std::vector<std::uint8_t>& candidate) {
  const PairwiseView& model = kernel.model;
  candidate.assign(static_cast<std::size_t>(model.n_sites), 0);
  std::int32_t differing = 0;
  for (std::int32_t site = 0; site < model.n_sites; ++site) {
    const std::int32_t v = model.variable[site];
    if (v < 0 || bit_of(kernel, v, s) == bit_of(kernel, v, t)) continue;
    candidate[static_cast<std::size_t>(site)] = 1;
    ++differing;
  }
  if (!kernel.symmetric || 2 * differing <= model.n_variables) {
    return static_cast<std::uint32_t>(differing);
  }
  for (std::int32_t site = 0; site < model.n_sites; ++site) {
    std::uint8_t& c = candidate[static_cast<std::size_t>(site)];
    if (model.variable[site] >= 0) c = c == 0 ? 1 : 0;
  }
  return static_cast<std::uint32_t>(model.n_variables - differing);
}

// The component of `first` among the candidates; they are candidates no more.
void grow(const PairwiseView& model, std::int32_t first, std::vector<std::uint8_t>& candidate,
          std::vector<std::int32_t>& cluster) {
  cluster.assign(1, first);
  candidate[static_cast<std::size_t>(first)] = 0;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const std::int32_t site = cluster[i];
    for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
      const std::uint32_t neighbor = model.entries[e].site;
      if (candidate[neighbor] == 0) continue;
      candidate[neighbor] = 0;
      cluster.push_back(static_cast<std::int32_t>(neighbor));
    }
  }
}

void move_pair(const ClusterMove& kernel, std::int64_t pair) {
  std::vector<std::uint8_t> candidate;
  std::vector<std::int32_t> cluster;
  for (std::int64_t rung = 0; rung < kernel.rungs(); ++rung) {
    if (kernel.open[rung] == 0) continue;
    const std::int32_t s = kernel.slot_at(2 * pair, rung), t = kernel.slot_at(2 * pair + 1, rung);
    const std::uint32_t count = mark_candidates(kernel, s, t, candidate);
    if (count == 0) continue;
    std::uint32_t left = kernel.seed_of(pair, rung, count);
    std::int32_t first = 0;
    while (candidate[static_cast<std::size_t>(first)] == 0 || left-- > 0) ++first;
    grow(kernel.model, first, candidate, cluster);
    std::atomic_ref(kernel.moves[rung]).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(kernel.sizes[rung]).fetch_add(cluster.size(), std::memory_order_relaxed);
    if (cluster.size() == static_cast<std::size_t>(kernel.model.n_variables)) continue;
    for (const std::int32_t site : cluster) {
      flip(kernel, kernel.model.variable[site], s);
      flip(kernel, kernel.model.variable[site], t);
    }
    for (const std::int64_t ladder : {2 * pair, 2 * pair + 1}) {  // pairs of a block share flags
      std::atomic_ref(kernel.moved[kernel.number_at(ladder, rung)])
          .store(1, std::memory_order_relaxed);
    }
  }
}

}  // namespace

template <>
void launch(const ClusterMove& kernel, Queue& queue) {
  // How many ticks follow a stop depends on the clock, so they must leave no trace.
  if (kernel.control->stop != DeviceStop::none) return;
  std::fill_n(kernel.moved.data, kernel.moved.size, 0u);
  if (!kernel.due()) return;
  for (std::int64_t rung = 0; rung < kernel.rungs(); ++rung) kernel.decide(rung);
  pool_of(queue).for_each(kernel.ladders() / 2,
                          [&](std::int64_t pair) { move_pair(kernel, pair); });
}

}  // namespace kiln::cpu
