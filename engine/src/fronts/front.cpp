// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fronts/front.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "kiln/fronts/indicators.hpp"
#include "kiln/kernels/fronts/hypervolume.hpp"
#include "kiln/problem.hpp"
#include "kiln/queue.hpp"

namespace kiln {
namespace {

constexpr std::size_t max_nearest = 100;

bool agrees(double claimed, double recomputed) {
  if (std::isnan(claimed) || std::isnan(recomputed)) {
    return std::isnan(claimed) == std::isnan(recomputed);
  }
  if (claimed == recomputed) return true;  // also infinities
  return std::abs(claimed - recomputed) <= 1e-9 * std::max(1.0, std::abs(recomputed));
}

// Volume and half of its interval.
std::pair<double, double> volume_of(const Points& scaled, const std::vector<double>& reference,
                                    Queue& queue) {
  if (scaled.empty()) return {0, 0};
  const auto rows = static_cast<std::int64_t>(reference.size());
  const auto columns = static_cast<std::int64_t>(scaled.size());
  std::vector<double> values;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    for (const std::vector<double>& point : scaled) values.push_back(point[k]);
  }
  DeviceArray<double> points(queue, values), bound(queue, reference), volume(queue, 1),
      half_width(queue, 1);
  const PointGroups groups{1, columns, {}};
  DeviceArray<std::byte> scratch(queue, Hypervolume::scratch_bytes(groups, columns, rows));
  Hypervolume kernel;
  kernel.value = {points.data(), rows, columns, columns};
  kernel.groups = groups;
  kernel.reference = bound.view();
  kernel.volume = volume.view();
  kernel.half_width = half_width.view();
  kernel.scratch = scratch.view();
  queue.launch(kernel);
  return {volume.download().front(), half_width.download().front()};
}

// The places of feasible candidates, and what is said of the others.
std::vector<std::size_t> feasible_ones(const std::vector<ObjectiveVector>& vectors, Front& front) {
  std::vector<std::size_t> places;
  front.min_violation = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const double violation = vectors[i].violation;
    if (violation <= 0) {
      places.push_back(i);
    } else {
      ++front.infeasible;
    }
    front.min_violation = std::min(front.min_violation, std::max(violation, 0.0));
  }
  return places;
}

// What there is where nothing is feasible; states without a number say nothing.
std::vector<FrontMember> nearest_ones(const std::vector<ObjectiveVector>& vectors,
                                      std::vector<State>& states) {
  std::vector<FrontMember> nearest;
  const auto has_nan = [](const ObjectiveVector& v) {
    return std::isnan(v.violation) ||
           std::ranges::any_of(v.values, [](double x) { return std::isnan(x); });
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (!has_nan(vectors[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return vectors[i].violation; });
  for (const std::size_t i : order) {
    if (nearest.size() == max_nearest) break;
    const bool copy = std::ranges::any_of(
        nearest, [&](const FrontMember& member) { return member.state == states[i]; });
    if (copy) continue;
    nearest.push_back({vectors[i].values, states[i], vectors[i].violation});
  }
  return nearest;
}

// Ascending by the first objective as it is shown, of equals by the next one.
bool shown_before(const FrontMember& a, const FrontMember& b, const std::vector<bool>& maximized) {
  for (std::size_t k = 0; k < maximized.size(); ++k) {
    if (a.values[k] != b.values[k]) return (a.values[k] < b.values[k]) != maximized[k];
  }
  return false;
}

void take_members(const std::vector<ObjectiveVector>& vectors, std::vector<State>& states,
                  Front& front) {
  const std::vector<std::size_t> places = feasible_ones(vectors, front);
  if (places.empty()) front.nearest = nearest_ones(vectors, states);
  Points points;
  for (const std::size_t i : places) points.push_back(vectors[i].values);
  for (const std::size_t i : nondominated(points)) {
    front.members.push_back({points[i], std::move(states[places[i]]), 0});
  }
  std::stable_sort(front.members.begin(), front.members.end(), [&](const auto& a, const auto& b) {
    return shown_before(a, b, front.maximized);
  });
  const auto equal = [](const auto& a, const auto& b) { return a.values == b.values; };
  front.members.erase(std::unique(front.members.begin(), front.members.end(), equal),
                      front.members.end());
}

}  // namespace

Points Front::points() const {
  Points points;
  for (const FrontMember& member : members) points.push_back(member.values);
  return points;
}

Front make_front(const Problem& problem, FrontCandidates candidates, Queue& queue) {
  const Objectives& objectives = *problem.objectives;
  Front front;
  front.names = objectives.names;
  front.maximized = objectives.maximized;
  front.candidates = static_cast<std::int64_t>(candidates.states.size());
  front.verified = true;
  std::vector<ObjectiveVector> vectors;
  for (std::size_t i = 0; i < candidates.states.size(); ++i) {
    vectors.push_back(objectives.evaluate(spans_of(candidates.states[i])));
    if (!candidates.violations.empty()) {
      front.verified &= agrees(candidates.violations[i], vectors[i].violation);
    }
    if (candidates.values.empty()) continue;
    for (std::size_t k = 0; k < objectives.count(); ++k) {
      front.verified &= agrees(candidates.values[i][k], vectors[i].values[k]);
    }
  }
  take_members(vectors, candidates.states, front);
  const Points points = front.points();
  front.box = std::move(candidates.box);
  if (front.box.ideal.empty()) {
    front.box = objectives.ideal.empty() ? box_around(points) : box_of(problem, queue).box;
  }
  if (points.empty()) return front;
  Points scaled;
  for (const std::vector<double>& point : points) scaled.push_back(front.box.scaled(point));
  std::tie(front.hypervolume, front.half_width) = volume_of(scaled, front.box.reference, queue);
  front.knee = knee_point(points);
  front.chosen = compromise_point(points);
  front.extremes = extreme_points(points);
  return front;
}

}  // namespace kiln
