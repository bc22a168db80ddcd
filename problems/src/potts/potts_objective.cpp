// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "potts/potts_objective.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "kiln/host_scratch.hpp"
#include "kiln/kernels/sweeps/categorical_energy.hpp"
#include "kiln/kernels/sweeps/categorical_sweep.hpp"
#include "kiln/objectives/turned.hpp"

#include "beta_range.hpp"
#include "coloring/forced_moves.hpp"
#include "pairwise/pair_rows.hpp"
#include "pairwise/stored_scale.hpp"
#include "sum_of_terms.hpp"

namespace kiln::problems {
namespace {

// As for spins: with two values a proposal is always the other one, and a coupling counts half, for
// and against.
bool moves_may_be_forced(const PottsPlan& plan) {
  if (plan.values != 2) return false;
  std::vector<double> fields;
  for (std::size_t at = 0; at < plan.field.size(); at += 2) {
    fields.push_back(plan.field[at + 1] - plan.field[at]);
  }
  return moves_may_be_forced(plan.pairs, fields);
}

class BoundPotts final : public Offers<BoundObjective, Evaluates, Sweeps> {
 public:
  BoundPotts(const PottsPlan& plan, bool may_be_forced, Queue& queue)
      : may_be_forced_(may_be_forced), model_(plan, queue) {}

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    const View2<std::int8_t> x = states(args.batch);
    queue.launch(CategoricalEnergy{model_.view(),
                                   {x.data, x.rows, x.columns, x.stride},
                                   args.energy,
                                   args.batch.rung_of(),
                                   args.active_rungs,
                                   args.control});
  }

  void metropolis_sweep(const SweepArgs& args, Queue& queue) override {
    ReplicaBatch& batch = args.batch;
    queue.launch(CategoricalSweep{model_.view(), rule_without_force(may_be_forced_, args),
                                  states(batch), batch.energy(), batch.accepted(), args.beta,
                                  batch.rung_of(), batch.draw_ids(), args.inverse_scale,
                                  args.control, args.step_offset, args.active_rungs});
    if (!model_.view().integral && args.energies_needed) {
      evaluate(EvaluateArgs{batch, batch.energy(), {}, args.control}, queue);
    }
  }

 private:
  static View2<std::int8_t> states(ReplicaBatch& batch) {
    const StateBlock block = batch.state(0);
    return {block.as<std::int8_t>(), block.variables, block.slots, block.slots};
  }

  bool may_be_forced_;
  BoundPottsModel model_;
};

// The greatest common divisor of the couplings of each site and of the differences of its fields:
// no energy change of the site is smaller, except 0.
std::vector<double> smallest_changes(const PottsPlan& plan) {
  std::vector<double> changes;
  if (!plan.integral) return changes;
  const auto values = static_cast<std::size_t>(plan.values);
  for (std::size_t site = 0; site < plan.pairs.variable.size(); ++site) {
    std::int64_t divisor = plan.pairs.divisor_of_row(site);
    for (std::size_t v = 1; !plan.field.empty() && v < values; ++v) {
      const double rise = plan.field[site * values + v] - plan.field[site * values];
      divisor = std::gcd(divisor, static_cast<std::int64_t>(rise));
    }
    if (divisor != 0) changes.push_back(static_cast<double>(divisor));
  }
  return changes;
}

// Twice their roots are the standard deviations of the energy change between two different random
// values, by the field and among random neighbours: for q = 2 those of the same Ising model.
Spreads spreads(const Potts& model) {
  const auto n = static_cast<std::size_t>(model.n);
  const double q = model.q;
  double largest = largest_weight(model.couplings);
  for (const PottsField& field : model.fields) largest = std::max(largest, std::abs(field.amount));
  const double unit = unit_of(largest);
  Spreads of{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0), unit};
  std::vector<double> sum(n, 0.0), sum_of_squares(n, 0.0);
  for (const PottsField& field : model.fields) {
    const auto i = static_cast<std::size_t>(field.variable);
    const double amount = field.amount / unit;
    sum[i] += amount;
    sum_of_squares[i] += amount * amount;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double variance = std::max(0.0, sum_of_squares[i] / q - sum[i] / q * (sum[i] / q));
    of.fields[i] = variance * q / (2 * (q - 1));
  }
  add_squares_of(model.couplings, unit, 2 * q, of.couplings);
  return of;
}

class PottsObjective : public Offers<Objective, Turnable, HostScratch> {
 public:
  PottsObjective(std::string name, Potts model)
      : name_(std::move(name)),
        space_(Space::categories(model.n, model.q)),
        model_(std::move(model)),
        plan_(plan_potts(model_)),
        may_be_forced_(moves_may_be_forced(plan_)),
        range_(automatic_range(spreads(model_), smallest_changes(plan_)).anneal) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return {.cuda = true, .layouts = {Layout::i8}}; }
  InterfaceSet abilities() const override { return BoundPotts::interfaces(); }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    return std::make_unique<BoundPotts>(plan_, may_be_forced_, queue);
  }
  // The CPU reads the couplings in place.
  std::uint64_t device_bytes(const DeviceShape& device, std::int64_t) const override {
    const PairwisePlan& pairs = plan_.pairs;
    const std::uint64_t field = plan_.field.size() * 8;
    if (!device.gpu) return field;
    return pairs.entries.size() * sizeof(PairEntry) + plan_.weights_i16.size() * 2 +
           pairs.weights_f64.size() * 8 + pairs.variable.size() * 16 + field;
  }
  // A byte for each site and replica, an energy for each value and replica.
  std::uint64_t host_scratch_bytes(std::int64_t words, std::int64_t threads,
                                   DrawNaming /*naming*/) const override {
    const std::uint64_t of_replica =
        plan_.pairs.variable.size() + sizeof(double) * static_cast<std::uint64_t>(model_.q);
    return 32 * of_replica * static_cast<std::uint64_t>(std::min(words, threads));
  }
  WorkShape work_shape() const override {
    return {.unit = WorkUnit::byte_sweep, .variables = model_.n};
  }
  double sweep_cost() const override {
    return static_cast<double>(plan_.pairs.entries.size() + plan_.pairs.variable.size());
  }
  BetaRange beta_range() const override { return range_; }
  std::shared_ptr<const Objective> turned() const override {
    Potts other = model_;
    for (PottsField& field : other.fields) field.amount = 0.0 - field.amount;
    for (Edge& coupling : other.couplings) coupling.weight = 0.0 - coupling.weight;
    return std::make_shared<PottsObjective>(name_, std::move(other));
  }
  std::function<double(StateSpan)> reference() const override {
    return [this](StateSpan state) {
      return potts_energy(model_, std::get<std::span<const std::int32_t>>(state.front()));
    };
  }

 private:
  std::string name_;
  Space space_;
  Potts model_;
  PottsPlan plan_;
  bool may_be_forced_;
  BetaRange range_;
};

// A graph to colour: its rows and first colouring are made for the searches that need them.
class PottsColoring final : public Offers<PottsObjective, ColoringModelled> {
 public:
  PottsColoring(std::string name, Potts model, std::function<ColoringModel()> coloring)
      : Offers(std::move(name), std::move(model)), make_coloring_(std::move(coloring)) {}

  const ColoringModel& coloring_model() const override {
    std::call_once(made_, [this] { coloring_ = make_coloring_(); });
    return coloring_;
  }

 private:
  std::function<ColoringModel()> make_coloring_;
  mutable std::once_flag made_;
  mutable ColoringModel coloring_;
};

}  // namespace

BoundPottsModel::BoundPottsModel(const PottsPlan& plan, Queue& queue) {
  const PairRows rows(plan.pairs, arrays_);
  static const LargeVector<std::int16_t> none;  // a GPU does not read them
  const auto weights = arrays_.add_lasting(queue.on_cpu() ? plan.weights_i16 : none);
  const auto field = arrays_.add(plan.field);
  arrays_.upload(queue);
  rows.describe(plan.pairs, arrays_, view_);
  view_.values = plan.values;
  view_.integral = plan.integral;
  view_.weights_i16 = arrays_.view(weights);
  view_.field = arrays_.view(field);
}

double potts_energy(const Potts& model, std::span<const std::int32_t> values, double decimal) {
  const auto number = [&](double x) { return decimal == 0 ? x : whole_of(x, decimal); };
  TermSum energy;
  for (const PottsField& field : model.fields) {
    const bool has = values[static_cast<std::size_t>(field.variable)] == field.value;
    energy.add(has ? number(field.amount) : 0.0);
  }
  for (const Edge& e : model.couplings) {
    const bool equal =
        values[static_cast<std::size_t>(e.u)] == values[static_cast<std::size_t>(e.v)];
    energy.add(equal ? number(e.weight) : 0.0);
  }
  return decimal == 0 ? energy.value() : energy.value() / decimal;
}

std::shared_ptr<const Objective> make_potts_objective(std::string name, Potts model) {
  return std::make_shared<PottsObjective>(std::move(name), std::move(model));
}

std::shared_ptr<const Objective> make_coloring_objective(std::string name, Potts model,
                                                         std::function<ColoringModel()> coloring) {
  return std::make_shared<PottsColoring>(std::move(name), std::move(model), std::move(coloring));
}

}  // namespace kiln::problems
