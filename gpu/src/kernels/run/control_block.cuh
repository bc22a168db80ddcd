// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/run/advance_tick.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// Read past the cache of the multiprocessor, which would keep what other blocks overwrite.
__device__ inline RunControl read_control(const RunControl* control) {
  RunControl c;
  c.tick = __ldcg(&control->tick);
  c.step = __ldcg(&control->step);
  c.step_limit = __ldcg(&control->step_limit);
  c.best_key = __ldcg(&control->best_key);
  c.tick_sweeps = __ldcg(&control->tick_sweeps);
  c.target = __ldcg(&control->target);
  c.has_target = __ldcg(&control->has_target);
  c.noted_key = __ldcg(&control->noted_key);
  c.noted = __ldcg(&control->noted);
  c.next_note = __ldcg(&control->next_note);
  c.wanted = __ldcg(&control->wanted);
  c.finder = __ldcg(&control->finder);
  c.stop = static_cast<DeviceStop>(__ldcg(reinterpret_cast<const std::uint32_t*>(&control->stop)));
  return c;
}

// By one thread of the last block: ends the tick.
__device__ inline void advance(RunControl* control, const AdvanceTick& kernel) {
  RunControl after = read_control(control);
  AdvanceTick{&after, kernel.sweeps, kernel.log, kernel.hold}();
  after.ticket = 0;
  *control = after;
}

}  // namespace
}  // namespace kiln::cuda
