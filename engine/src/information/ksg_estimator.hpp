// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/information/information_map.hpp"
#include "kiln/information/options.hpp"
#include "kiln/queue.hpp"

#include "columns.hpp"
#include "surrogate_plan.hpp"

namespace kiln {

struct KsgPlan;

/// The estimator of tasks.
struct KsgRequest {
  std::int32_t k = 4;
  std::vector<std::int32_t> other_k =
      {};  ///< numbers of neighbours for which values are given, too
  SurrogatePlan surrogates = {};
  bool local = false;  ///< whether to give the values of all points
};

struct KsgAnswer {
  std::vector<InformationEstimate> estimates;   ///< [task]
  std::vector<std::vector<double>> of_other_k;  ///< [other k][task], values
};

/// Estimates by nearest neighbours, with the kernels of any backend.
class KsgEstimator {
 public:
  /// @throws InvalidArgument if there are too many rows
  KsgEstimator(const PreparedColumns& columns, const InformationOptions& options, Backend& backend);

  /// Estimates of tasks that have the same numbers of coordinates. Points are sorted once for all
  /// numbers of neighbours.
  /// @throws InvalidArgument if there are too few rows for k neighbours
  KsgAnswer estimate(const std::vector<InformationTask>& tasks, const KsgRequest& request);

  /// The least number of neighbours that a point may have.
  std::int64_t fewest_neighbors() const { return fewest_; }

 private:
  void count_neighbors(std::int32_t theiler);
  void require_neighbors(std::int32_t k) const;
  /// What a value has beside the mean over its points.
  double constant_of(const KsgPlan& plan, std::int32_t k) const;
  void read_sums(const KsgPlan& plan, const KsgRequest& request,
                 const std::vector<std::int64_t>& sums, KsgAnswer& answer) const;

  const PreparedColumns& columns_;
  const InformationOptions& options_;
  std::unique_ptr<Queue> queue_;
  std::int64_t n_ = 0;
  std::int64_t fewest_ = 0;
  double mean_psi_ = 0;      ///< of psi(1 + neighbours that a point may have)
  std::vector<double> psi_;  ///< psi(1), psi(2), ...
  DeviceArray<double> series_;
  DeviceArray<std::int32_t> times_;
  DeviceArray<std::int64_t> psi_table_;
};

}  // namespace kiln
