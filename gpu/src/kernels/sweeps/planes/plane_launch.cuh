// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kiln/cuda/queue.cuh"

#include "device_limits.hpp"
#include "kernels/sweeps/sweep_shape.hpp"
#include "plane_demand.hpp"
#include "plane_memory.cuh"
#include "tuned.hpp"

/// How the sweeps by planes and with shared noise choose a shape and an instance of their kernel.
///
/// A Launcher has enqueue<W, V, P, kRows>(kernel, shape, limits, queue), false where the instance
/// has too little memory; `four_words`, whether a lane may have four words of short rows;
/// tunable(), null if its shape is not tuned; table_bytes(P), what a block has beside words, states
/// and rows; and steps_of(model), what it has for each word in variables, where rows are groups.
namespace kiln::cuda {
namespace {

template <class Launcher>
std::optional<SweepShape> plane_shape_for(const MetropolisSweep& kernel, Queue& queue) {
  const std::string_view wanted = wanted_sweep_shape(queue);
  if (!wanted.empty()) {
    const std::optional<SweepShape> shape = parse_sweep_shape(wanted);
    return shape && shape->by_planes ? shape : std::nullopt;
  }
  const PairwiseView& model = kernel.model;
  const SweepLimits limits = sweep_limits_of(queue);
  SliceDemand demand;
  demand.words = kernel.state.columns;
  demand.variables = model.n_variables;
  demand.quads_per_class = model.n_sites / 4 / std::max(1, model.n_classes);
  demand.table_bytes = Launcher::table_bytes(planes_of_numbers(model));
  if (has_short_rows(model)) {
    SliceDemand with_rows = demand;
    with_rows.table_bytes += std::int64_t{model.n_sites} * 16;
    const SweepShape shape = choose_plane_shape(with_rows, limits);
    if (shape.in_shared) return shape;
    demand.words = std::min<std::int64_t>(demand.words, 2 * limits.multiprocessors);
    SweepShape two = choose_plane_shape(demand, limits);
    if (has_rows_of_four(model) && two.in_shared) {
      two.words_per_block = 2;
      return two;
    }
    demand.words = kernel.state.columns;
  }
  demand.variables += Launcher::steps_of(model);
  return choose_plane_shape(demand, limits);
}

template <class Launcher, int P, PlaneRows kRows>
bool enqueue_plane_words(const MetropolisSweep& kernel, const SweepShape& shape,
                         const SweepLimits& limits, Queue& queue) {
  const int words = shape.words_per_block;
  if constexpr (Launcher::four_words && kRows == PlaneRows::short_on_chip) {
    // Short rows are read for four words at once, where enough lanes remain busy.
    if (!has_few_sites(kernel.model, words / 2, shape.warps)) {
      if (words == 16)
        return Launcher::template enqueue<16, 4, P, kRows>(kernel, shape, limits, queue);
      if (words == 8)
        return Launcher::template enqueue<8, 4, P, kRows>(kernel, shape, limits, queue);
    }
  }
  switch (words) {
    case 16:
      return Launcher::template enqueue<16, 2, P, kRows>(kernel, shape, limits, queue);
    case 8:
      if constexpr (P > 3) {
        if (has_few_sites(kernel.model, words, shape.warps)) {
          return Launcher::template enqueue<8, 1, P, kRows>(kernel, shape, limits, queue);
        }
      }
      return Launcher::template enqueue<8, 2, P, kRows>(kernel, shape, limits, queue);
    case 4:
      return Launcher::template enqueue<4, 1, P, kRows>(kernel, shape, limits, queue);
    default:
      return Launcher::template enqueue<2, 2, P, kRows>(kernel, shape, limits, queue);
  }
}

template <class Launcher, int P>
bool enqueue_placed(const MetropolisSweep& kernel, const SweepShape& shape,
                    const SweepLimits& limits, Queue& queue) {
  if (shape.in_shared) {
    return kernel.model.staged.sites.size > 0 &&
           enqueue_plane_words<Launcher, P, PlaneRows::on_chip>(kernel, shape, limits, queue);
  }
  constexpr PlaneRows off_chip = PlaneRows::off_chip;
  const View2<std::uint32_t>& state = kernel.state;
  const bool in_pairs =
      state.stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(state.data) % 8 == 0;
  if (in_pairs) return Launcher::template enqueue<8, 2, P, off_chip>(kernel, shape, limits, queue);
  return Launcher::template enqueue<8, 1, 8, off_chip>(kernel, shape, limits, queue);
}

template <class Launcher>
bool enqueue_plane_shape(const MetropolisSweep& kernel, const SweepShape& shape, Queue& queue) {
  const SweepLimits limits = sweep_limits_of(queue);
  if (shape.in_shared && shape.words_per_block == 2 && has_rows_of_four(kernel.model) &&
      Launcher::template enqueue<2, 2, 3, PlaneRows::four_on_chip>(kernel, shape, limits, queue)) {
    return true;
  }
  constexpr PlaneRows short_rows = PlaneRows::short_on_chip;
  if (shape.in_shared && has_short_rows(kernel.model) &&
      enqueue_plane_words<Launcher, 3, short_rows>(kernel, shape, limits, queue)) {
    return true;
  }
  switch (planes_of_numbers(kernel.model)) {
    case 3:
      return enqueue_placed<Launcher, 3>(kernel, shape, limits, queue);
    case 6:
      return enqueue_placed<Launcher, 6>(kernel, shape, limits, queue);
    case 7:
      return enqueue_placed<Launcher, 7>(kernel, shape, limits, queue);
    default:
      return enqueue_placed<Launcher, 8>(kernel, shape, limits, queue);
  }
}

/// The tuned shape, for a sweep whose states stay on chip by the rule; false without one.
template <class Launcher>
bool enqueue_tuned_planes(const MetropolisSweep& kernel, const SweepShape& rule, Queue& queue) {
  const Tunable* const tunable = Launcher::tunable();
  if (tunable == nullptr || *wanted_sweep_shape(queue) != '\0') return false;
  const LaunchShape* const found = tuned(*tunable, queue, kernel.state.columns);
  if (found == nullptr) return false;
  const SweepShape shape = rule.with((*found)[0], (*found)[1]);
  if (rule.in_shared && enqueue_plane_shape<Launcher>(kernel, shape, queue)) return true;
  decline(*tunable, queue);
  return false;
}

/// Enqueues a sweep, or all sweeps of a launch; false if it cannot be one.
template <class Launcher>
bool launch_by_planes(const MetropolisSweep& kernel, Queue& queue) {
  if (!takes_planes(kernel)) return false;
  const std::optional<SweepShape> rule = plane_shape_for<Launcher>(kernel, queue);
  if (!rule) return false;
  // Where states do not stay on chip nothing is gained, and classes are launched one by one.
  if (kernel.sweeps > 1 && !rule->in_shared) return false;
  return enqueue_tuned_planes<Launcher>(kernel, *rule, queue) ||
         enqueue_plane_shape<Launcher>(kernel, *rule, queue);
}

}  // namespace
}  // namespace kiln::cuda
