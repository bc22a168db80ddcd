// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/fixtures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kiln/kernels/run/random_state.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise_family.hpp"
#include "kiln/registry.hpp"

namespace kiln::cli {
namespace {

std::vector<std::uint32_t> numbers_up_to(std::int64_t n) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

BatchShape shape_of(const Problem& problem, const DeviceShape& device) {
  const ShapeChoice choice = choose_shape(problem.objective->work_shape(), device);
  return {.replicas = choice.replicas, .groups = 1, .seed = 1};
}

// Some way down an anneal, where neither nearly all nor nearly no moves are accepted.
double middle_beta(const Problem& problem) {
  const Objective::BetaRange range = problem.objective->beta_range();
  return std::sqrt(range.hot * range.cold) * problem.scale();
}

}  // namespace

const Problem& BenchContext::problem(const std::string& name) {
  const auto found = problems_.find(name);
  if (found != problems_.end()) return found->second;
  return problems_.emplace(name, make_instance(name)).first->second;
}

Problem make_instance(const std::string& name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const Registry registry = builtin_registry();
  return registry.problem(name.substr(0, colon))
      .make(name.substr(std::min(colon + 1, name.size())));
}

const std::vector<std::string>& pairwise_instances() {
  static const std::vector<std::string> names{"gset:G1", "gset:G22", "torus:50x40,1", "k2000"};
  return names;
}

const std::vector<std::string>& potts_instances() {
  static const std::vector<std::string> names{"potts:50x40,3,1", "coloring:250,0.5,28,1"};
  return names;
}

Problem bench_family() {
  PairwiseFamily family;
  family.base.couplings = problems::torus_pm1(50, 40, 1).edges;
  family.base.n = family.term.n = 2000;
  family.term.fields.assign(2000, 0.0);
  for (std::size_t i = 0; i < family.term.fields.size(); i += 2) family.term.fields[i] = 1;
  return make_pairwise_family(std::move(family), "torus with a field");
}

ObjectiveBatch::ObjectiveBatch(BenchContext& context, const std::string& instance)
    : ObjectiveBatch(context, context.problem(instance)) {}

ObjectiveBatch::ObjectiveBatch(BenchContext& context, const Problem& problem)
    : batch_(context.queue(), problem.objective->space(), problem.objective->execution().layouts,
             shape_of(problem, context.queue().device_shape())),
      objective_(problem.objective->bind(context.queue())),
      control_(context.queue(), std::vector<RunControl>{{}}),
      beta_(context.queue(), std::vector<double>{middle_beta(problem)}),
      inverse_scale_(1 / problem.scale()) {
  Queue& queue = context.queue();
  objective_->prepare(batch_, queue);
  queue.launch(RandomState{batch_.state(0), 0, batch_.rung_of(), {}, batch_.draw_ids(), control()});
  objective_->as<Evaluates>()->evaluate({batch_, batch_.energy(), {}, control()}, queue);
}

BlockBatch::BlockBatch(Queue& queue, const Block& block, Layout layout, std::int64_t slots)
    : memory_(queue, static_cast<std::int64_t>(block_bytes(block, layout, slots))),
      block_{memory_.data(), block.count, slots, layout, block.kind, block.lower, block.upper},
      key_(queue, std::vector<std::uint64_t>(static_cast<std::size_t>(slots), 1)),
      replica_(queue, numbers_up_to(slots)),
      rung_(queue, std::vector<std::int32_t>(static_cast<std::size_t>(slots), 0)),
      control_(queue, std::vector<RunControl>{{}}) {
  memory_.zero();
  queue.launch(RandomState{block_, 0, rung_of(), {}, draw_ids(), control()});
}

}  // namespace kiln::cli
