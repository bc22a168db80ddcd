// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/tuning/tuned_shapes.hpp"

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// The launch shapes that were tuned for the device of a queue of this backend.
const TunedShapes& tuned_shapes_of(Queue& queue);

/// The tuned shape for a launch of this size; null: the launcher's rule. A launcher that cannot use
/// the shape calls decline() and follows the rule.
inline const LaunchShape* tuned(const Tunable& tunable, Queue& queue, std::int64_t size) {
  return tuned_shapes_of(queue).find(tunable, size);
}
inline void decline(const Tunable& tunable, Queue& queue) {
  tuned_shapes_of(queue).decline(tunable);
}

/// Declares a tunable of a kernel; its default is the rule of its launcher.
inline TunableDescription tunable_of(const char* name, const char* kernel, const char* size,
                                     std::vector<ShapeParameter> parameters) {
  TunableDescription of;
  of.name = name;
  of.kernel = kernel;
  of.size = size;
  of.parameters = std::move(parameters);
  return of;
}

}  // namespace kiln::cuda
