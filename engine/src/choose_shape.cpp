// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Every number here was measured on H200s, or on CPUs, where no other reason is given.
#include <algorithm>

#include "kiln/work_shape.hpp"

namespace kiln {
namespace {

constexpr std::int64_t word = 32;  // replicas of a warp

// Fields that are kept are worth their memory where at least this share of all pairs is coupled.
constexpr double dense_share = 1.0 / 16;

bool is_dense(const WorkShape& work, const DeviceShape& device) {
  const auto sites = static_cast<double>(work.sites);
  return work.matrix_weight_bytes > 0 && work.sites <= device.max_dense_sites &&
         static_cast<double>(work.entries) >= sites * sites * dense_share;
}

// A few searches side by side: what one gains by a lucky start, another loses by less time. Their
// tables must not fill the memory.
std::int64_t searches(const WorkShape& work, std::int64_t most, double max_bytes) {
  if (!(work.table_bytes > 0)) return most;
  const double fitting = max_bytes / work.table_bytes;
  return static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(most)));
}

// A vector of the CPU holds 16 words of 32 replicas, and a sweep of 16 takes one and a half times
// as long as one of 4. From 5000 variables on searches need sweeps rather than replicas. The
// threads of a machine do not matter: the same seed gives the same answer with any number of them.
std::int64_t replicas_by_planes(const WorkShape& work) { return work.variables < 5000 ? 512 : 128; }

std::int64_t replicas_on_cpu(const WorkShape& work) {
  if (work.unit == WorkUnit::oscillators) return 64;  // one pass over the couplings serves all
  if (work.by_planes) return replicas_by_planes(work);
  switch (work.unit) {
    case WorkUnit::host_call:
      return 32;
    case WorkUnit::search:
      return searches(work, 8, 1e9);
    default:
      return 128;
  }
}

constexpr std::int64_t tile_of_replicas = 128;

// Replicas of sparse models: `words` words for each multiprocessor, fewer where a model has more
// than 2000 variables. More would only make an anneal longer.
std::int64_t replicas_of_words(double words, const WorkShape& work, std::int64_t multiprocessors) {
  const double share = std::min(1.0, 2000.0 / static_cast<double>(work.variables));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(words * share)) * word *
         multiprocessors;
}

std::int64_t replicas_on_gpu(const WorkShape& work, bool dense, std::int64_t multiprocessors) {
  switch (work.unit) {
    case WorkUnit::packed_sweep:
      // The dense sweep, a block for each replica, reaches its rate with few of them.
      if (dense) return 16 * multiprocessors;
      return replicas_of_words(8, work, multiprocessors);
    case WorkUnit::byte_sweep:  // not measured
      return replicas_of_words(4, work, multiprocessors);
    case WorkUnit::parametric_sweep:  // not measured: so many warps fill a multiprocessor
      return 8 * word * multiprocessors;
    case WorkUnit::oscillators:
      // Whole tiles of tensor cores (BifurcationSteps), where they are not more than the device has
      // multiprocessors for.
      if (8 * multiprocessors >= tile_of_replicas) {
        return 8 * multiprocessors / tile_of_replicas * tile_of_replicas;
      }
      return (8 * multiprocessors + word - 1) / word * word;
    case WorkUnit::search:
      return searches(work, 8 * multiprocessors, 8e9);
    case WorkUnit::host_call:
    case WorkUnit::evaluation:
      break;
  }
  return replicas_on_cpu(work);
}

}  // namespace

ShapeChoice choose_shape(const WorkShape& work, const DeviceShape& device) {
  const bool dense = is_dense(work, device);
  const std::int64_t replicas =
      device.gpu ? replicas_on_gpu(work, dense, device.parallel_units) : replicas_on_cpu(work);
  return {std::max<std::int64_t>(1, replicas), dense};
}

}  // namespace kiln
