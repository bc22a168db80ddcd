// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "demon_sweep.hpp"

#include <algorithm>
#include <array>

#include "launchers.hpp"

namespace threshold_accepting {

void demon_sweep_on_cpu(const DemonSweep& kernel, kiln::Queue&) {
  if (!kernel.control->active(kernel.step_offset)) return;
  constexpr int lanes = DemonSweep::word_bits;
  const double bound = kernel.bound();
  for (std::int64_t word = 0; word < kernel.state.columns; ++word) {
    const std::int64_t first = word * lanes;
    std::array<double, lanes> demon{}, energy{};
    std::array<std::uint64_t, lanes> flips{};
    for (int bit = 0; bit < lanes; ++bit) demon[bit] = kernel.demon(first + bit, bound);
    for (std::int64_t site = 0; site < kernel.model.n_sites; ++site) {
      if (kernel.model.variable[site] < 0) continue;
      std::uint32_t flipped = 0;
      for (int bit = 0; bit < lanes; ++bit) {
        const double change = kernel.change(site, word, bit);
        if (!(change <= demon[bit])) continue;
        demon[bit] = std::min(demon[bit] - change, bound);
        energy[bit] += change;
        ++flips[bit];
        flipped |= 1u << bit;
      }
      kernel.state(kernel.model.variable[site], word) ^= flipped;
    }
    for (int bit = 0; bit < lanes; ++bit) {
      kernel.energy[first + bit] += energy[bit];
      kernel.accepted[first + bit] += flips[bit];
    }
  }
}

}  // namespace threshold_accepting
