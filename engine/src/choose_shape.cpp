// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Every number here was measured on H200s, or on CPUs, where no other reason is given.
#include <algorithm>
#include <bit>

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

// A vector of the CPU holds 16 words, and a sweep of 16 takes hardly twice the time of one: a
// thread has them all where a sweep is short. Models of more than 5000 variables have fewer, so
// that an anneal takes no longer. Each thread has a word as long as the states fit into 64 MiB.
std::int64_t replicas_by_planes(const WorkShape& work, std::int64_t threads) {
  constexpr std::int64_t vector = 16, fewest = 4, short_sweep = 5000;
  constexpr std::int64_t max_cells = std::int64_t{1} << 24;  // words of all variables
  const std::int64_t variables = std::max<std::int64_t>(1, work.variables);
  const std::int64_t each = std::clamp<std::int64_t>(vector * short_sweep / variables, 1, vector);
  const auto of_thread =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(each)));
  return word * std::max(fewest, std::min(of_thread * threads, max_cells / variables));
}

std::int64_t replicas_on_cpu(const WorkShape& work, std::int64_t threads) {
  if (work.by_planes) return replicas_by_planes(work, threads);
  switch (work.unit) {
    case WorkUnit::host_call:
      return 32;
    case WorkUnit::search:
      return searches(work, 8, 1e9);
    default:
      return 128;
  }
}

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
    case WorkUnit::search:
      return searches(work, 8 * multiprocessors, 8e9);
    case WorkUnit::host_call:
    case WorkUnit::evaluation:
      break;
  }
  return replicas_on_cpu(work, 1);
}

}  // namespace

ShapeChoice choose_shape(const WorkShape& work, const DeviceShape& device) {
  const bool dense = is_dense(work, device);
  const std::int64_t replicas = device.gpu ? replicas_on_gpu(work, dense, device.parallel_units)
                                           : replicas_on_cpu(work, device.parallel_units);
  return {std::max<std::int64_t>(1, replicas), dense};
}

}  // namespace kiln
