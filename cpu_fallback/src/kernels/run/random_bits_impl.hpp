// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by one translation unit per instruction set; everything is in an unnamed namespace, see
// SliceJob.
#include <cstdint>

#include "kernels/philox_lanes.hpp"
#include "kernels/run/random_bits.hpp"

namespace kiln::cpu {
namespace {

inline void random_bits(const RandomBitsJob& job) {
  WordDraws draws;
  draws.step_low = job.step_low;
  draws.counter3 = job.counter3;
  draws.prepare(job.key, job.replica);
  alignas(64) std::uint32_t words[4][kLanes];
  std::int64_t drawn = -1;  // the quad in `words`
  for (std::int64_t v = job.begin; v < job.end; ++v) {
    const std::int64_t index = job.first_index + v;
    if (index / 4 != drawn) {
      drawn = index / 4;
      draw_quad(draws, static_cast<std::uint32_t>(drawn), words);
    }
    std::uint32_t bits = 0;
    for (int l = 0; l < kLanes; l += kIntLanes) bits |= high_bits(load(words[index % 4] + l)) << l;
    std::uint32_t& target = job.words[v * job.word_stride];
    target = (target & ~job.selected) | (bits & job.selected);
  }
}

}  // namespace
}  // namespace kiln::cpu
