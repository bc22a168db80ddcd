// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "cross_entropy/kernels.hpp"
#include "cross_entropy/launchers.hpp"

// What the tests of the kernels of the plug-in in apps/plugins/cross_entropy share.
namespace kiln::test::cross_entropy_kernels {

namespace ce = ::cross_entropy;

inline void launch(const ce::SelectElite& kernel, Queue& queue) {
#if defined(WITH_CUDA)
  if (!queue.on_cpu()) return ce::select_elite_on_cuda(kernel, queue);
#endif
  ce::select_elite_on_cpu(kernel, queue);
}
inline void launch(const ce::MoveProbabilities& kernel, Queue& queue) {
#if defined(WITH_CUDA)
  if (!queue.on_cpu()) return ce::move_probabilities_on_cuda(kernel, queue);
#endif
  ce::move_probabilities_on_cpu(kernel, queue);
}
inline void launch(const ce::DrawStates& kernel, Queue& queue) {
#if defined(WITH_CUDA)
  if (!queue.on_cpu()) return ce::draw_states_on_cuda(kernel, queue);
#endif
  ce::draw_states_on_cpu(kernel, queue);
}

inline RunControl at_step(std::uint64_t step) {
  RunControl control;
  control.step = step;
  return control;
}
inline RunControl stopped() {
  RunControl control;
  control.stop = DeviceStop::target;
  return control;
}

inline bool bit_at(const std::vector<std::uint32_t>& words, std::int64_t i) {
  return (words[idx(i / 32)] >> (i % 32) & 1u) != 0;
}

/// Blocks of all kinds and layouts whose slots are three populations of whole words.
inline const std::vector<BlockShape>& shapes() {
  static const std::vector<BlockShape> all{
      {BlockKind::spin, Layout::packed32, 37, 192, -1, 1},
      {BlockKind::binary, Layout::packed32, 600, 384, 0, 1},
      {BlockKind::spin, Layout::i8, 5, 192, -1, 1},
      {BlockKind::binary, Layout::i8, 37, 384, 0, 1},
  };
  return all;
}

}  // namespace kiln::test::cross_entropy_kernels
