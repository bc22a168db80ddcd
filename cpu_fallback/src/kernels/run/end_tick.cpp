// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/end_tick.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const TrackBest& kernel, Queue& queue);
template <>
void launch(const AdvanceTick& kernel, Queue& queue);

template <>
void launch(const EndTick& kernel, Queue& queue) {
  launch(kernel.best, queue);
  launch(kernel.advance, queue);
}

}  // namespace kiln::cpu
