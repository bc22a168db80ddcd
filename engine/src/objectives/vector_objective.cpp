// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/vector_objective.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "kiln/errors.hpp"

namespace kiln {

VectorFunctionSource::~VectorFunctionSource() = default;

namespace {

// A byte where it holds all values: threads of neighbouring slots read it together.
Layout narrow_layout(const Block& block) {
  if (block.kind == BlockKind::real) return Layout::f64;
  return can_store(Layout::i8, block) ? Layout::i8 : Layout::i32;
}

std::vector<double> numbers_of(StateSpan state) {
  std::vector<double> x;
  for (const BlockSpan& block : state) {
    std::visit([&](auto values) { x.insert(x.end(), values.begin(), values.end()); }, block);
  }
  return x;
}

class BoundVectorObjective final : public Offers<BoundObjective, VectorValued> {
 public:
  BoundVectorObjective(std::unique_ptr<BoundVectorFunction> function, bool host_paced)
      : function_(std::move(function)), host_paced_(host_paced) {}

  void evaluate_objectives(const ObjectivesArgs& args, Queue& queue) override {
    ObjectiveValues kernel;
    kernel.n_blocks = static_cast<std::int32_t>(args.state.size());
    std::ranges::copy(args.state, kernel.state);
    kernel.replicas = args.replicas;
    kernel.columns = args.columns;
    kernel.value = args.value;
    kernel.violation = args.violation;
    kernel.not_finite = args.not_finite;
    kernel.constraint = args.constraint;
    kernel.control = args.control;
    kernel.step_offset = args.step_offset;
    function_->run(kernel, queue);
  }
  bool sweep_by_proposals(const ProposalSweep& kernel, Queue& queue) override {
    if (host_paced_) return false;
    function_->run(kernel, queue);
    return true;
  }

 private:
  std::unique_ptr<BoundVectorFunction> function_;
  bool host_paced_;
};

class VectorObjective final : public Objective {
 public:
  VectorObjective(std::string name, Space space, std::shared_ptr<const VectorFunctionSource> source)
      : name_(std::move(name)), space_(std::move(space)), source_(std::move(source)) {}

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override {
    Execution how{.cuda = source_->cuda(), .pace = source_->pace(), .layouts = {}};
    for (const Block& block : space_.blocks()) how.layouts.push_back(narrow_layout(block));
    return how;
  }
  InterfaceSet abilities() const override { return BoundVectorObjective::interfaces(); }
  int constraints() const override { return source_->constraints(); }
  std::unique_ptr<BoundObjective> bind(Queue& queue) const override {
    return std::make_unique<BoundVectorObjective>(source_->bind(queue),
                                                  source_->pace() == Pace::host);
  }
  std::uint64_t device_bytes(const DeviceShape&, std::int64_t) const override {
    return source_->device_bytes();
  }
  std::function<ObjectiveVector(StateSpan)> vector_reference() const override {
    return [source = source_](StateSpan state) {
      ObjectiveVector vector{std::vector<double>(static_cast<std::size_t>(source->objectives())),
                             0};
      std::vector<double> constraints(static_cast<std::size_t>(source->constraints()));
      source->evaluate(numbers_of(state), vector.values, constraints);
      vector.violation = total_violation(constraints.data(), source->constraints());
      return vector;
    };
  }

 private:
  std::string name_;
  Space space_;
  std::shared_ptr<const VectorFunctionSource> source_;
};

void require_bounds(const std::string& name, const Space& space) {
  for (const Block& block : space.blocks()) {
    if (block.kind != BlockKind::real) continue;
    if (std::isfinite(block.lower) && std::isfinite(block.upper)) continue;
    throw InvalidArgument("objective.bounds", "objective '" + name + "' has reals without bounds",
                          "crossover and mutation need an interval for every real variable");
  }
  if (space.blocks().size() > ObjectiveValues::max_blocks) {
    throw InvalidArgument(
        "space.blocks",
        "a space can have at most " + std::to_string(ObjectiveValues::max_blocks) + " blocks");
  }
}

void require_range(const std::string& name, const char* what, int count, int least, int most) {
  if (count >= least && count <= most) return;
  throw InvalidArgument("objective.outputs",
                        "objective '" + name + "' has " + std::to_string(count) + " " + what,
                        std::to_string(least) + " to " + std::to_string(most));
}

// The values of one state by a callable of a user, with every exception as an ObjectiveError.
class HostVectorSource final : public VectorFunctionSource {
 public:
  HostVectorSource(std::string name, Space space, int objectives, int constraints,
                   HostVectorCallable function, bool thread_safe)
      : name_(std::move(name)),
        space_(std::move(space)),
        objectives_(objectives),
        constraints_(constraints),
        function_(std::move(function)),
        thread_safe_(thread_safe) {
    if (!function_) throw InvalidArgument("objective.empty", "objective '" + name_ + "' is empty");
  }
  int objectives() const override { return objectives_; }
  int constraints() const override { return constraints_; }
  bool cuda() const override { return false; }
  Pace pace() const override { return Pace::host; }

  std::unique_ptr<BoundVectorFunction> bind(Queue&) const override {
    return std::make_unique<Bound>(*this);
  }

  void evaluate(std::span<const double> x, std::span<double> f,
                std::span<double> g) const override {
    State state;
    std::size_t begin = 0;
    for (const Block& block : space_.blocks()) {
      state.push_back(values_of(block, x.subspan(begin, static_cast<std::size_t>(block.count))));
      begin += static_cast<std::size_t>(block.count);
    }
    try {
      function_(spans_of(state), f, g);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw ObjectiveError("objective.threw",
                           "objective '" + name_ + "' threw an exception: " + error.what());
    } catch (...) {
      throw ObjectiveError("objective.threw", "objective '" + name_ +
                                                  "' threw an object that is not a std::exception");
    }
  }

 private:
  static BlockValues values_of(const Block& block, std::span<const double> x) {
    if (block.kind == BlockKind::real) return std::vector<double>(x.begin(), x.end());
    if (block.kind == BlockKind::spin || block.kind == BlockKind::binary) {
      std::vector<std::int8_t> values;
      for (const double value : x) values.push_back(static_cast<std::int8_t>(value));
      return values;
    }
    std::vector<std::int32_t> values;
    for (const double value : x) values.push_back(static_cast<std::int32_t>(value));
    return values;
  }

  void run(const ObjectiveValues& kernel, Queue& queue) const {
    if (!kernel.active()) return;
    const auto one = [&](std::int64_t slot) {
      std::vector<double> x;
      for (int b = 0; b < kernel.n_blocks; ++b) {
        const StateBlock& block = kernel.state[b];
        for (std::int64_t v = 0; v < block.variables; ++v) x.push_back(block.get(v, slot));
      }
      double f[max_objectives], g[max_constraints];
      evaluate(x, {f, static_cast<std::size_t>(objectives_)},
               {g, static_cast<std::size_t>(constraints_)});
      kernel.put(slot, f, g, constraints_);
    };
    if (thread_safe_) return queue.for_each_on_host(kernel.replicas, one);
    for (std::int64_t slot = 0; slot < kernel.replicas; ++slot) one(slot);
  }
  // BoundVectorObjective has no sweep of such a function.
  void run(const ProposalSweep&, Queue&) const {}

  struct Launchers {
    template <class Kernel>
    static void launch(const Kernel& kernel, const void* source, Queue& queue) {
      static_cast<const HostVectorSource*>(source)->run(kernel, queue);
    }
  };
  // The source lives as long as the objective, which outlives what is bound to it.
  struct Bound final : BoundVectorFunction {
    explicit Bound(const HostVectorSource& source)
        : BoundVectorFunction(FunctorKernels<VectorFunctionFamily>::from<Counted<Launchers>>(),
                              &source) {}
  };

  std::string name_;
  Space space_;
  int objectives_, constraints_;
  HostVectorCallable function_;
  bool thread_safe_;
};

void require_length(std::size_t length, std::size_t count, const char* what) {
  if (length == 0 || length == count) return;
  throw InvalidArgument("objective.outputs", std::to_string(length) + " " + what + " for " +
                                                 std::to_string(count) + " objectives");
}

void require_box(const Objectives& objectives) {
  bool is_box = objectives.ideal.size() == objectives.nadir.size();
  for (std::size_t k = 0; is_box && k < objectives.ideal.size(); ++k) {
    is_box = std::isfinite(objectives.ideal[k]) && std::isfinite(objectives.nadir[k]) &&
             objectives.ideal[k] < objectives.nadir[k];
  }
  if (is_box) return;
  throw InvalidArgument(
      "objective.box", "the ideal and nadir values do not span a box",
      "finite values, with each ideal value less than the nadir value; or two empty lists");
}

}  // namespace

std::shared_ptr<const Objective> make_vector_objective(
    std::string name, const Space& space, std::shared_ptr<const VectorFunctionSource> source) {
  if (!source) throw InvalidArgument("objective.empty", "objective '" + name + "' is empty");
  require_range(name, "objectives", source->objectives(), 2, max_objectives);
  require_range(name, "constraints", source->constraints(), 0, max_constraints);
  require_bounds(name, space);
  return std::make_shared<VectorObjective>(
      std::move(name), Space(space.blocks(), source->objectives()), std::move(source));
}

std::shared_ptr<const Objective> make_host_vector_objective(std::string name, const Space& space,
                                                            int objectives, int constraints,
                                                            HostVectorCallable function,
                                                            bool thread_safe) {
  auto source = std::make_shared<HostVectorSource>(name, space, objectives, constraints,
                                                   std::move(function), thread_safe);
  return make_vector_objective(std::move(name), space, std::move(source));
}

Problem make_multi_objective_problem(std::string name, std::string family,
                                     std::shared_ptr<const Objective> objective,
                                     Objectives objectives) {
  Problem problem = make_problem(std::move(objective));
  const auto count = static_cast<std::size_t>(problem.objective->space().outputs());
  if (count < 2) {
    throw InvalidArgument("objective.outputs",
                          "objective '" + problem.objective->name() + "' has only one value",
                          "use make_problem() for one value");
  }
  require_length(objectives.names.size(), count, "names");
  require_length(objectives.maximized.size(), count, "directions");
  require_length(objectives.ideal.size(), count, "ideal values");
  require_length(objectives.nadir.size(), count, "nadir values");
  require_box(objectives);
  for (std::size_t k = objectives.names.size(); k < count; ++k) {
    objectives.names.push_back("f" + std::to_string(k + 1));
  }
  objectives.maximized.resize(count, false);
  if (!objectives.evaluate) objectives.evaluate = problem.objective->vector_reference();
  problem.identity.name = std::move(name);
  problem.identity.family = std::move(family);
  problem.units.sense = Sense::maximize;
  problem.units.value_name = "hypervolume";
  problem.units.objective_of_stored = {0, -1};
  problem.identity.sizes.emplace_back("objectives", std::to_string(count));
  problem.solution.verify = {};
  problem.objectives = std::make_shared<const Objectives>(std::move(objectives));
  return problem;
}

}  // namespace kiln
