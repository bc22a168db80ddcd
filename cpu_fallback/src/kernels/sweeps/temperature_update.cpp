// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/temperature_update.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const TemperatureUpdate& kernel, Queue&) {
  for (std::int64_t group = 0; group < kernel.cooling.size; ++group) {
    std::uint64_t total = 0;
    if (kernel.looks_at_counts(group)) {
      const std::int64_t begin = group * kernel.group_size;
      for (std::int64_t r = 0; r < kernel.group_size; ++r) total += kernel.accepted[begin + r];
    }
    kernel(group, total);
  }
}

}  // namespace kiln::cpu
