// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include "group_sort.cuh"

/// The order in which nondominated_ranks takes points: none dominates one before it, and equal
/// points are neighbours.
namespace kiln::cuda {

enum PointClass : std::uint32_t { feasible = 0, infeasible = 1, unusable = 2 };

struct RankOrder {
  ObjectivePoints points;

  __device__ SortEntry entry(std::int32_t column) const {
    const std::uint64_t key = points.first_key(column);
    if (key == ObjectivePoints::key_of_nan) return {0, unusable, column};
    if (key != 0) return {key, infeasible, column};
    return {ObjectivePoints::order_of(points.value(0, column)), feasible, column};
  }
  /// -1, 0 or 1; 0 for points that always share a front.
  __device__ int compare(const SortEntry& a, const SortEntry& b) const {
    if (a.first != b.first) return a.first < b.first ? -1 : 1;
    if (a.key != b.key) return a.key < b.key ? -1 : 1;
    if (a.first != feasible) return 0;
    for (std::int64_t k = 1; k < points.objectives(); ++k) {
      const double x = points.value(k, a.column), y = points.value(k, b.column);
      if (x != y) return x < y ? -1 : 1;
    }
    return 0;
  }
  __device__ bool before(const SortEntry& a, const SortEntry& b) const {
    const int order = compare(a, b);
    return order != 0 ? order < 0 : a.column < b.column;
  }
};

/// The scratch memory of a launch for large groups. Places are columns in sorted order.
struct RankScratch {
  struct GroupState {
    int feasible, ranked, fronts;
  };
  static constexpr int tile = 128;  // places whose ranks are settled together

  unsigned* ticket;            // the next tile to take
  GroupState* groups;          // [groups]
  SortEntry *entries, *spare;  // [columns]
  std::uint64_t* further;      // [objectives - 1][columns], ordered as the values; ~0 where a point
                               // does not count: it repeats another one, or is not feasible
  int* rank;                   // [columns], by place; below 0: not known yet
  std::uint64_t* least;        // two objectives: [columns], least second value of each front
  std::uint8_t* chains;        // two objectives: [columns][tile]
  std::int64_t columns;
  std::size_t header_bytes;  // bytes zeroed at the start: ticket and groups

  RankScratch(const NondominatedRanks& kernel, std::int64_t n_columns) : columns(n_columns) {
    std::byte* next = kernel.scratch.data;
    const auto take = [&](std::int64_t bytes) {
      std::byte* const begin = next;
      next += (bytes + 255) / 256 * 256;
      return begin;
    };
    const std::int64_t objectives = kernel.points.objectives();
    ticket = reinterpret_cast<unsigned*>(take(256));
    groups = reinterpret_cast<GroupState*>(
        take(static_cast<std::int64_t>(sizeof(GroupState)) * kernel.points.groups.groups));
    header_bytes = static_cast<std::size_t>(next - kernel.scratch.data);
    const auto entry_bytes = static_cast<std::int64_t>(sizeof(SortEntry)) * columns;
    entries = reinterpret_cast<SortEntry*>(take(entry_bytes));
    spare = reinterpret_cast<SortEntry*>(take(entry_bytes));
    further = reinterpret_cast<std::uint64_t*>(take(8 * (objectives - 1) * columns));
    rank = reinterpret_cast<int*>(take(4 * columns));
    chains = reinterpret_cast<std::uint8_t*>(take(objectives == 2 ? tile * columns : 0));
    least = nullptr;
  }
  /// Called after the sort with the array of the result; the other one is reused.
  void sorted_in(SortEntry* result) {
    if (result != entries) std::swap(entries, spare);
    least = reinterpret_cast<std::uint64_t*>(spare);
  }
};
static_assert(sizeof(SortEntry) == 16 && sizeof(RankScratch::GroupState) <= 16);

}  // namespace kiln::cuda
