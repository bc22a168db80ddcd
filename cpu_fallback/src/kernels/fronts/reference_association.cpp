// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/reference_association.hpp"

#include <algorithm>
#include <vector>

#include "launch.hpp"
#include "tuned.hpp"

namespace kiln::cpu {
namespace {

const Tunable association_tasks(items_per_task("reference_association", "points of a group", 64,
                                               {8, 16, 32, 64, 128, 256, 512, 1024}));

void associate(const ReferenceAssociation& kernel, std::int64_t group, std::int64_t point,
               std::vector<double>& coordinates) {
  const std::int64_t objectives = kernel.value.rows;
  for (std::int64_t k = 0; k < objectives; ++k) {
    coordinates[static_cast<std::size_t>(k)] = kernel.normalized(group, k, point);
  }
  const auto x = [&](std::int64_t k) { return coordinates[static_cast<std::size_t>(k)]; };
  double nearest = exact::infinity();
  std::int32_t line = -1;
  for (std::int64_t which = 0; which < kernel.direction.columns; ++which) {
    const double square = kernel.square_distance(x, which);
    if (square < nearest) {
      nearest = square;
      line = static_cast<std::int32_t>(which);
    }
  }
  kernel.line[point] = line;
  kernel.distance[point] = exact::sqrt(nearest);
}

}  // namespace

template <>
void launch(const ReferenceAssociation& kernel, Queue& queue) {
  if (!kernel.active()) return;
  for (std::int64_t group = 0; group < kernel.groups.groups; ++group) {
    const std::int64_t begin = kernel.groups.begin(group), count = kernel.groups.count(group);
    const std::int64_t points_per_task = tuned_value(association_tasks, queue, count);
    const std::int64_t tasks = (count + points_per_task - 1) / points_per_task;
    pool_of(queue).for_each(tasks, [&](std::int64_t task) {
      std::vector<double> coordinates(static_cast<std::size_t>(kernel.value.rows));
      const std::int64_t end = std::min(count, (task + 1) * points_per_task);
      for (std::int64_t i = task * points_per_task; i < end; ++i) {
        associate(kernel, group, begin + i, coordinates);
      }
    });
  }
}

}  // namespace kiln::cpu
