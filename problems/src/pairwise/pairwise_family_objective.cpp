// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/pairwise_family_objective.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kiln/kernels/sweeps/pairwise_family_energy.hpp"
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"
#include "kiln/objectives/term_offset.hpp"

#include "pairwise/packed_states.hpp"
#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {
namespace {

using Pairs = std::map<std::pair<std::int32_t, std::int32_t>, FamilyPair>;

Pairs couplings_of(const PairwiseFamily& family) {
  Pairs pairs;
  for (const Edge& e : family.base.couplings) pairs[{e.u, e.v}].base += e.weight;
  for (const Edge& e : family.term.couplings) pairs[{e.u, e.v}].term += e.weight;
  return pairs;
}

// The rows of A or of B for counting on a GPU, in the order of a plan for both. Empty unless its
// coefficients are integers and small.
GroupRows group_rows_of(PairwisePlan order, const PairwiseFamilyPlan& plan,
                        double FamilyPair::*field_of, double FamilyEntry::*weight_of) {
  if (order.sequential) return {};
  order.arithmetic = Arithmetic::narrow;
  for (std::size_t site = 0; site < order.variable.size(); ++site) {
    order.field[site] = plan.field[site].*field_of;
    double sum = std::abs(order.field[site]);
    bool integers = order.field[site] == std::round(order.field[site]);
    auto at = static_cast<std::size_t>(order.row_begin[site]);
    for (std::int64_t e = plan.row_begin[site]; e < plan.row_begin[site + 1]; ++e, ++at) {
      const double weight = plan.entries[static_cast<std::size_t>(e)].*weight_of;
      sum += std::abs(weight);
      integers = integers && weight == std::round(weight);
      order.entries[at].weight = static_cast<float>(weight);
    }
    if (!integers || !(sum <= 127)) return {};
  }
  return group_rows(order);
}

class BoundPairwiseFamily final : public Offers<BoundObjective, Evaluates, Sweeps, Parametric> {
 public:
  BoundPairwiseFamily(const PairwiseFamilyPlan& plan, Queue& queue) : model_(plan, queue) {}

  void prepare(ReplicaBatch& batch, Queue& queue) override {
    packed_.prepare(batch, queue);
    base_ = DeviceArray<double>(queue, batch.slots());
    term_ = DeviceArray<double>(queue, batch.slots());
    base_.zero();
    term_.zero();
  }

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    queue.launch(PairwiseFamilyEnergy{model_.view(), packed_.of(args.batch, queue), args.energy,
                                      base_.view(), term_.view(), args.batch.rung_of(),
                                      args.active_rungs, args.control});
  }

  void metropolis_sweep(const SweepArgs& args, Queue& queue) override {
    ReplicaBatch& batch = args.batch;
    queue.launch(PairwiseFamilySweep{model_.view(), args.rule, PackedStates::in_place(batch),
                                     batch.accepted(), args.beta, args.parameter, batch.rung_of(),
                                     batch.draw_ids(), args.inverse_scale, args.control,
                                     args.step_offset, args.active_rungs});
    if (args.energies_needed) {
      evaluate(EvaluateArgs{batch, batch.energy(), {}, args.control}, queue);
    }
  }

  EnergyComponents components() noexcept override { return {base_.view(), term_.view()}; }

 private:
  PackedStates packed_;
  BoundPairwiseFamilyModel model_;
  DeviceArray<double> base_, term_;
};

class PairwiseFamilyObjective final : public Offers<Objective, TermOffset> {
 public:
  PairwiseFamilyObjective(std::string name, const PairwiseFamily& family)
      : name_(std::move(name)),
        space_(Space::spins(family.base.n)),
        plan_(plan_pairwise_family(family)),
        range_(make_pairwise_objective(name_, member_of(family, family.target), BlockKind::spin)
                   ->beta_range()),
        parameters_{family.low, family.target},
        term_offset_(family.term.offset) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return {.cuda = true, .layouts = {Layout::packed32}}; }
  InterfaceSet abilities() const override { return BoundPairwiseFamily::interfaces(); }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    return std::make_unique<BoundPairwiseFamily>(plan_, queue);
  }
  std::uint64_t device_bytes(const DeviceShape& device, std::int64_t replicas) const override {
    const GroupPair groups{plan_.base_groups, plan_.term_groups};
    return plan_.entries.size() * sizeof(FamilyEntry) + plan_.variable.size() * 28 +
           (device.gpu ? groups.bytes() : 0) +
           static_cast<std::uint64_t>(replicas + 31) / 32 * 32 * 16;
  }
  WorkShape work_shape() const override {
    return {.unit = WorkUnit::parametric_sweep, .variables = plan_.n_variables};
  }
  double sweep_cost() const override {
    return static_cast<double>(plan_.entries.size() + plan_.variable.size());
  }
  BetaRange beta_range() const override { return range_; }
  ParameterRange parameter_range() const override { return parameters_; }
  double term_offset() const override { return term_offset_; }

 private:
  std::string name_;
  Space space_;
  PairwiseFamilyPlan plan_;
  BetaRange range_;
  ParameterRange parameters_;
  double term_offset_;
};

}  // namespace

PairwiseFamilyPlan plan_pairwise_family(const PairwiseFamily& family) {
  const Pairs pairs = couplings_of(family);
  Ising both{family.base.n, family.base.fields, {}, 0.0};
  for (const auto& [pair, value] : pairs) both.couplings.push_back({pair.first, pair.second, 1.0});
  const PairwisePlan order = plan_pairwise(both);

  PairwiseFamilyPlan plan;
  plan.n_variables = family.base.n;
  plan.n_classes = order.n_classes;
  plan.sequential = order.sequential;
  plan.class_begin = order.class_begin;
  plan.target = family.target;
  plan.variable.assign(order.variable.begin(), order.variable.end());
  plan.row_begin.push_back(0);
  for (std::size_t site = 0; site < order.variable.size(); ++site) {
    const std::int32_t v = order.variable[site];
    const auto i = static_cast<std::size_t>(v);
    plan.field.push_back(v < 0 ? FamilyPair{}
                               : FamilyPair{family.base.fields[i], family.term.fields[i]});
    const FamilyPair& field = plan.field.back();
    plan.has_fields = plan.has_fields || field.base != 0 || field.term != 0;
    for (std::int64_t e = order.row_begin[site]; e < order.row_begin[site + 1]; ++e) {
      const PairEntry& entry = order.entries[static_cast<std::size_t>(e)];
      const std::int32_t u = order.variable[entry.site];
      if (entry.weight == 0) continue;  // fills the row up
      const FamilyPair& value = pairs.at(std::minmax(u, v));
      plan.entries.push_back({u, value.base, value.term});
    }
    const auto end = static_cast<std::int64_t>(plan.entries.size());
    plan.max_neighbors =
        std::max(plan.max_neighbors, static_cast<std::int32_t>(end - plan.row_begin.back()));
    plan.row_begin.push_back(end);
  }
  plan.base_groups = group_rows_of(order, plan, &FamilyPair::base, &FamilyEntry::base);
  plan.term_groups = group_rows_of(order, plan, &FamilyPair::term, &FamilyEntry::term);
  return plan;
}

BoundPairwiseFamilyModel::BoundPairwiseFamilyModel(const PairwiseFamilyPlan& plan, Queue& queue) {
  const auto class_begin = arrays_.add(plan.class_begin);
  const auto variable = arrays_.add(plan.variable);
  const auto row_begin = arrays_.add(plan.row_begin);
  const auto entries = arrays_.add(plan.entries);
  const auto field = arrays_.add(plan.field);
  static const GroupRows none;  // a CPU does not read them
  const GroupRows& base_rows = queue.on_cpu() ? none : plan.base_groups;
  const GroupRows& term_rows = queue.on_cpu() ? none : plan.term_groups;
  const GroupPlaces base_groups(base_rows, arrays_), term_groups(term_rows, arrays_);
  arrays_.upload(queue);
  view_.n_variables = plan.n_variables;
  view_.n_sites = static_cast<std::int32_t>(plan.variable.size());
  view_.n_classes = plan.n_classes;
  view_.max_neighbors = plan.max_neighbors;
  view_.sequential = plan.sequential;
  view_.has_fields = plan.has_fields;
  view_.target = plan.target;
  view_.class_begin = arrays_.view(class_begin);
  view_.variable = arrays_.view(variable);
  view_.row_begin = arrays_.view(row_begin);
  view_.entries = arrays_.view(entries);
  view_.field = arrays_.view(field);
  view_.base_groups = base_groups.view(base_rows, arrays_);
  view_.term_groups = term_groups.view(term_rows, arrays_);
}

Ising member_of(const PairwiseFamily& family, double lambda) {
  Ising member{
      family.base.n, family.base.fields, {}, family.base.offset + lambda * family.term.offset};
  for (std::size_t i = 0; i < member.fields.size(); ++i) {
    member.fields[i] += lambda * family.term.fields[i];
  }
  for (const auto& [pair, value] : couplings_of(family)) {
    const double weight = value.base + lambda * value.term;
    if (weight != 0) member.couplings.push_back({pair.first, pair.second, weight});
  }
  return member;
}

double integer_scale(const PairwiseFamily& family) {
  // All that counts there are the numbers, not to which spins they belong.
  Ising numbers = family.base;
  numbers.fields.insert(numbers.fields.end(), family.term.fields.begin(), family.term.fields.end());
  numbers.couplings.insert(numbers.couplings.end(), family.term.couplings.begin(),
                           family.term.couplings.end());
  return integer_scale(numbers);
}

std::shared_ptr<const Objective> make_pairwise_family_objective(std::string name,
                                                                const PairwiseFamily& family) {
  return std::make_shared<PairwiseFamilyObjective>(std::move(name), family);
}

}  // namespace kiln::problems
