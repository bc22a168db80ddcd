// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run takes beside batch and objective: its own allocation, on a queue that counts.
#include <utility>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/plan.hpp"

#include "counting_queue.hpp"
#include "profile/instruments.hpp"
#include "run_core.hpp"
#include "run_parts.hpp"
#include "run_scratch.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {
namespace {

// Stands where the objective's data would be: Objective::device_bytes() counts these. It has the
// abilities of the objective, but does nothing and has no values to show.
class CountedObjective final
    : public Offers<BoundObjective, Evaluates, Sweeps, VectorValued, Differentiates,
                    HamiltonianMoves, NoUTurnMoves, Descends, Parametric> {
 public:
  CountedObjective(const Objective& objective, std::int64_t replicas)
      : offered_(objective.abilities()),
        transitions_(objective.as<TransitionScratch>()),
        replicas_(replicas) {}
  void prepare_hmc(Queue& queue) override {
    if (transitions_ == nullptr) return;
    plan_host_scratch(queue, transitions_->transition_tasks(replicas_));
    grow(ChainWork::hmc, queue);
  }
  void prepare_nuts(Queue& queue) override { grow(ChainWork::nuts, queue); }
  void prepare_descent(Queue& queue) override { grow(ChainWork::descent, queue); }
  void evaluate(const EvaluateArgs&, Queue&) override {}
  void metropolis_sweep(const SweepArgs&, Queue&) override {}
  void evaluate_objectives(const ObjectivesArgs&, Queue&) override {}
  View2<double> gradient() const noexcept override { return {}; }
  View1<double> gradient_weight() const noexcept override { return {}; }
  void hmc_transition(const TransitionArgs&, Queue&) override {}
  void nuts_transition(const TransitionArgs&, Queue&) override {}
  void descend(const DescentArgs&, Queue&) override {}
  EnergyComponents components() noexcept override { return {}; }

 protected:
  const void* find(const std::type_info& type) const noexcept override {
    return offered_.has(type) ? Offers::find(type) : nullptr;
  }

 private:
  // The largest serves all.
  void grow(ChainWork work, Queue& queue) {
    if (transitions_ == nullptr || queue.on_cpu()) return;
    const auto bytes =
        static_cast<std::int64_t>(transitions_->transition_bytes(work, (replicas_ + 31) / 32 * 32));
    if (bytes <= scratch_.size()) return;
    const MemoryScope scope(queue, MemoryOwner::problem);
    scratch_ = {};
    scratch_ = DeviceArray<std::byte>(queue, bytes);
  }

  InterfaceSet offered_;
  const TransitionScratch* transitions_;
  std::int64_t replicas_;
  DeviceArray<std::byte> scratch_;
};

}  // namespace

RunCore::RunCore(const Problem& problem, Schedule& schedule, std::unique_ptr<Queue> queue,
                 const RunPlan& plan)
    : problem_(problem),
      schedule_(schedule),
      budget_(plan.budget),
      opened_(plan.opened),
      needs_(plan.needs),
      queue_(std::move(queue)),
      counts_only_(true) {
  const Objective& objective = *problem_.objective;
  const MemoryScope scope(*queue_, MemoryOwner::batch);
  batch_ = std::make_unique<ReplicaBatch>(*queue_, objective.space(),
                                          layouts_of(objective, plan.needs), plan.shape);
  objective_ = std::make_unique<CountedObjective>(objective, plan.shape.replicas);
  evaluates_ = objective_->as<Evaluates>();
  sweeps_ = objective_->as<Sweeps>();
}

RunCore::OwnBytes RunCore::own_bytes(const Problem& problem, Schedule& schedule,
                                     const RunPlan& plan) {
  if (schedule.serves_ != nullptr) {
    throw InvalidArgument(
        "schedule.in_use",
        "schedule '" + schedule.name() + "' is already in use by an unfinished run",
        "make one schedule for each plan and each run");
  }
  auto made = std::make_unique<CountingQueue>(plan.device);
  const CountingQueue& queue = *made;
  RunCore run(problem, schedule, std::move(made), plan);
  run.allocate_own(plan);
  run.allocate_schedule();
  const MemoryAccount& account = queue.account();
  OwnBytes own;
  own.needed = account.at_peak();
  own.needed[MemoryOwner::batch] = 0;  // counted by its formula
  Archive copy(*run.queue_);
  copy.put("run.control", run.control_);
  run.scratch_->save(copy);
  if (run.telemetry_) run.telemetry_->save(copy);
  own.copied = account.now()[MemoryOwner::copies];
  return own;
}

}  // namespace kiln
