// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "coloring/coloring_objective.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/kernels/sweeps/coloring_energy.hpp"
#include "kiln/kernels/sweeps/coloring_sweep.hpp"
#include "kiln/memory/memory_account.hpp"
#include "kiln/objectives/device_bundle.hpp"
#include "kiln/objectives/turned.hpp"

#include "beta_range.hpp"

namespace kiln::problems {
namespace {

class BoundColoring : public Offers<BoundObjective, Evaluates> {
 public:
  BoundColoring(const ColoringModel& model, Queue& queue) {
    const auto row_begin = arrays_.add(model.row_begin);
    const auto neighbor = arrays_.add(model.neighbor);
    arrays_.upload(queue);
    view_.vertices = model.vertices;
    view_.values = model.values;
    view_.fewest = model.fewest;
    view_.row_begin = arrays_.view(row_begin);
    view_.neighbor = arrays_.view(neighbor);
  }

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    const StateBlock block = args.batch.state(0);
    ColoringEnergy kernel;
    kernel.model = view_;
    kernel.state = {block.as<std::int32_t>(), block.variables, block.slots, block.slots};
    kernel.energy = args.energy;
    kernel.rung_of = args.batch.rung_of();
    kernel.active_rungs = args.active_rungs;
    kernel.control = args.control;
    queue.launch(kernel);
  }

 protected:
  const ColoringView& model() const { return view_; }

 private:
  DeviceBundle arrays_;
  ColoringView view_;
};

/// Of a given number of colours; the search for the fewest has moves of its own alone.
class BoundColoringSweep final : public Offers<BoundColoring, Sweeps> {
 public:
  using Offers::Offers;

  void metropolis_sweep(const SweepArgs& args, Queue& queue) override {
    if (args.rule != SweepRule::metropolis) {
      throw InvalidArgument("run.heat_bath", "the heat bath supports at most 127 colours", {},
                            "run with moves=metropolis");
    }
    const StateBlock block = args.batch.state(0);
    ColoringSweep kernel;
    kernel.model = model();
    kernel.state = {block.as<std::int32_t>(), block.variables, block.slots, block.slots};
    kernel.energy = args.batch.energy();
    kernel.accepted = args.batch.accepted();
    kernel.beta = args.beta;
    kernel.rung_of = args.batch.rung_of();
    kernel.draw_ids = args.batch.draw_ids();
    kernel.inverse_scale = args.inverse_scale;
    kernel.control = args.control;
    kernel.step_offset = args.step_offset;
    kernel.active_rungs = args.active_rungs;
    queue.launch(kernel);
  }
};

// As of a Potts model with couplings of 1, which a colouring is.
Objective::BetaRange range_of(const ColoringModel& model) {
  Spreads spreads;
  std::vector<double> smallest_changes;
  for (std::size_t v = 0; v + 1 < model.row_begin.size(); ++v) {
    const std::int64_t degree = model.row_begin[v + 1] - model.row_begin[v];
    spreads.couplings.push_back(static_cast<double>(degree) / (2.0 * model.values));
    if (degree > 0) smallest_changes.push_back(1);
  }
  spreads.fields.resize(spreads.couplings.size(), 0.0);
  return automatic_range(spreads, smallest_changes).anneal;
}

class GraphColoring final : public Offers<Objective, ColoringModelled, Turnable> {
 public:
  GraphColoring(std::string name, ColoringModel model)
      : name_(std::move(name)),
        model_(std::move(model)),
        space_(Space::categories(model_.vertices, model_.values)) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  const ColoringModel& coloring_model() const override { return model_; }
  Execution execution() const override { return {.cuda = true, .layouts = {Layout::i32}}; }
  InterfaceSet abilities() const override {
    return model_.fewest ? BoundColoring::interfaces() : BoundColoringSweep::interfaces();
  }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    if (model_.fewest) return std::make_unique<BoundColoring>(model_, queue);
    return std::make_unique<BoundColoringSweep>(model_, queue);
  }
  std::uint64_t device_bytes(const DeviceShape&, std::int64_t) const override {
    return device_lines(model_.row_begin.size() * 8) + device_lines(model_.neighbor.size() * 4);
  }
  double sweep_cost() const override {
    const auto n = static_cast<double>(model_.vertices);
    const auto ends = static_cast<double>(model_.neighbor.size());
    return model_.fewest ? n * (n + ends) : n + ends;
  }
  BetaRange beta_range() const override { return model_.fewest ? BetaRange{} : range_of(model_); }
  // Searches look for few conflicts.
  std::shared_ptr<const Objective> turned() const override { return nullptr; }
  std::string why_not_turned() const override {
    return model_.fewest ? "cannot maximise the number of colours" : "";
  }
  // The tables of a search grow with the colours.
  WorkShape work_shape() const override {
    return {.unit = WorkUnit::search,
            .variables = model_.vertices,
            .table_bytes = 8.0 * static_cast<double>(model_.vertices) * model_.values};
  }

 private:
  std::string name_;
  ColoringModel model_;
  Space space_;
};

}  // namespace

std::shared_ptr<const Objective> make_coloring_objective(std::string name, ColoringModel model) {
  return std::make_shared<GraphColoring>(std::move(name), std::move(model));
}

}  // namespace kiln::problems
