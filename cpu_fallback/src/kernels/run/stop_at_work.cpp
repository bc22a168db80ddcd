// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/stop_at_work.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const StopAtWork& kernel, Queue&) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < kernel.counts.size; ++i) sum += kernel.counts[i];
  kernel.finish(sum);
}

}  // namespace kiln::cpu
