// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fronts/scalarized.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"
#include "kiln/kernels/fronts/proposal_sweep.hpp"

namespace kiln {
namespace {

Points spread_weights(int objectives, std::int64_t groups) {
  const auto m = static_cast<std::size_t>(objectives);
  if (groups < objectives) return Points(1, std::vector<double>(m, 1.0 / objectives));
  return reference_directions(objectives, groups);
}

std::vector<double> by_objective(const Points& points) {
  std::vector<double> rows;
  for (std::size_t k = 0; k < points.front().size(); ++k) {
    for (const std::vector<double>& point : points) rows.push_back(point[k]);
  }
  return rows;
}

class BoundScalarized final : public Offers<BoundObjective, Evaluates, SweepsByProposals> {
 public:
  BoundScalarized(std::unique_ptr<BoundObjective> inner, const ScalarizationOptions& options,
                  int objectives)
      : inner_(std::move(inner)), options_(options), objectives_(objectives) {}

  void prepare(ReplicaBatch& batch, Queue& queue) override {
    inner_->prepare(batch, queue);
    const Points weights =
        options_.weights.empty() ? spread_weights(objectives_, batch.groups()) : options_.weights;
    weight_ = DeviceArray<double>(queue, by_objective(weights));
    weights_ = static_cast<std::int64_t>(weights.size());
    slots_ = batch.slots();
    value_ = DeviceArray<double>(queue, objectives_ * slots_);
    value_.zero();
    violation_ = DeviceArray<double>(queue, slots_);
    violation_.zero();
    ideal_ = DeviceArray<double>(queue, options_.box.ideal);
    nadir_ = DeviceArray<double>(queue, options_.box.nadir);
  }

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    std::vector<StateBlock> state;
    for (int b = 0; b < args.batch.n_blocks(); ++b) state.push_back(args.batch.state(b));
    ObjectivesArgs values;
    values.state = state;
    values.replicas = args.batch.replicas();
    values.columns = columns_of(args.batch);
    values.value = {value_.data(), objectives_, slots_, slots_};
    values.violation = violation_.view();
    values.control = nullptr;
    inner_->as<VectorValued>()->evaluate_objectives(values, queue);
    ScalarizeObjectives kernel = scalarization(args.batch, args.energy);
    kernel.active_rungs = args.active_rungs;
    kernel.control = args.control;
    queue.launch(kernel);
  }

  bool sweep_by_proposals(const ProposalArgs& args, Queue& queue) override {
    ProposalSweep kernel;
    kernel.propose = args.propose;
    kernel.accept = args.accept;
    kernel.replicas = kernel.values.replicas = args.batch.replicas();
    kernel.values.n_blocks = args.batch.n_blocks();
    for (int b = 0; b < args.batch.n_blocks(); ++b) kernel.values.state[b] = args.batch.state(b);
    kernel.values.columns = columns_of(args.batch);
    kernel.values.value = {value_.data(), objectives_, slots_, slots_};
    kernel.values.violation = violation_.view();
    kernel.scalarize = scalarization(args.batch, args.trial_energy);
    return inner_->as<VectorValued>()->sweep_by_proposals(kernel, queue);
  }

 private:
  static PointColumns columns_of(const ReplicaBatch& batch) {
    return {batch.group_size(), batch.group_size(), 0};
  }
  ScalarizeObjectives scalarization(ReplicaBatch& batch, View1<double> energy) {
    ScalarizeObjectives kernel;
    kernel.replicas = batch.replicas();
    kernel.group_size = batch.group_size();
    kernel.value = {value_.data(), objectives_, slots_, slots_};
    kernel.violation = violation_.view();
    kernel.ideal = ideal_.view();
    kernel.nadir = nadir_.view();
    kernel.weight = {weight_.data(), objectives_, weights_, weights_};
    kernel.scalarization.kind = options_.kind;
    kernel.penalty = options_.penalty;
    kernel.energy = energy;
    kernel.rung_of = batch.rung_of();
    return kernel;
  }

  std::unique_ptr<BoundObjective> inner_;
  ScalarizationOptions options_;
  int objectives_;
  std::int64_t weights_ = 1, slots_ = 0;
  DeviceArray<double> weight_, value_, violation_, ideal_, nadir_;
};

class ScalarizedObjective final : public Objective {
 public:
  ScalarizedObjective(std::shared_ptr<const Objective> inner, ScalarizationOptions options)
      : inner_(std::move(inner)),
        options_(std::move(options)),
        space_(inner_->space().blocks(), 1) {}

  std::string name() const override { return inner_->name(); }
  const Space& space() const override { return space_; }
  Execution execution() const override { return inner_->execution(); }
  // Constraints are a penalty: it has none.
  InterfaceSet abilities() const override { return BoundScalarized::interfaces(); }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    return std::make_unique<BoundScalarized>(inner_->bind(queue), options_,
                                             inner_->space().outputs());
  }
  std::uint64_t device_bytes(const DeviceShape& device, std::int64_t replicas) const override {
    const auto values = static_cast<std::uint64_t>(replicas * (inner_->space().outputs() + 1));
    return inner_->device_bytes(device, replicas) + sizeof(double) * values;
  }
  /// Each attempt costs a whole evaluation.
  double sweep_cost() const override {
    const auto n = static_cast<double>(space_.variables());
    return n * n;
  }

 private:
  std::shared_ptr<const Objective> inner_;
  ScalarizationOptions options_;
  Space space_;
};

void check_weights(const Points& weights, std::size_t objectives) {
  for (const std::vector<double>& weight : weights) {
    const bool allowed =
        weight.size() == objectives &&
        std::ranges::all_of(weight, [](double w) { return w >= 0 && std::isfinite(w); }) &&
        std::ranges::any_of(weight, [](double w) { return w > 0; });
    if (allowed) continue;
    throw InvalidArgument(
        "objective.weights", "a list of weights does not match the objectives",
        std::to_string(objectives) + " finite numbers >= 0, at least one of them > 0");
  }
}

}  // namespace

Problem scalarized(const Problem& problem, ScalarizationOptions options) {
  if (!problem.objectives) {
    throw InvalidArgument(
        "objective.outputs",
        "'" + problem.identity.name + "' has one objective; scalarized() needs several");
  }
  const std::size_t count = problem.objectives->count();
  check_weights(options.weights, count);
  if (!(options.penalty >= 0)) {
    throw InvalidArgument("objective.penalty", "the penalty must not be negative");
  }
  if (options.box.ideal.empty()) {
    options.box.ideal = problem.objectives->ideal;
    options.box.nadir = problem.objectives->nadir;
  }
  if (options.box.ideal.empty()) {
    options.box.ideal.assign(count, 0.0);
    options.box.nadir.assign(count, 1.0);
  }
  Problem single = problem;
  single.units.sense = Sense::minimize;
  single.units.objective_of_stored = {};
  single.units.value_name = "weighed value";
  single.known.best.reset();
  single.known.bound.reset();  // of the volume
  single.objective = std::make_shared<ScalarizedObjective>(problem.objective, std::move(options));
  return single;
}

}  // namespace kiln
