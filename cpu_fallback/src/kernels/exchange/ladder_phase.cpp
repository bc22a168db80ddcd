// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_phase.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const LadderStatistics& kernel, Queue& queue);
template <>
void launch(const ReplicaSwap& kernel, Queue& queue);
template <>
void launch(const LadderUpdate& kernel, Queue& queue);

template <>
void launch(const LadderPhase& kernel, Queue& queue) {
  if (kernel.statistics.ladders <= 0) return;
  launch(kernel.statistics, queue);
  launch(kernel.swap, queue);
  launch(kernel.update, queue);
}

}  // namespace kiln::cpu
