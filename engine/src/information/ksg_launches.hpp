// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/information/options.hpp"
#include "kiln/kernels/information/delay_embedding.hpp"
#include "kiln/kernels/information/ksg_points.hpp"
#include "kiln/queue.hpp"

#include "ksg_plan.hpp"
#include "surrogate_plan.hpp"

namespace kiln {

/// What the launches of all plans read.
struct KsgInputs {
  View2<const double> series;       ///< [column][length]
  View1<const std::int32_t> times;  ///< [n]
  View1<const std::int64_t> psi;    ///< [n + 1], see KsgCounts
  const InformationOptions& options;
};

/// Runs the problems of a plan on a device, in chunks that fit its memory. Orders of points, and
/// the axes that no surrogate changes, are made once.
class KsgLaunches {
 public:
  /// @param other_k  of problems with x as it is also for these numbers of neighbours
  KsgLaunches(const KsgPlan& plan, const KsgInputs& inputs, std::int32_t k,
              const std::vector<std::int32_t>& other_k, const SurrogatePlan& wish, bool local,
              Queue& queue);

  /// Problems that a chunk has room for.
  std::int64_t capacity() const { return capacity_; }
  /// Enqueues some problems, at most capacity().
  void run(std::int64_t first, std::int64_t count);
  /// Sums of each problem: of values and of their squares, see KsgCounts. Behind them those of the
  /// tasks' first problems for the first of the other numbers of neighbours, and so on.
  std::vector<std::int64_t> sums() const { return sums_.download(); }
  /// Counts of the points of the problem in a place of the latest chunk: [blocks][n].
  std::vector<std::int32_t> counts(std::int64_t place) const;
  /// The place in time of the points of a task.
  std::vector<std::int32_t> order(std::size_t task) const;

 private:
  std::int64_t n() const { return inputs_.times.size; }
  void embed(const std::vector<EmbeddedAxis>& axes, View2<double> target);
  void sort();
  void draw(std::int64_t first, std::int64_t count);
  void embed_problems(std::int64_t first, std::int64_t count);
  KsgPoints points(std::int64_t first, std::int64_t count);
  void search(const KsgPoints& points, std::int32_t k, std::int64_t first_sum);

  const KsgPlan& plan_;
  const KsgInputs& inputs_;
  const std::int32_t k_;
  const std::vector<std::int32_t>& other_k_;
  const SurrogatePlan& wish_;
  Queue& queue_;
  const std::int64_t capacity_;
  DeviceArray<std::uint8_t> room_;
  DeviceArray<std::int32_t> orders_;  ///< [order][n]
  DeviceArray<double> axes_;          ///< [fixed axes, then changing() of each problem][n]
  DeviceArray<std::int32_t> places_;  ///< [capacity][n], of surrogates
  DeviceArray<double> radius_, extent_y_, extent_x_;  ///< [capacity][n]
  DeviceArray<std::int32_t> counts_;                  ///< [capacity * blocks][n]
  DeviceArray<std::int64_t> sums_;                    ///< [problem, then others][2]
  std::int64_t first_drawn_ = 0;                      ///< surrogate in the first row of places_
  // Of the latest chunk; a device may still read them.
  DeviceArray<EmbeddedAxis> embedding_;
  DeviceArray<std::int32_t> rows_, search_, natural_, order_of_;
};

}  // namespace kiln
