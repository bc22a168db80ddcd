// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <exception>
#include <limits>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/objective.hpp"
#include "kiln/problem.hpp"

namespace kiln {
namespace {

Layout layout_for(const Block& block) {
  switch (block.kind) {
    case BlockKind::spin:
    case BlockKind::binary:
      return Layout::i8;
    case BlockKind::real:
      return Layout::f64;
    default:
      return Layout::i32;
  }
}

class BoundHostObjective final : public BoundObjective {
 public:
  BoundHostObjective(std::string name, HostFunction function, bool thread_safe)
      : name_(std::move(name)), function_(std::move(function)), thread_safe_(thread_safe) {}

  void evaluate(const EvaluateArgs& args, Queue& queue) override {
    // The task runs at once on the CPU backend, so control can be read here.
    if (args.control != nullptr && args.control->stop != DeviceStop::none) return;
    const ReplicaBatch& batch = args.batch;
    const View1<std::int32_t> rung_of = args.batch.rung_of();
    const auto one = [&](std::int64_t slot) {
      if (args.only && args.only[rung_of[slot]] == 0) return;
      args.energy[slot] = call(batch, slot);
    };
    if (thread_safe_) {
      queue.for_each_on_host(batch.replicas(), one);
    } else {
      for (std::int64_t slot = 0; slot < batch.replicas(); ++slot) one(slot);
    }
  }

 private:
  double call(const ReplicaBatch& batch, std::int64_t slot) const {
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
    try {
      const std::vector<BlockSpan> spans = spans_of(state);
      const double value = function_(spans);
      // Minus infinity would be better than every answer; all that is not finite is alike.
      return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw ObjectiveError("objective.threw",
                           "objective '" + name_ + "' threw an exception: " + error.what());
    } catch (...) {
      throw ObjectiveError("objective.threw",
                           "objective '" + name_ + "' threw something that is no std::exception");
    }
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
  HostFunction function_;
  bool thread_safe_;
};

class HostObjective final : public Objective {
 public:
  HostObjective(std::string name, Space space, HostFunction function, bool thread_safe)
      : name_(std::move(name)),
        space_(std::move(space)),
        function_(std::move(function)),
        thread_safe_(thread_safe) {
    if (!function_) throw InvalidArgument("objective.empty", "objective '" + name_ + "' is empty");
  }

  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Abilities abilities() const override {
    Abilities abilities;
    abilities.pace = Pace::host;
    for (const Block& block : space_.blocks()) abilities.layouts.push_back(layout_for(block));
    return abilities;
  }
  std::function<double(StateSpan)> reference() const override { return function_; }
  std::unique_ptr<BoundObjective> bind(Queue&) const override {
    return std::make_unique<BoundHostObjective>(name_, function_, thread_safe_);
  }

 private:
  std::string name_;
  Space space_;
  HostFunction function_;
  bool thread_safe_;
};

/// The single block of `space` as a span of T, or an error that says what the space has instead.
template <class T>
HostFunction on_single_block(const std::string& name, const Space& space,
                             std::function<double(std::span<const T>)> function,
                             const char* wanted) {
  const bool single = space.blocks().size() == 1;
  const Layout layout = single ? layout_for(space.blocks().front()) : Layout::i8;
  const bool fits =
      single && (std::is_same_v<T, double> ? layout == Layout::f64 : layout == Layout::i32);
  if (!fits) {
    throw InvalidArgument("objective.space", "objective '" + name + "' takes " + wanted +
                                                 ", but its space is not a single block of that");
  }
  if (!function) return {};
  return [function = std::move(function)](StateSpan state) {
    return function(std::get<std::span<const T>>(state.front()));
  };
}

}  // namespace

std::shared_ptr<const Objective> make_host_objective(std::string name, Space space,
                                                     HostFunction function, bool thread_safe) {
  return std::make_shared<HostObjective>(std::move(name), std::move(space), std::move(function),
                                         thread_safe);
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
  HostFunction general = on_single_block<std::int32_t>(
      name, space, std::move(function), "one permutation, or integers or categories");
  return make_host_objective(std::move(name), std::move(space), std::move(general), thread_safe);
}

}  // namespace kiln
