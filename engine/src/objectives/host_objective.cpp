// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <string>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/objective.hpp"
#include "kiln/objectives/recall.hpp"
#include "kiln/problem.hpp"

#include "batches/host_values.hpp"

namespace kiln {
namespace {

/// What is called: writes the constraints, all NaN before, and gives the value.
using HostCall = ConstrainedHostFunction;

class BoundHostObjective final : public Offers<BoundObjective, Evaluates, Watchable> {
 public:
  BoundHostObjective(std::string name, int constraints, HostCall function, bool thread_safe)
      : name_(std::move(name)),
        constraints_(static_cast<std::size_t>(constraints)),
        function_(std::move(function)),
        thread_safe_(thread_safe) {}

  void watch(Watcher watcher) override { watcher_ = std::move(watcher); }

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    if (queue.on_cpu()) {
      evaluate_in_place(args, queue);
    } else {
      evaluate_copies(args, queue);
    }
  }

 private:
  void for_each(std::int64_t count, Queue& queue,
                const std::function<void(std::int64_t)>& task) const {
    if (thread_safe_) return queue.for_each_on_host(count, task);
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }

  void evaluate_in_place(const EvaluateArgs& args, Queue& queue) const {
    // The task runs at once on the CPU backend, so control can be read here.
    if (args.control != nullptr && args.control->stop != DeviceStop::none) return;
    const ReplicaBatch& batch = args.batch;
    const View1<std::int32_t> rung_of = args.batch.rung_of();
    const bool wants_constraints = args.constraint.data != nullptr;
    for_each(batch.replicas(), queue, [&](std::int64_t slot) {
      if (args.active_rungs && args.active_rungs[rung_of[slot]] == 0) return;
      std::vector<double> g(constraints_);
      args.energy[slot] = call(state_of(batch, slot), g);
      for (std::size_t j = 0; wants_constraints && j < g.size(); ++j) {
        args.constraint(static_cast<std::int64_t>(j), slot) = g[j];
      }
    });
  }

  // States come to the host, values go back: the host waits for the device, and the device for it.
  void evaluate_copies(const EvaluateArgs& args, Queue& queue) const {
    if (args.control != nullptr) {
      RunControl control;
      queue.download(&control, args.control, sizeof control);
      if (control.stop != DeviceStop::none) return;
    }
    const std::vector<std::int64_t> slots = wanted_slots(args, queue);
    if (slots.empty()) return;
    const std::vector<State> states = args.batch.read_states(slots, false);
    const std::size_t n = slots.size();
    std::vector<double> values(n), g(constraints_ * n);
    for_each(static_cast<std::int64_t>(n), queue, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      values[at] = call(states[at], std::span(g).subspan(at * constraints_, constraints_));
    });
    put(
        args.energy.data, slots, [&](std::size_t i) { return values[i]; }, queue);
    for (std::size_t j = 0; args.constraint.data != nullptr && j < constraints_; ++j) {
      put(
          &args.constraint(static_cast<std::int64_t>(j), 0), slots,
          [&](std::size_t i) { return g[i * constraints_ + j]; }, queue);
    }
  }

  static std::vector<std::int64_t> wanted_slots(const EvaluateArgs& args, Queue& queue) {
    std::vector<std::int64_t> slots(static_cast<std::size_t>(args.batch.replicas()));
    std::iota(slots.begin(), slots.end(), 0);
    if (!args.active_rungs) return slots;
    std::vector<std::uint32_t> active_rungs(static_cast<std::size_t>(args.active_rungs.size));
    queue.download(active_rungs.data(), args.active_rungs.data,
                   active_rungs.size() * sizeof(std::uint32_t));
    std::vector<std::int32_t> rung_of(slots.size());
    queue.download(rung_of.data(), args.batch.rung_of().data,
                   rung_of.size() * sizeof(std::int32_t));
    std::erase_if(slots, [&](std::int64_t slot) {
      return active_rungs[static_cast<std::size_t>(rung_of[static_cast<std::size_t>(slot)])] == 0;
    });
    return slots;
  }

  // Slots that were left out keep what they have.
  template <class ValueOf>
  static void put(double* device, const std::vector<std::int64_t>& slots, ValueOf value_of,
                  Queue& queue) {
    std::vector<double> all(static_cast<std::size_t>(slots.back()) + 1);
    const std::size_t bytes = all.size() * sizeof(double);
    if (all.size() > slots.size()) queue.download(all.data(), device, bytes);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      all[static_cast<std::size_t>(slots[i])] = value_of(i);
    }
    queue.upload(device, all.data(), bytes);
  }

  double call(const State& state, std::span<double> g) const {
    std::ranges::fill(g, std::numeric_limits<double>::quiet_NaN());
    try {
      const std::vector<BlockSpan> spans = spans_of(state);
      double value = function_(spans, g);
      // Minus infinity would be better than every answer; all that is not finite is alike.
      if (!std::isfinite(value)) value = std::numeric_limits<double>::infinity();
      if (watcher_) watcher_(state, value, g);
      return value;
    } catch (const EvaluationCutOff&) {
      return std::numeric_limits<double>::quiet_NaN();
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

  static State state_of(const ReplicaBatch& batch, std::int64_t slot) {
    State state;
    for (int b = 0; b < batch.n_blocks(); ++b) {
      const StateBlock block = batch.state(b);
      const auto n = static_cast<std::size_t>(block.variables);
      if (block.layout == Layout::i8) {
        state.push_back(gather(block, slot, std::vector<std::int8_t>(n)));
      } else if (block.layout == Layout::f64) {
        state.push_back(gather(block, slot, std::vector<double>(n)));
      } else {
        state.push_back(gather(block, slot, std::vector<std::int32_t>(n)));
      }
    }
    return state;
  }

  template <class T>
  static std::vector<T> gather(const StateBlock& block, std::int64_t slot, std::vector<T> values) {
    const T* data = block.as<const T>();
    for (std::size_t v = 0; v < values.size(); ++v) {
      values[v] = data[static_cast<std::int64_t>(v) * block.slots + slot];
    }
    return values;
  }

  std::string name_;
  std::size_t constraints_;
  HostCall function_;
  bool thread_safe_;
  Watcher watcher_;
};

class HostObjective final : public Objective {
 public:
  HostObjective(std::string name, Space space, int constraints, HostCall function, bool thread_safe)
      : name_(std::move(name)),
        space_(std::move(space)),
        constraints_(constraints),
        function_(std::move(function)),
        thread_safe_(thread_safe) {
    if (!function_) throw InvalidArgument("objective.empty", "objective '" + name_ + "' is empty");
    if (constraints_ >= 0 && constraints_ <= max_constraints) return;
    throw InvalidArgument(
        "objective.constraints",
        "objective '" + name_ + "' has " + std::to_string(constraints_) + " constraints",
        "0 to " + std::to_string(max_constraints));
  }

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override {
    Execution how{.cuda = true, .pace = Pace::host, .layouts = {}};
    for (const Block& block : space_.blocks()) how.layouts.push_back(host_layout(block.kind));
    return how;
  }
  InterfaceSet abilities() const override { return BoundHostObjective::interfaces(); }
  int constraints() const override { return constraints_; }
  std::function<double(StateSpan)> reference() const override {
    return [function = function_, n = constraints_](StateSpan state) {
      std::vector<double> g(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
      return function(state, g);
    };
  }
  std::function<std::vector<double>(StateSpan)> constraint_reference() const override {
    if (constraints_ == 0) return {};
    return [function = function_, n = constraints_](StateSpan state) {
      std::vector<double> g(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
      function(state, g);
      return g;
    };
  }
  std::unique_ptr<BoundObjective> bind(Queue&) const override {
    return std::make_unique<BoundHostObjective>(name_, constraints_, function_, thread_safe_);
  }

  /// @param sign  of the objective to the user's values
  std::shared_ptr<const Objective> recalling(const EvaluationRecall& recall, double sign) const {
    HostCall call = [recall, sign, function = function_](StateSpan state, std::span<double> g) {
      const std::optional<RecalledEvaluation> known = recall(state);
      if (!known) return function(state, g);
      std::ranges::copy_n(known->constraints.begin(), static_cast<std::ptrdiff_t>(g.size()),
                          g.begin());
      return sign * known->value;
    };
    return std::make_shared<HostObjective>(name_, space_, constraints_, std::move(call),
                                           thread_safe_);
  }

 private:
  std::string name_;
  Space space_;
  int constraints_;
  HostCall function_;
  bool thread_safe_;
};

/// The single block of `space` as a span of T, or an error that says what the space has instead.
template <class T>
HostFunction on_single_block(const std::string& name, const Space& space,
                             std::function<double(std::span<const T>)> function,
                             const char* wanted) {
  const bool single = space.blocks().size() == 1;
  const Layout layout = single ? host_layout(space.blocks().front().kind) : Layout::i8;
  const bool fits =
      single && (std::is_same_v<T, double> ? layout == Layout::f64 : layout == Layout::i32);
  if (!fits) {
    throw InvalidArgument("objective.space",
                          "objective '" + name + "' takes " + wanted +
                              ", but its space is not a single block of this kind");
  }
  if (!function) return {};
  return [function = std::move(function)](StateSpan state) {
    return function(std::get<std::span<const T>>(state.front()));
  };
}

}  // namespace

Problem with_recall(Problem problem, const EvaluationRecall& recall) {
  const auto* const objective = dynamic_cast<const HostObjective*>(problem.objective.get());
  const Affine& units = problem.units.objective_of_stored;
  const double sign = units.slope();
  if (objective == nullptr || units.offset != 0 || std::abs(sign) != 1) return problem;
  problem.objective = objective->recalling(recall, sign);
  if (problem.solution.verify) {
    problem.solution.verify = [recall, verify = std::move(problem.solution.verify)](StateSpan s) {
      const std::optional<RecalledEvaluation> known = recall(s);
      return known ? known->value : verify(s);
    };
  }
  if (problem.solution.constraint_values) {
    problem.solution.constraint_values =
        [recall, compute = std::move(problem.solution.constraint_values)](StateSpan s) {
          const std::optional<RecalledEvaluation> known = recall(s);
          return known ? known->constraints : compute(s);
        };
  }
  return problem;
}

std::shared_ptr<const Objective> make_host_objective(std::string name, Space space,
                                                     HostFunction function, bool thread_safe) {
  HostCall call;
  if (function) {
    call = [function = std::move(function)](StateSpan state, std::span<double>) {
      return function(state);
    };
  }
  return std::make_shared<HostObjective>(std::move(name), std::move(space), 0, std::move(call),
                                         thread_safe);
}

std::shared_ptr<const Objective> make_constrained_host_objective(std::string name, Space space,
                                                                 int constraints,
                                                                 ConstrainedHostFunction function,
                                                                 bool thread_safe) {
  return std::make_shared<HostObjective>(std::move(name), std::move(space), constraints,
                                         std::move(function), thread_safe);
}

std::shared_ptr<const Objective> make_host_objective(
    std::string name, Space space, std::function<double(std::span<const double>)> function,
    bool thread_safe) {
  HostFunction general = on_single_block<double>(name, space, std::move(function), "reals");
  return make_host_objective(std::move(name), std::move(space), std::move(general), thread_safe);
}

std::shared_ptr<const Objective> make_host_objective(
    std::string name, Space space, std::function<double(std::span<const std::int32_t>)> function,
    bool thread_safe) {
  HostFunction general = on_single_block<std::int32_t>(name, space, std::move(function),
                                                       "a permutation, integers or categories");
  return make_host_objective(std::move(name), std::move(space), std::move(general), thread_safe);
}

}  // namespace kiln
