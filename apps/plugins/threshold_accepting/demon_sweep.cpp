// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "demon_sweep.hpp"

#include <algorithm>

#include "launchers.hpp"

// Loops over the 32 replicas of a word become vector instructions; the program picks the widest
// that the CPU has. All give the same bits.
#if defined(__x86_64__) && defined(__GNUC__)
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#define INLINE __attribute__((always_inline)) inline
#else
#define FOR_EACH_CPU
#define INLINE inline
#endif

namespace threshold_accepting {
namespace {

constexpr int lanes = DemonSweep::word_bits;

// What the 32 replicas of a word carry through a sweep.
struct Word {
  alignas(64) double demon[lanes];
  alignas(64) double energy[lanes];
  alignas(64) std::uint32_t flips[lanes];
};

// Gives the replicas that flip. Inlined: it is compiled for the CPU of its caller.
INLINE std::uint32_t try_site(const DemonSweep& kernel, std::int64_t site, std::int64_t word,
                              double bound, Word& now) {
  alignas(64) double sum[lanes] = {};
  for (std::int64_t k = kernel.model.row_begin[site]; k < kernel.model.row_begin[site + 1]; ++k) {
    const std::uint32_t bits = kernel.state(kernel.neighbour(k), word);
    const double weight = kernel.weight(k);
    for (int bit = 0; bit < lanes; ++bit) sum[bit] += (bits >> bit & 1u) != 0 ? weight : 0.0;
  }
  const std::uint32_t down = kernel.state(kernel.model.variable[site], word);
  const double base = kernel.model.base[site];
  alignas(64) std::uint32_t accepted[lanes];
  for (int bit = 0; bit < lanes; ++bit) {
    const double field = base - 2 * sum[bit];
    const double change = (down >> bit & 1u) != 0 ? 2 * field : -2 * field;
    const bool is_paid = change <= now.demon[bit];
    now.demon[bit] = is_paid ? std::min(now.demon[bit] - change, bound) : now.demon[bit];
    now.energy[bit] += is_paid ? change : 0.0;
    accepted[bit] = is_paid ? 1u : 0u;
  }
  std::uint32_t flipped = 0;
  for (int bit = 0; bit < lanes; ++bit) {
    now.flips[bit] += accepted[bit];
    flipped |= accepted[bit] << bit;
  }
  return flipped;
}

FOR_EACH_CPU void sweep_word(const DemonSweep& kernel, std::int64_t word) {
  const double bound = kernel.bound();
  const std::int64_t first = word * lanes;
  Word now{};
  for (int bit = 0; bit < lanes; ++bit) {
    now.demon[bit] = kernel.demon(first + bit, bound);
  }
  for (std::int64_t site = 0; site < kernel.model.n_sites; ++site) {
    const std::int32_t variable = kernel.model.variable[site];
    if (variable < 0) continue;
    kernel.state(variable, word) ^= try_site(kernel, site, word, bound, now);
  }
  for (int bit = 0; bit < lanes; ++bit) {
    kernel.energy[first + bit] += now.energy[bit];
    kernel.accepted[first + bit] += now.flips[bit];
  }
}

}  // namespace

void demon_sweep_on_cpu(const DemonSweep& kernel, kiln::Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  queue.for_each_on_host(kernel.state.columns,
                         [&](std::int64_t word) { sweep_word(kernel, word); });
}

}  // namespace threshold_accepting
