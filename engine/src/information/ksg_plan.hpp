// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "columns.hpp"

namespace kiln {

/// Numbers of things in the order in which they are first asked for.
template <class Key>
class Numbering {
 public:
  std::int32_t of(const Key& key) {
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<std::int32_t>(size()));
    if (is_new) keys_.push_back(key);
    return found->second;
  }
  const std::vector<Key>& keys() const { return keys_; }
  std::int64_t size() const { return std::ssize(keys_); }

 private:
  std::map<Key, std::int32_t> numbers_;
  std::vector<Key> keys_;
};

/// A coordinate of all points, which stand in one of the orders; -1: that of time.
struct AxisInOrder {
  InformationAxis axis;
  std::int32_t order = -1;
  friend auto operator<=>(const AxisInOrder&, const AxisInOrder&) = default;
};

/// A task with x as it is, or with one of its surrogates.
struct KsgProblem {
  std::size_t task = 0;
  std::int64_t surrogate = -1;
};

/// The axes that tasks with the same numbers of coordinates share, and their problems: first all
/// with x as it is, then surrogates, those of one column of x after the other.
struct KsgPlan {
  const std::vector<InformationTask>& tasks;
  std::int32_t z, y, x;                          ///< coordinates of the blocks
  bool by_extents;                               ///< the second type of estimator
  bool keeps_time;                               ///< there is a Theiler window
  Numbering<InformationAxis> orders;             ///< points are put in the order of these axes
  Numbering<AxisInOrder> axes;                   ///< those that no surrogate changes
  std::vector<std::int32_t> order_of;            ///< [task], of its points
  std::vector<std::vector<std::int32_t>> known;  ///< [task][z + y], axes in the order of the points
  std::vector<std::vector<std::int32_t>> search;   ///< [task][y + x], see KsgCounts; if z == 0
  std::vector<std::vector<std::int32_t>> natural;  ///< [task][z + y], axes in time; if keeps_time
  std::vector<KsgProblem> problems;

  /// @param tasks_  at least one; they outlive this
  KsgPlan(const std::vector<InformationTask>& tasks_, const InformationOptions& options,
          std::int64_t surrogates);

  std::int32_t dims() const { return z + y + x; }
  std::int32_t blocks() const { return z > 0 ? 3 : 2; }
  /// Axes of x of a problem: in the order of the points, and in that of time.
  std::int32_t changing() const { return keeps_time ? 2 * x : x; }
  /// The column whose surrogates a problem takes.
  std::int32_t source(const KsgProblem& problem) const {
    return tasks[problem.task].x.front().column;
  }
  /// How many problems from `first` on may be run together: at most `capacity`.
  std::int64_t run_length(std::int64_t first, std::int64_t capacity) const;

 private:
  void number(const InformationTask& task);
};

}  // namespace kiln
