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

/// Estimates by nearest neighbours, with the kernels of any backend.
class KsgEstimator {
 public:
  /// @throws InvalidArgument if there are too many rows
  KsgEstimator(const PreparedColumns& columns, const InformationOptions& options, Backend& backend);

  /// Estimates of tasks that have the same numbers of coordinates.
  /// @param wish  surrogates of each task
  /// @param local  whether to give the values of all points
  /// @throws InvalidArgument if there are too few rows for k neighbours
  std::vector<InformationEstimate> estimate(const std::vector<InformationTask>& tasks,
                                            std::int32_t k, const SurrogatePlan& wish, bool local);

  /// The least number of neighbours that a point may have.
  std::int64_t fewest_neighbors() const { return fewest_; }

 private:
  void count_neighbors(std::int32_t theiler);
  void require_neighbors(std::int32_t k) const;

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
