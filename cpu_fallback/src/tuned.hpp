// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/tuning/tuned_shapes.hpp"

#include "cpu_queue.hpp"

namespace kiln::cpu {

/// Declares the number of items that a thread takes at once.
inline TunableDescription items_per_task(const char* kernel, const char* size, int standard,
                                         std::vector<std::int32_t> values) {
  TunableDescription of;
  of.name = of.kernel = kernel;
  of.gpu = false;
  of.size = size;
  of.parameters = {{"per_task", std::move(values)}};
  of.default_shape = LaunchShape{standard};
  return of;
}

/// The first parameter of a tunable that has a default, for a launch of this size.
inline std::int64_t tuned_value(const Tunable& tunable, Queue& queue, std::int64_t size) {
  const LaunchShape* const shape = static_cast<CpuQueue&>(queue).tuned_shapes().find(tunable, size);
  return shape != nullptr ? (*shape)[0] : (*tunable.description().default_shape)[0];
}

}  // namespace kiln::cpu
