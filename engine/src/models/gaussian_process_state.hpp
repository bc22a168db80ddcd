// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/kernels/linear_algebra/lbfgs_step.hpp"
#include "kiln/models/gaussian_process.hpp"

#include "models/axis_tables.hpp"

namespace kiln {

/// Growing device memory, kept while it is large enough.
template <class T>
class GrowingArray {
 public:
  /// Reserves at least `size` values; earlier contents may be lost.
  T* reserve(Queue& queue, std::int64_t size) {
    if (array_.size() < size) {
      array_ = {};
      array_ = DeviceArray<T>(queue, size);
    }
    return array_.data();
  }
  T* set(Queue& queue, const std::vector<T>& values) {
    T* const data = reserve(queue, static_cast<std::int64_t>(values.size()));
    if (!values.empty()) queue.upload(data, values.data(), values.size() * sizeof(T));
    return data;
  }
  T* data() noexcept { return array_.data(); }

 private:
  DeviceArray<T> array_;
};

/// The state of a GaussianProcess.
struct GaussianProcess::State {
  class Evidence;

  Queue* queue = nullptr;
  std::int64_t dimension = 1;
  GaussianProcessOptions options;
  AxisTables axes;
  HyperLayout layout;
  std::int64_t parameters = 0;  // of a process

  // On the host.
  std::vector<Observations> observations;
  std::vector<Scale> scales;
  std::vector<double> theta;     // [processes][parameters], logarithms; empty: never fitted
  std::vector<double> means;     // [processes], in standard units; empty: of other observations
  std::vector<double> evidence;  // [processes]; likewise
  std::vector<Memory> last;      // [processes], of the previous fits
  bool conditioned = false;      // whether the device's data belong to the observations
  bool waiting = false;          // whether there are pending points
  std::int64_t unit_rows = 0;    // of the unit matrix on the device

  // On the device: room for `room` points and `lists` lists of targets.
  std::int64_t room = 0, lists = 1;
  std::vector<std::int32_t> counts;  // [processes], pending points included
  GrowingArray<double> points, targets, matrix, factor, inverse, weights, diagonal;
  GrowingArray<double> mean, parameter, units;
  GrowingArray<std::int32_t> count;
  DeviceArray<HyperPrior> priors;

  std::int64_t processes() const { return static_cast<std::int64_t>(observations.size()); }
  PointSets point_sets();
  /// Uploads points, counts and standardised targets.
  void upload(const std::vector<PendingPoints>& pending);
  /// Removes pending points: their unknown values must not enter a fit.
  void keep_observations();
  /// The points of a process [n][dimension], including pending ones.
  std::vector<double> known_points(std::int64_t process);
  /// The logarithms of hyperparameters, as kernels read them.
  CovarianceParameters parameters_of(const double* logarithms, std::int64_t items) const {
    CovarianceParameters of;
    of.logarithms = {logarithms, items, parameters, parameters};
    of.layout = layout;
    return of;
  }
  /// Right-hand sides that are the unit vectors.
  MatrixBatch<const double> unit_matrix(std::int64_t items);
  /// Launches the kernels from covariance to weights.
  void factor_all();
  void fit(std::int64_t restarts);
  void fit_some(std::int64_t first, std::int64_t some, std::int64_t restarts);
  /// Starts the next fit from the present hyperparameters.
  void keep_hyperparameters();
  /// Takes, among the `restarts` results of each fit, the one of smallest value.
  void take_best(const std::vector<double>& ends, const std::vector<double>& values,
                 const std::vector<double>& fitted_means, std::int64_t restarts);
  /// Computes means and marginal likelihood at given hyperparameters.
  void judge();
  const HyperRange& length_range(std::int64_t k) const {
    return layout.lengths > 1 && axes.on_host().is_categorical(k) ? options.category
                                                                  : options.length;
  }
  /// [parameters], the logarithms of a member of all ranges.
  std::vector<double> logarithms_of(double HyperRange::*member) const;
};

}  // namespace kiln
