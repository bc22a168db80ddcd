// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/plan.hpp"

namespace kiln {

/// Memory ran out while the arrays of a run were made, whose plan fitted into the free memory: it
/// went to another process meanwhile.
class RefusedBatch final : public OutOfDeviceMemory {
 public:
  RefusedBatch(const OutOfDeviceMemory& error, RunPlan plan, Fix fix)
      : OutOfDeviceMemory(error.message(), error.bytes_needed(), error.bytes_free(),
                          std::move(fix)),
        plan_(std::move(plan)) {}
  const RunPlan& plan() const noexcept { return plan_; }

 private:
  RunPlan plan_;
};

/// Half of the replicas of a plan in whole groups, with the draw naming of the plan if possible; 0
/// if a schedule takes no fewer by default (Needs::min_replicas).
std::int64_t halved_replicas(const RunPlan& plan);

}  // namespace kiln
