// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_tick.hpp"

#include "kernels/sweeps/planes/ladder_tick_planes.hpp"
#include "kernels/sweeps/planes/repeated_tick.hpp"
#include "launch.hpp"

namespace kiln::cuda {

template <>
void launch(const TrackBest& kernel, Queue& queue);
template <>
void launch(const MetropolisSweep& kernel, Queue& queue);
template <>
void launch(const LadderPhase& kernel, Queue& queue);
template <>
void launch(const WordSwap& kernel, Queue& queue);
template <>
void launch(const EndTick& kernel, Queue& queue);

template <>
void launch(const LadderTick& kernel, Queue& queue) {
  if (kernel.ticks > 1) {
    if (launch_repeated_tick(kernel, queue)) return;
    for (std::uint32_t t = 0; t < kernel.ticks; ++t) launch(kernel.one(t == 0), queue);
    return;
  }
  if (launch_plane_tick(kernel, queue)) return;
  if (kernel.best_first) launch(kernel.end.best, queue);
  launch(kernel.sweep, queue);
  launch(kernel.phase, queue);
  launch(kernel.words, queue);
  launch(kernel.end, queue);
}

}  // namespace kiln::cuda
