// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/temperature_update.hpp"

#include "../launch.hpp"

namespace kiln::cpu {

template <>
void launch(const TemperatureUpdate& kernel, Queue&) {
  for (std::int64_t group = 0; group < kernel.cooling.size; ++group) kernel(group);
}

}  // namespace kiln::cpu
