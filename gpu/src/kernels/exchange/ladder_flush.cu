// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/kernels/exchange/ladder_flush.hpp"

#include "kernels/grid.cuh"
#include "record_block.cuh"

namespace kiln::cuda {
namespace {

__global__ void __launch_bounds__(block_size)
    flush_records(const __grid_constant__ LadderFlush kernel) {
  __shared__ AddMemory shared;
  const LadderRecord& record = kernel.record;
  const std::int64_t calls = record.waiting();
  if (calls == 0) return;
  add_records<WholeBlock>(kernel, calls, shared);
  if (!is_last_block(record, shared.last)) return;
  note_references(kernel);
  if (threadIdx.x == 0) record.state[LadderRecord::waiting_at] = 0;
}

}  // namespace

template <>
void launch(const LadderFlush& kernel, Queue& queue) {
  const std::int64_t tasks = kernel.statistics.sums.size * kernel.record.calls;
  if (kernel.statistics.ladders <= 0 || tasks <= 0) return;
  const auto blocks = static_cast<unsigned>(std::min(tasks, filling_blocks));
  flush_records<<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(LadderFlush::name);
}

}  // namespace kiln::cuda
