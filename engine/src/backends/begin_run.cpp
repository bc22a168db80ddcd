// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/begin_run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/plan.hpp"

#include "backends/next_backend.hpp"
#include "plans/refused_batch.hpp"

namespace kiln {
namespace {

// A number of replicas below that of a plan that the device refused, for which a plan fits; 0 if
// there is none.
std::int64_t fewer_replicas(const Problem& problem, Schedule& schedule, const Budget& budget,
                            RunOptions options, const OpenedBackend& backend, RunPlan plan) {
  try {
    do {
      options.replicas = halved_replicas(plan);
      if (options.replicas == 0) return 0;
      plan = plan_run(problem, schedule, budget, options, backend);
    } while (!plan.fits());
    return options.replicas;
  } catch (const InvalidArgument&) {  // a number that the schedule does not take
    return 0;
  }
}

bool may_move(const RunOptions& options, const OpenedBackend& backend, const NoDevice& error) {
  return options.device == "auto" && error.code() == "device.busy" &&
         backend.backend->info().name != "cpu";
}

}  // namespace

BegunRun begin_run(const Problem& problem, Schedule& schedule, const Budget& budget,
                   const RunOptions& options, OpenedBackend backend) {
  RunOptions now = options;
  std::optional<RefusedBatch> first;
  BegunRun begun;
  while (!begun.run) {
    try {
      begun.run = std::make_unique<Run>(problem, schedule, budget, now, backend);
    } catch (const RefusedBatch& refused) {
      if (options.replicas > 0) throw;
      if (!first) first = refused;
      now.replicas = fewer_replicas(problem, schedule, budget, now, backend, refused.plan());
      if (now.replicas == 0) {
        throw RefusedBatch(*first, first->plan(),
                           Fix("use a smaller problem, or a device with more memory"));
      }
    } catch (const NoDevice& error) {
      if (!may_move(options, backend, error)) throw;
      const std::string busy = backend.backend->info().name;
      backend = open_next_backend(busy, busy + ": " + error.message(), options.threads);
      begun.moved = true;
    }
  }
  if (first) {
    begun.fewer_replicas = std::to_string(now.replicas) + " replicas instead of " +
                           std::to_string(first->plan().shape.replicas) +
                           ", because the device has no memory for more (" + first->message() + ")";
  }
  return begun;
}

}  // namespace kiln
