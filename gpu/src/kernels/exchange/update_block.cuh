// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/exchange/ladder_update.hpp"

namespace kiln::cuda {
namespace {

// By one block: nearly always its first thread counts a call and all leave. At the end of a round
// that thread adds up the barrier, and all place rungs side by side. Calls before_reset() where a
// round ends. Returns whether it does.
template <class BeforeReset>
__device__ bool end_round(const LadderUpdate& kernel, BeforeReset before_reset) {
  __shared__ int due, moves;
  const std::int64_t me = threadIdx.x, threads = blockDim.x;
  if (me == 0) {
    due = kernel.due() ? 1 : 0;
    moves = due != 0 && kernel.prepare() ? 1 : 0;
  }
  __syncthreads();
  if (due == 0) return false;
  before_reset();
  for (std::int64_t rung = me; rung < kernel.rungs(); rung += threads) {
    kernel.place(rung, moves != 0);
  }
  __syncthreads();
  for (std::int64_t i = me; i < kernel.beta.size; i += threads) kernel.spread(i);
  for (std::int64_t rung = me; rung < kernel.rungs(); rung += threads) kernel.reset(rung);
  return true;
}

}  // namespace
}  // namespace kiln::cuda
