// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_energy.hpp"

#include <algorithm>
#include <array>

#include "launch.hpp"
#include "slice_tile.hpp"

namespace kiln::cpu {
namespace {

using Lanes = std::array<double, 32>;

// Four bits as factors: a product with 0 or 1 is exact, and four lanes at a time suit every SIMD
// width, while testing the bits one by one suits none.
struct Factors {
  constexpr Factors() {
    for (std::size_t bits = 0; bits < 16; ++bits) {
      for (std::size_t r = 0; r < 4; ++r) of[bits][r] = ((bits >> r) & 1u) != 0 ? 1.0 : 0.0;
    }
  }
  double of[16][4] = {};
};
alignas(64) constexpr Factors factors;

void add_where_set(double weight, std::uint32_t bits, Lanes& sum) {
  for (std::size_t quad = 0; quad < 8; ++quad) {
    const double* const factor = factors.of[(bits >> (4 * quad)) & 15u];
    for (std::size_t r = 0; r < 4; ++r) sum[4 * quad + r] += weight * factor[r];
  }
}

// s_i (h_i + local field) of one site for the 32 replicas of a word, added to `sum`. Real weights.
void add_site(const PairwiseEnergy& kernel, std::int32_t site, std::int64_t word, Lanes& sum) {
  const PairwiseView& model = kernel.model;
  const std::int32_t variable = model.variable[site];
  if (variable < 0) return;
  Lanes set{};  // sum of the weights of neighbours whose bit is 1
  for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
    const std::int32_t neighbor = model.variable[model.entries[e].site];
    add_where_set(model.weights_f64[e], kernel.state(neighbor, word), set);
  }
  const std::uint32_t bits = kernel.state(variable, word);
  for (std::uint32_t r = 0; r < 32; ++r) {
    const double local = model.base[site] - 2 * set[r];
    const double total = model.field[site] + local;
    sum[r] += ((bits >> r) & 1u) != 0 ? -total : total;
  }
}

// The bits of the replicas of a word whose energies are wanted.
std::uint32_t wanted_of(const PairwiseEnergy& kernel, std::int64_t word) {
  std::uint32_t wanted = 0;
  for (std::uint32_t r = 0; r < 32; ++r) {
    const std::int32_t rung = kernel.rung_of[word * 32 + r];
    wanted |= (!kernel.active_rungs || kernel.active_rungs[rung] != 0 ? 1u : 0u) << r;
  }
  return wanted;
}

void store_wanted(const PairwiseEnergy& kernel, std::int64_t word, std::uint32_t wanted,
                  const double* twice) {
  for (std::uint32_t r = 0; r < 32; ++r) {
    if (((wanted >> r) & 1u) != 0) kernel.energy[word * 32 + r] = twice[r] / 2;
  }
}

void energies_of_word(const PairwiseEnergy& kernel, std::int64_t word) {
  const std::uint32_t wanted = wanted_of(kernel, word);
  if (wanted == 0) return;
  Lanes total{};
  constexpr std::int32_t part_sites = PairwiseEnergy::sites_per_part;
  for (std::int32_t begin = 0; begin < kernel.model.n_sites; begin += part_sites) {
    Lanes part{};
    const std::int32_t end = std::min(begin + part_sites, kernel.model.n_sites);
    for (std::int32_t site = begin; site < end; ++site) add_site(kernel, site, word, part);
    for (std::size_t r = 0; r < 32; ++r) total[r] += part[r];
  }
  store_wanted(kernel, word, wanted, total.data());
}

void energies_of_task(const PairwiseEnergy& kernel, const SliceShape& shape, std::int64_t task,
                      std::byte* scratch) {
  SliceJob job;
  describe_model(kernel.model, job);
  describe_words(kernel.state, shape, task, scratch, job);
  std::array<std::uint32_t, SliceJob::max_words> wanted{};
  for (int w = 0; w < job.n_words; ++w) {
    wanted[static_cast<std::size_t>(w)] = wanted_of(kernel, job.first_word + w);
  }
  if (std::ranges::all_of(wanted, [](std::uint32_t bits) { return bits == 0; })) return;
  slice_functions().energies(job);
  for (int w = 0; w < job.n_words; ++w) {
    store_wanted(kernel, job.first_word + w, wanted[static_cast<std::size_t>(w)],
                 job.delta + 32 * w);
  }
}

}  // namespace

template <>
void launch(const PairwiseEnergy& kernel, Queue& queue) {
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  if (kernel.model.arithmetic == Arithmetic::wide) {
    return pool_of(queue).for_each(kernel.state.columns,
                                   [&](std::int64_t word) { energies_of_word(kernel, word); });
  }
  const SliceShape shape = slice_shape(kernel.state.columns, pool_of(queue).pool.threads());
  for_each_with_scratch(queue, shape.n_tasks, slice_bytes(kernel.model.n_sites, shape.width),
                        [&](std::int64_t task, std::byte* scratch) {
                          energies_of_task(kernel, shape, task, scratch);
                        });
}

}  // namespace kiln::cpu
