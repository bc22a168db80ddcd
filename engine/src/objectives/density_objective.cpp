// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/density_objective.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_scratch.hpp"

#include "objectives/chain_layouts.hpp"

namespace kiln {

DensitySource::~DensitySource() = default;

namespace {

class BoundDensityObjective : public Offers<BoundObjective, Evaluates, Sweeps, Differentiates,
                                            HamiltonianMoves, NoUTurnMoves, Descends> {
 public:
  BoundDensityObjective(std::shared_ptr<const DensitySource> source, const Block& block,
                        Queue& queue)
      : source_(std::move(source)),
        density_(source_->bind(queue)),
        dimension_(source_->dimension()),
        workspace_(source_->workspace()),
        block_(block) {}

  void prepare(ReplicaBatch& batch, Queue& queue) override {
    const std::int64_t slots = batch.slots();
    chains_ = batch.replicas();
    layout_ = layout_of(*source_, chains_);
    gradient_ = DeviceArray<double>(queue, dimension_ * slots);
    gradient_.zero();
    // At weights of zero the gradient is zero: what is there is right from the beginning.
    gradient_weights_ = DeviceArray<double>(queue, 2 * slots);
    gradient_weights_.zero();
    parts_of_energy_ = DeviceArray<double>(queue, 2 * slots);
    parts_of_energy_.zero();
    prepare_widths(slots, queue);
    slots_ = slots;
    reserve(min_scratch(dimension_, workspace_, layout_), queue);
    load<DensityEnergy>(layout_, queue);
    load<DensitySweep>(layout_, queue);
  }

  void prepare_descent(Queue& queue) override {
    reserve(DensityDescent::scratch_size(dimension_, workspace_), queue);
    load<DensityDescent>(without_threads(*source_, chains_), queue);
  }

  void prepare_hmc(Queue& queue) override {
    const ChainLayout layout = of_trajectories(*source_, chains_);
    const std::int64_t size = HmcTransition::scratch_size(dimension_, workspace_);
    reserve(scratch_of(size, layout, workspace_), queue);
    load<HmcTransition>(layout, queue);
  }
  void prepare_nuts(Queue& queue) override {
    reserve(NutsTransition::scratch_size(dimension_, workspace_), queue);
    load<NutsTransition>(without_threads(*source_, chains_), queue);
  }

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    DensityEnergy kernel;
    const View2<double> x = positions(args.batch);
    kernel.position = {x.data, x.rows, x.columns, x.stride};
    kernel.replicas = args.batch.replicas();
    kernel.energy = args.energy;
    // Of trial states neither parts nor gradients are kept.
    if (args.energy.data == args.batch.energy().data) {
      kernel.base = part(parts_of_energy_, 0);
      kernel.term = part(parts_of_energy_, 1);
      kernel.forget_gradient = part(gradient_weights_, 0);
    }
    kernel.rung_of = args.batch.rung_of();
    kernel.active_rungs = args.active_rungs;
    kernel.control = args.control;
    kernel.layout = layout_;
    kernel.scratch = scratch_.view();
    density_->run(kernel, queue);
  }

  void metropolis_sweep(const SweepArgs& args, Queue& queue) override {
    DensitySweep kernel;
    kernel.chains =
        chains_of(args.batch, args.beta, args.parameter, args.control, args.step_offset);
    kernel.widths.width = {widths_.data(), dimension_, slots_, slots_};
    kernel.widths.sweeps = width_sweeps_.view();
    kernel.widths.least = min_width();
    kernel.widths.most = max_width();
    kernel.widths.by_rung = args.beta.size == args.batch.replicas();
    kernel.accepted = args.batch.accepted();
    kernel.not_finite = args.batch.not_finite();
    kernel.inverse_scale = args.inverse_scale;
    kernel.layout = layout_;
    kernel.scratch = scratch_.view();
    density_->run(kernel, queue);
  }

  void hmc_transition(const TransitionArgs& args, Queue& queue) override {
    prepare_hmc(queue);
    HmcTransition kernel;
    fill(kernel, args);
    kernel.layout = of_trajectories(*source_, chains_);
    density_->run(kernel, queue);
  }

  void nuts_transition(const TransitionArgs& args, Queue& queue) override {
    prepare_nuts(queue);
    NutsTransition kernel;
    fill(kernel, args);
    kernel.layout = without_threads(*source_, chains_);
    density_->run(kernel, queue);
  }

  void descend(const DescentArgs& args, Queue& queue) override {
    DensityDescent kernel;
    prepare_descent(queue);
    kernel.layout = without_threads(*source_, chains_);  // as many vectors
    kernel.energy_tol = args.energy_tol;
    kernel.steps = args.steps;
    kernel.chains =
        chains_of(args.batch, args.beta, args.parameter, args.control, args.step_offset);
    kernel.scratch = scratch_.view();
    density_->run(kernel, queue);
  }

  View1<double> gradient_weight() const noexcept override {
    return {const_cast<double*>(gradient_weights_.data()), slots_};
  }
  View2<double> gradient() const noexcept override {
    return {const_cast<double*>(gradient_.data()), dimension_, slots_, slots_};
  }

  void save(Archive& archive) const override {
    archive.put("density.gradient", gradient_);
    archive.put("density.gradient_weights", gradient_weights_);
    archive.put("density.parts", parts_of_energy_);
    archive.put("density.widths", widths_);
    archive.put("density.width_sweeps", width_sweeps_);
  }
  void load(const Archive& archive) override {
    archive.restore("density.gradient", gradient_);
    archive.restore("density.gradient_weights", gradient_weights_);
    archive.restore("density.parts", parts_of_energy_);
    archive.restore("density.widths", widths_);
    archive.restore("density.width_sweeps", width_sweeps_);
  }

 protected:
  EnergyComponents parts() noexcept {
    return {part(parts_of_energy_, 0), part(parts_of_energy_, 1)};
  }

 private:
  // Where no tick is being recorded yet: to compile and to load take time.
  template <class Kernel>
  void load(ChainLayout layout, Queue& queue) {
    if (queue.on_cpu() || !source_->is_compiled_late()) return;
    if (!loaded_.insert(Kernel::name).second) return;
    Kernel kernel;
    kernel.layout = layout;
    density_->run(kernel, queue);
  }

  // `each` doubles for every slot. The CPU's threads bring theirs along.
  void reserve(std::int64_t each, Queue& queue) {
    if (queue.on_cpu()) return;
    const std::int64_t size = slots_ * each;
    if (size <= scratch_.size()) return;
    const MemoryScope scope(queue, MemoryOwner::problem);
    scratch_ = {};  // first: the plan has room for one
    scratch_ = DeviceArray<double>(queue, size);
  }

  View2<double> positions(ReplicaBatch& batch) const {
    const StateBlock block = batch.state(0);
    return {block.as<double>(), block.variables, block.slots, block.slots};
  }
  View1<double> part(DeviceArray<double>& pair, int index) {
    return {pair.data() + index * slots_, slots_};
  }

  bool closed() const { return std::isfinite(block_.lower) && std::isfinite(block_.upper); }
  double side(std::int64_t i) const { return block_.bounds(i).upper - block_.bounds(i).lower; }
  std::pair<double, double> shortest_and_longest_side() const {
    std::pair<double, double> sides{side(0), side(0)};
    for (std::int64_t i = 1; i < static_cast<std::int64_t>(block_.box.size()); ++i) {
      sides = {std::min(sides.first, side(i)), std::max(sides.second, side(i))};
    }
    return sides;
  }
  // Moves longer than the box only fold; in an open space widths need bounds against overflow.
  double max_width() const { return closed() ? shortest_and_longest_side().second : 1e100; }
  double min_width() const {
    return closed() ? 0x1p-60 * shortest_and_longest_side().first : 1e-100;
  }

  void prepare_widths(std::int64_t slots, Queue& queue) {
    std::vector<double> first(static_cast<std::size_t>(dimension_ * slots), 1.0);
    for (std::int64_t i = 0; i < dimension_; ++i) {
      if (!std::isfinite(side(i))) continue;
      std::fill_n(first.begin() + i * slots, slots, 0.1 * side(i));
    }
    widths_ = DeviceArray<double>(queue, first);
    width_sweeps_ = DeviceArray<std::uint64_t>(queue, slots);
    width_sweeps_.zero();
  }

  ChainState chains_of(ReplicaBatch& batch, View1<const double> beta, View1<const double> lambda,
                       const RunControl* control, std::uint32_t step_offset) {
    ChainState chains;
    chains.position = positions(batch);
    chains.gradient = gradient();
    chains.gradient_base_weight = part(gradient_weights_, 0);
    chains.gradient_term_weight = part(gradient_weights_, 1);
    chains.energy = batch.energy();
    chains.base = part(parts_of_energy_, 0);
    chains.term = part(parts_of_energy_, 1);
    chains.beta = beta;
    chains.lambda = lambda;
    chains.rung_of = batch.rung_of();
    chains.draw_ids = batch.draw_ids();
    chains.replicas = batch.replicas();
    chains.lower = block_.lower;
    chains.upper = block_.upper;
    chains.box = batch.state(0).box;
    chains.bounded = block_.has_walls();
    chains.control = control;
    chains.step_offset = step_offset;
    return chains;
  }

  template <class Kernel>
  void fill(Kernel& kernel, const TransitionArgs& args) {
    kernel.chains =
        chains_of(args.batch, args.beta, args.parameter, args.control, args.step_offset);
    kernel.metric = args.metric;
    kernel.tuning = args.tuning;
    kernel.statistics = args.statistics;
    kernel.scratch = scratch_.view();
  }

  std::shared_ptr<const DensitySource> source_;
  std::unique_ptr<BoundDensity> density_;
  std::int64_t dimension_;
  std::int64_t workspace_;
  ChainLayout layout_ = ChainLayout::warp;  // prepare() chooses
  Block block_;
  std::int64_t slots_ = 0, chains_ = 0;
  std::set<std::string_view> loaded_;  // kernels
  DeviceArray<double> gradient_, gradient_weights_, parts_of_energy_, widths_, scratch_;
  DeviceArray<std::uint64_t> width_sweeps_;
};

/// Of a density with both parts, so that tempering may weight the term alone.
class BoundDensityFamily final : public Offers<BoundDensityObjective, Parametric> {
 public:
  using Offers::Offers;
  EnergyComponents components() noexcept override { return parts(); }
};

class DensityObjective final : public Offers<Objective, TransitionScratch> {
 public:
  DensityObjective(std::string name, std::shared_ptr<const DensitySource> source, Space space)
      : name_(std::move(name)), source_(std::move(source)), space_(std::move(space)) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override {
    return {.cuda = source_->cuda(), .pace = source_->pace(), .layouts = {Layout::f64}};
  }
  InterfaceSet abilities() const override {
    return source_->has_parts() ? BoundDensityFamily::interfaces()
                                : BoundDensityObjective::interfaces();
  }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    const Block& block = space_.blocks().front();
    if (source_->has_parts()) return std::make_unique<BoundDensityFamily>(source_, block, queue);
    return std::make_unique<BoundDensityObjective>(source_, block, queue);
  }
  std::uint64_t device_bytes(const DeviceShape& device, std::int64_t replicas) const override {
    const std::int64_t d = source_->dimension();
    const std::int64_t kept = 2 * d + 5;  // gradient, widths; weights, parts, count
    const std::int64_t scratch =
        min_scratch(d, source_->workspace(), layout_of(*source_, replicas));
    const std::int64_t each = kept + (device.gpu ? scratch : 0);
    return source_->device_bytes() + static_cast<std::uint64_t>(each * replicas) * sizeof(double);
  }
  std::uint64_t transition_bytes(ChainWork work, std::int64_t replicas) const override {
    const std::int64_t d = source_->dimension(), workspace = source_->workspace();
    const ChainLayout layout = layout_of(*source_, replicas);
    const std::int64_t least = min_scratch(d, workspace, layout);
    std::int64_t each = 0;
    switch (work) {
      case ChainWork::hmc:
        each = scratch_of(HmcTransition::scratch_size(d, workspace),
                          of_trajectories(*source_, replicas), workspace);
        break;
      case ChainWork::nuts:
        each = NutsTransition::scratch_size(d, workspace);
        break;
      case ChainWork::descent:
        each = DensityDescent::scratch_size(d, workspace);
        break;
    }
    const auto more = static_cast<std::uint64_t>(std::max<std::int64_t>(0, each - least));
    return more * static_cast<std::uint64_t>(replicas) * sizeof(double);
  }
  HostTasks transition_tasks(std::int64_t replicas) const override {
    const auto* const own = source_->as<TransitionScratch>();
    return own == nullptr ? HostTasks{} : own->transition_tasks(replicas);
  }
  // One energy for each coordinate, which itself takes about as many operations.
  double sweep_cost() const override {
    const auto d = static_cast<double>(source_->dimension());
    return d * d;
  }
  EnergyAndGradient gradient_reference() const override {
    return [source = source_](std::span<const double> x, std::span<double> gradient) {
      return source->evaluate(x, gradient).total();
    };
  }
  std::function<double(StateSpan)> reference() const override {
    return [source = source_](StateSpan state) {
      return source->evaluate(std::get<std::span<const double>>(state.front()), {}).total();
    };
  }

 private:
  std::string name_;
  std::shared_ptr<const DensitySource> source_;
  Space space_;
};

void refuse_nothing(const std::string& name, const std::shared_ptr<const DensitySource>& source) {
  if (!source) throw InvalidArgument("objective.empty", "objective '" + name + "' is empty");
}

}  // namespace

std::shared_ptr<const Objective> make_density_objective(std::string name,
                                                        std::shared_ptr<const DensitySource> source,
                                                        double lower, double upper) {
  refuse_nothing(name, source);
  Space space = Space::reals(source->dimension(), lower, upper);
  return std::make_shared<DensityObjective>(std::move(name), std::move(source), std::move(space));
}

std::shared_ptr<const Objective> make_density_objective(std::string name,
                                                        std::shared_ptr<const DensitySource> source,
                                                        std::vector<Bounds> box) {
  refuse_nothing(name, source);
  if (static_cast<int>(box.size()) != source->dimension()) {
    throw InvalidArgument(
        "space.box",
        "the box of objective '" + name + "' has " + std::to_string(box.size()) + " intervals",
        std::to_string(source->dimension()) + " intervals, one for each coordinate");
  }
  return std::make_shared<DensityObjective>(std::move(name), std::move(source),
                                            Space::reals(std::move(box)));
}

}  // namespace kiln
