// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/recombination/cluster_crossover.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

enum class Mark : std::uint8_t { outside, differs, in_cluster };

// Words of the state are shared by replicas that other threads move.
bool bit_of(std::uint32_t& word, std::int64_t slot) {
  return ((std::atomic_ref(word).load(std::memory_order_relaxed) >> (slot % 32)) & 1u) != 0;
}

void flip(const ClusterCrossover& kernel, std::int32_t variable, std::int64_t slot) {
  std::atomic_ref(kernel.state(variable, slot / 32))
      .fetch_xor(1u << (slot % 32), std::memory_order_relaxed);
}

// The two states of a pair, by site, and the memory that pairs of one thread share.
class Crossing {
 public:
  explicit Crossing(const ClusterCrossover& kernel) : kernel_(kernel) {}

  void cross(std::int64_t s, std::int64_t t) {
    read(s, t);
    std::int64_t of_s = 0, of_t = 0;  // changes of the energies
    for (std::int32_t site = 0; site < kernel_.model.n_sites; ++site) {
      if (mark_[static_cast<std::size_t>(site)] != Mark::differs) continue;
      const std::int64_t change = change_by_cluster_of(site);
      const bool takes = change < 0;
      const bool gives = change > 0 && kernel_.best.rows == 0;
      if (!takes && !gives) continue;
      (takes ? of_s : of_t) -= std::abs(change);
      for (const std::int32_t member : cluster_) {
        flip(kernel_, kernel_.model.variable[member], takes ? s : t);
      }
    }
    kernel_.energy[s] += static_cast<double>(of_s);
    if (kernel_.best.rows == 0) kernel_.energy[t] += static_cast<double>(of_t);
  }

 private:
  void read(std::int64_t s, std::int64_t t) {
    const PairwiseView& model = kernel_.model;
    const auto n = static_cast<std::size_t>(model.n_sites);
    mark_.assign(n, Mark::outside);
    minus_.assign(n, 0);
    std::int64_t differing = 0;
    for (std::int32_t site = 0; site < model.n_sites; ++site) {
      const std::int32_t v = model.variable[site];
      if (v < 0) continue;
      const bool mine = bit_of(kernel_.state(v, s / 32), s);
      const bool other = kernel_.best.rows > 0 ? ((kernel_.best(v, t / 32) >> (t % 32)) & 1u) != 0
                                               : bit_of(kernel_.state(v, t / 32), t);
      minus_[static_cast<std::size_t>(site)] = mine ? 1 : 0;
      if (mine == other) continue;
      mark_[static_cast<std::size_t>(site)] = Mark::differs;
      ++differing;
    }
    if (!kernel_.symmetric || 2 * differing <= model.n_variables) return;
    for (std::int32_t site = 0; site < model.n_sites; ++site) {
      Mark& mark = mark_[static_cast<std::size_t>(site)];
      if (model.variable[site] >= 0) {
        mark = mark == Mark::differs ? Mark::outside : Mark::differs;
      }
    }
  }

  // Fills cluster_, and says by how much its flip would raise the energy of s.
  std::int64_t change_by_cluster_of(std::int32_t first) {
    const PairwiseView& model = kernel_.model;
    cluster_.assign(1, first);
    mark_[static_cast<std::size_t>(first)] = Mark::in_cluster;
    std::int64_t change = 0;
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      const std::int32_t site = cluster_[i];
      auto field = static_cast<std::int64_t>(model.field[site]);
      for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
        const auto neighbor = static_cast<std::size_t>(model.entries[e].site);
        const auto weight = static_cast<std::int64_t>(model.entries[e].weight);
        if (weight == 0) continue;
        if (mark_[neighbor] == Mark::outside) {
          field += minus_[neighbor] != 0 ? -weight : weight;
        } else if (mark_[neighbor] == Mark::differs) {
          mark_[neighbor] = Mark::in_cluster;
          cluster_.push_back(static_cast<std::int32_t>(neighbor));
        }
      }
      change += minus_[static_cast<std::size_t>(site)] != 0 ? 2 * field : -2 * field;
    }
    return change;
  }

  const ClusterCrossover& kernel_;
  std::vector<Mark> mark_;
  std::vector<std::uint8_t> minus_;  // 1: the spin of s is -1
  std::vector<std::int32_t> cluster_;
};

}  // namespace

template <>
void launch(const ClusterCrossover& kernel, Queue& queue) {
  if (kernel.stopped()) return;
  constexpr std::int64_t pairs_of_task = 8;  // which share memory
  const std::int64_t slots = kernel.slots();
  pool_of(queue).for_each((slots + pairs_of_task - 1) / pairs_of_task, [&](std::int64_t task) {
    Crossing crossing(kernel);
    const std::int64_t end = std::min(slots, (task + 1) * pairs_of_task);
    for (std::int64_t number = task * pairs_of_task; number < end; ++number) {
      const ClusterCrossover::Pair pair = kernel.pair_of(number);
      if (pair.s >= 0) crossing.cross(pair.s, pair.t);
    }
  });
}

}  // namespace kiln::cpu
