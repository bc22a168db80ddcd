// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run takes beside batch and objective: its own start, on a queue that counts.
#include <utility>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/plan.hpp"
#include "kiln/run.hpp"

#include "counting_queue.hpp"
#include "run_parts.hpp"
#include "run_scratch.hpp"

namespace kiln {
namespace {

// Stands where the objective's data would be: Objective::device_bytes() counts these.
class NoObjective final : public BoundObjective {
 public:
  NoObjective(const Objective& objective, std::int64_t replicas)
      : transitions_(dynamic_cast<const TransitionScratch*>(&objective)), replicas_(replicas) {}
  void prepare_transitions(bool no_u_turn, Queue& queue) override {
    if (no_u_turn || transitions_ == nullptr) return;
    plan_host_scratch(queue, transitions_->transition_tasks(replicas_));
  }
  void evaluate(const EvaluateArgs&, Queue&) override {}
  void evaluate_objectives(const ObjectivesArgs&, Queue&) override {}
  void descend(const DescentArgs&, Queue&) override {}

 private:
  const TransitionScratch* transitions_;
  std::int64_t replicas_;
};

}  // namespace

Run::Run(const Problem& problem, Schedule& schedule, std::unique_ptr<Queue> queue,
         const RunPlan& plan)
    : problem_(problem),
      schedule_(schedule),
      opened_(plan.opened),
      queue_(std::move(queue)),
      counts_only_(true) {
  const Objective& objective = *problem_.objective;
  batch_ = std::make_unique<ReplicaBatch>(*queue_, objective.space(),
                                          layouts_of(objective, plan.needs), plan.shape);
  objective_ = std::make_unique<NoObjective>(objective, plan.shape.replicas);
}

Run::OwnBytes Run::own_bytes(const Problem& problem, Schedule& schedule, const RunPlan& plan) {
  if (schedule.serves_ != nullptr) {
    throw InvalidArgument("schedule.in_use",
                          "schedule '" + schedule.name() + "' serves a run that is not over",
                          "a schedule of its own for each plan and each run");
  }
  auto made =
      std::make_unique<CountingQueue>(plan.device.name != "cpu", plan.device.parallel_units);
  const CountingQueue& queue = *made;
  Run run(problem, schedule, std::move(made), plan);
  const std::uint64_t batch = queue.bytes();
  run.allocate_own(plan);
  schedule.start(run);
  OwnBytes own;
  own.needed = queue.peak_bytes() - batch;
  const std::uint64_t started = queue.bytes();
  Archive copy(*run.queue_);
  copy.put("run.control", run.control_);
  run.scratch_->save(copy);
  own.copied = queue.bytes() - started;
  return own;
}

}  // namespace kiln
