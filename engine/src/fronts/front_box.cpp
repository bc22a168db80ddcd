// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What volumes are measured in.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kiln/fronts/front.hpp"
#include "kiln/kernels/run/random_state.hpp"
#include "kiln/problem.hpp"
#include "kiln/queue.hpp"
#include "kiln/replica_batch.hpp"

namespace kiln {
namespace {

constexpr double beyond_worst = 1.1;
// Of the states that a box is made from: no seed of a run changes them.
constexpr std::uint64_t box_seed = 0x626f785f6f662121ull;

// Uniform states of the space, of the same bits on every device.
std::vector<State> states_for_box(const Objective& objective, Queue& queue) {
  ReplicaBatch batch(queue, objective.space(), objective.execution().layouts,
                     {box_states, 1, box_seed});
  const DeviceArray<RunControl> control(queue, std::vector<RunControl>(1));
  std::int64_t first = 0;
  for (int b = 0; b < batch.n_blocks(); ++b) {
    const StateBlock block = batch.state(b);
    queue.launch(RandomState{block, first, batch.rung_of(), {}, batch.draw_ids(), control.data()});
    first += block.variables;
  }
  std::vector<std::int64_t> slots(box_states);
  std::iota(slots.begin(), slots.end(), std::int64_t{0});
  return batch.read_states(slots, false);
}

}  // namespace

std::vector<double> FrontBox::scaled(const std::vector<double>& values) const {
  std::vector<double> result;
  for (std::size_t k = 0; k < values.size(); ++k) {
    result.push_back((values[k] - ideal[k]) / (nadir[k] - ideal[k]));
  }
  return result;
}

std::vector<double> FrontBox::reference_values() const {
  std::vector<double> values;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    values.push_back(ideal[k] + reference[k] * (nadir[k] - ideal[k]));
  }
  return values;
}

FrontBox box_around(const Points& points) {
  FrontBox box;
  if (points.empty()) return box;
  for (std::size_t k = 0; k < points.front().size(); ++k) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const std::vector<double>& point : points) {
      if (!std::isfinite(point[k])) continue;
      least = std::min(least, point[k]);
      most = std::max(most, point[k]);
    }
    if (!(least <= most)) least = most = 0;
    box.ideal.push_back(least);
    box.nadir.push_back(most > least ? most : least + 1);
  }
  box.reference.assign(box.ideal.size(), beyond_worst);
  return box;
}

ProblemBox box_of(const Problem& problem, Queue& queue) {
  const Objectives& objectives = *problem.objectives;
  if (!objectives.ideal.empty()) {
    const std::vector<double> reference(objectives.count(), beyond_worst);
    return {{objectives.ideal, objectives.nadir, reference}, 0, 0};
  }
  ProblemBox made;
  Points points;
  for (const State& state : states_for_box(*problem.objective, queue)) {
    ObjectiveVector vector = objectives.evaluate(spans_of(state));
    const bool has_nan =
        std::isnan(vector.violation) ||
        std::ranges::any_of(vector.values, [](double value) { return std::isnan(value); });
    made.not_finite += has_nan ? 1 : 0;
    points.push_back(std::move(vector.values));
  }
  made.box = box_around(points);
  made.evaluations = box_states;
  return made;
}

}  // namespace kiln
