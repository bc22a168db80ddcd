// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/record_telemetry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// Adds items 0 .. count - 1 as so many lanes do that each add every lanes-th one, and are then
// added by halves. Lanes without an item are nothing.
template <int lanes, class Part, class AddItem, class Add>
Part add_in_lanes(std::int64_t count, const Part& nothing, AddItem add_item, Add add) {
  std::array<Part, static_cast<std::size_t>(lanes)> parts;
  const auto used = static_cast<std::size_t>(std::clamp<std::int64_t>(count, 1, lanes));
  std::fill_n(parts.begin(), used, nothing);
  for (std::int64_t i = 0; i < count; ++i) add_item(parts[static_cast<std::size_t>(i % lanes)], i);
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half && lane + half < used; ++lane) {
      add(parts[lane], parts[lane + half]);
    }
  }
  return parts[0];
}

TelemetryPart node_of(const RecordTelemetry& kernel, std::int64_t group, std::int64_t node) {
  const std::int64_t begin = node * RecordTelemetry::node_size;
  const std::int64_t count = std::min(RecordTelemetry::node_size, kernel.group_size - begin);
  const std::int64_t first = group * kernel.group_size + begin;
  const double origin = kernel.origin_of(group);
  return add_in_lanes<RecordTelemetry::node_lanes>(
      count, TelemetryPart::nothing(),
      [&](TelemetryPart& part, std::int64_t i) { kernel.add_slot(part, first + i, origin); },
      RecordTelemetry::add);
}

template <int lanes>
TelemetryPart group_of(const RecordTelemetry& kernel, std::int64_t group) {
  const std::int64_t nodes = kernel.nodes();
  return add_in_lanes<lanes>(
      nodes, TelemetryPart::nothing(),
      [&](TelemetryPart& part, std::int64_t i) {
        RecordTelemetry::add(part, kernel.parts[group * nodes + i]);
      },
      RecordTelemetry::add);
}

void reduce_nodes(const RecordTelemetry& kernel, Queue& queue) {
  constexpr std::int64_t nodes_of_task = 64;
  const std::int64_t nodes = kernel.nodes(), all = kernel.groups() * nodes;
  pool_of(queue).for_each((all + nodes_of_task - 1) / nodes_of_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(all, (task + 1) * nodes_of_task);
    for (std::int64_t i = task * nodes_of_task; i < end; ++i) {
      kernel.parts[i] = node_of(kernel, i / nodes, i % nodes);
    }
  });
}

TelemetryEpoch merge_groups(const RecordTelemetry& kernel) {
  return add_in_lanes<RecordTelemetry::wide_lanes>(
      kernel.groups(), RecordTelemetry::no_epoch(),
      [&](TelemetryEpoch& epoch, std::int64_t group) {
        RecordTelemetry::merge(epoch, kernel.sums[group].last);
      },
      RecordTelemetry::merge);
}

}  // namespace

template <>
void launch(const RecordTelemetry& kernel, Queue& queue) {
  if (!kernel.due()) return;
  if (kernel.task == RecordTelemetry::Task::log) return kernel.hand_over_log();
  reduce_nodes(kernel, queue);
  if (kernel.task == RecordTelemetry::Task::look) {
    TelemetryPart all = TelemetryPart::nothing();
    for (std::int64_t i = 0; i < kernel.groups() * kernel.nodes(); ++i) {
      RecordTelemetry::add(all, kernel.parts[i]);
    }
    return kernel.look(all);
  }
  const bool wide = RecordTelemetry::lanes_of(kernel.nodes()) == RecordTelemetry::wide_lanes;
  for (std::int64_t group = 0; group < kernel.groups(); ++group) {
    kernel.finish_group(group, wide ? group_of<RecordTelemetry::wide_lanes>(kernel, group)
                                    : group_of<RecordTelemetry::node_lanes>(kernel, group));
  }
  if (kernel.ring.level == TelemetryLevel::replicas && kernel.ring.keeps(kernel.state->epochs)) {
    const std::int64_t replicas = kernel.groups() * kernel.group_size;
    for (std::int64_t slot = 0; slot < replicas; ++slot) kernel.publish_replica(slot);
  }
  kernel.finish(merge_groups(kernel));
}

}  // namespace kiln::cpu
