// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_tabu.hpp"

#include <memory>

#include "kiln/device/exact_math.hpp"
#include "kiln/objectives/coloring.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace coloring_tabu_bench {

constexpr std::uint32_t moves = 128;

struct Searches {
  Searches(BenchContext& context, const std::string& instance)
      : batch(context, instance),
        model(context.problem(instance).objective->as<ColoringModelled>()->coloring_model()),
        row_begin(context.queue(), model.row_begin),
        neighbor(context.queue(), model.neighbor),
        walk(context.queue(), std::vector<ColoringWalk>(count())),
        color(context.queue(), replicas() * model.vertices),
        adjacent(context.queue(), replicas() * model.vertices * model.values),
        tabu(context.queue(), replicas() * model.vertices * model.values),
        conflicts(context.queue(), replicas() * ColoringTabu::words_of(model.vertices)),
        control(context.queue(), std::vector<RunControl>{known()}) {
    color.zero(), adjacent.zero(), tabu.zero(), conflicts.zero();
    batch.batch().write_states({State{model.first}});
  }
  std::int64_t replicas() { return batch.batch().replicas(); }
  std::size_t count() { return static_cast<std::size_t>(replicas()); }
  // A known colouring with three quarters of the colours of a greedy one: no search gets below it,
  // so that none rests.
  RunControl known() const {
    RunControl at_start;
    at_start.best_key = exact::order_key(model.values * 3 / 4);
    return at_start;
  }
  ColoringTabu kernel() {
    const StateBlock block = batch.batch().state(0);
    ColoringTabu kernel;
    kernel.model = {model.vertices, model.values, true, row_begin.view(), neighbor.view()};
    kernel.state = {.words = {block.as<std::int32_t>(), block.variables, block.slots, block.slots}};
    kernel.energy = batch.batch().energy();
    kernel.walk = walk.view();
    kernel.color = color.view();
    kernel.adjacent = adjacent.view();
    kernel.tabu = tabu.view();
    kernel.conflicts = conflicts.view();
    kernel.draw_ids = batch.batch().draw_ids();
    kernel.control = control.data();
    kernel.moves = moves;
    return kernel;
  }

  ObjectiveBatch batch;
  const ColoringModel& model;
  DeviceArray<std::int64_t> row_begin;
  DeviceArray<std::int32_t> neighbor;
  DeviceArray<ColoringWalk> walk;
  DeviceArray<std::int32_t> color, adjacent;
  DeviceArray<std::uint32_t> tabu;
  DeviceArray<std::uint64_t> conflicts;
  DeviceArray<RunControl> control;
};

KernelCase case_of(const std::string& instance) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    const auto data = std::make_shared<Searches>(context, instance);
    Queue& queue = context.queue();
    const auto launch = [data, &queue](std::uint32_t step) {
      ColoringTabu kernel = data->kernel();
      kernel.first_move = step * moves;
      queue.launch(kernel);
    };
    PreparedKernel prepared{{launch}, data->batch.state_bytes()};
    prepared.attempts = static_cast<double>(data->replicas()) * moves;
    prepared.replicas = data->replicas();
    return prepared;
  };
  return {instance, prepare};
}

}  // namespace coloring_tabu_bench

template <>
std::vector<KernelCase> bench_cases<ColoringTabu>() {
  using namespace coloring_tabu_bench;
  return {case_of("coloring:125,50,min,1"), case_of("coloring:500,50,min,1")};
}

}  // namespace kiln::cli
