// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/device/covariance.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/surrogate/acquisition_gradient.hpp"
#include "kiln/kernels/surrogate/evidence_gradient.hpp"
#include "kiln/models/similarity.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Bounds, prior and initial value of the fit of a hyperparameter.
struct HyperRange {
  double low = 0;
  double high = 0;
  HyperPrior prior = {};
  double start = 1;

  /// A known hyperparameter, which is not fitted.
  static HyperRange fixed(double value) { return {value, value, {}, value}; }
};

/// The prior of a Gaussian process and the options of its fit. Targets are standardised first:
/// variances are in units of the variance of the targets.
struct KILN_API GaussianProcessOptions {
  CovarianceKind covariance = CovarianceKind::matern52;
  bool axis_lengths = true;  ///< a length scale for each coordinate, else a shared one
  /// A constant mean by generalised least squares, else the mean of the data
  bool fitted_mean = true;
  HyperRange length, variance, noise, alpha;
  HyperRange category;        ///< length scales of categorical coordinates, with axis_lengths
  std::int64_t restarts = 8;  ///< initial points of each fit, at least 1
  std::int32_t iterations = 60;
  /// Largest number of observations for the fit of hyperparameters, evenly taken from all; the
  /// process is conditioned on all of them.
  std::int64_t fit_points = 2000;
  std::uint64_t seed = 1;

  /// Presets for inputs scaled to [0, 1]: "weak" (lengths around the square root of the dimension,
  /// by factors of e^3, and around each other by factors of e), "dimension-scaled" (the same,
  /// narrower, with a variance of 1), "gamma" (the older standard of the field), "trust-region"
  /// (wide bounds, no prior), "none" (the same, wider: maximum likelihood). All but the last have a
  /// separate prior for categories.
  /// @throws InvalidArgument for another name or a dimension below 1.
  /// @par Source  Hvarfner, Hellsten, Nardi, ICML (2024), arXiv 2402.02746; Eriksson, Pearce,
  /// Gardner, Turner, Poloczek, NeurIPS 32 (2019).
  static GaussianProcessOptions preset(const std::string& name, std::int64_t dimension);
};

/// The observations of one process.
struct Observations {
  std::vector<double> points;  ///< [n][dimension], point by point; categories as numbers
  std::vector<double> values;  ///< [n], finite
};

/// Fitted hyper-parameters of a process.
struct Hyperparameters {
  std::vector<double> lengths;  ///< [dimension], or one
  double variance = 0;          ///< in units of the variance of the targets, like the noise
  double noise = 0;
  double alpha = 1;     ///< of the rational quadratic
  double evidence = 0;  ///< logarithm of marginal likelihood times priors
};

/// Predictions of one process at points, in units of its observations.
struct Predictions {
  std::vector<double> mean;
  std::vector<double> variance;  ///< of the latent function, without noise
};

/// Pending points, which count as observed although their values are not known yet. One or several
/// lists hold their assumed values, in units of the observations.
struct PendingPoints {
  std::vector<double> points;               ///< [p][dimension]
  std::vector<std::vector<double>> values;  ///< [lists][p]
};

/// Many Gaussian processes at once, each with separate observations and hyperparameters. They are
/// fitted by maximum a posteriori from many initial points in one batch of L-BFGS, and factored and
/// queried together.
///
/// All have the same number of coordinates, the same kind of covariance and the same priors. All
/// data lie on the device of the queue, which must outlive the object. Not thread-safe.
class KILN_API GaussianProcess {
 public:
  /// @param queue  must outlive this object
  /// @param dimension  coordinates of a point
  /// @param options  the same for all processes
  /// @param categorical  for each coordinate, whether its values are categories; empty: none.
  /// @param similarity  for each coordinate, the similarity of its categories 0, 1, ...; empty:
  /// unknown for all.
  /// @throws InvalidArgument for options that contradict each other, and for an invalid similarity.
  GaussianProcess(Queue& queue, std::int64_t dimension, GaussianProcessOptions options,
                  std::vector<std::uint8_t> categorical = {},
                  std::vector<CategorySimilarity> similarity = {});
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// Replaces the observations. If the number of processes stays the same, they keep their
  /// hyperparameters as the first initial point of the next fit; else these are discarded.
  /// @throws InvalidArgument if there are none, or numbers are not finite or do not form points.
  void observe(const std::vector<Observations>& all);
  /// Fits hyperparameters; the process is then conditioned on its observations.
  /// @param restarts  of this fit; 0: the number in the options.
  void fit(std::int64_t restarts = 0);
  /// Conditions on the observations with given hyperparameters.
  /// @throws InvalidArgument for a wrong number, or values that are not greater than 0.
  void set_hyperparameters(const std::vector<Hyperparameters>& all);
  /// Conditions on pending points, too: [processes], all with the same number of lists; empty:
  /// none. Uses the hyperparameters of earlier observations, or remembered ones, unchanged.
  /// @throws InvalidArgument if there are no hyperparameters, or lists do not fit the points.
  void condition(const std::vector<PendingPoints>& pending = {});

  std::int64_t processes() const noexcept;
  std::int64_t dimension() const noexcept;
  std::vector<Hyperparameters> hyperparameters() const;
  // The following functions throw InvalidArgument for an invalid process, for one that was not
  // conditioned on its present observations, and for numbers that do not form points.
  /// Predicts a process at points [m][dimension]. Pending points count with their first list.
  Predictions predict(std::int64_t process, const std::vector<double>& points) const;
  /// Predicts each observation from the others, with noise.
  /// @par Source  Rasmussen, Williams, Gaussian Processes for Machine Learning, 5.4.2.
  Predictions leave_one_out(std::int64_t process) const;
  /// Draws functions from the posterior of a process at points [m][dimension]. Use few points: it
  /// factors their joint distribution. @return [draws][m]
  std::vector<std::vector<double>> sample(std::int64_t process, const std::vector<double>& points,
                                          std::int64_t draws, std::uint64_t seed) const;

  /// Draws functions from the posteriors at many points, by pathwise conditioning: linear in the
  /// number of points.
  /// @param points  [processes][dimension][m], one coordinate of all points after the other
  /// @param m  points of each process
  /// @param draws  functions of each process
  /// @param keys  of the draws of each process
  /// @return [processes][draws][m], in units of the observations
  std::vector<double> draw_paths(const std::vector<double>& points, std::int64_t m,
                                 std::int64_t draws, const std::vector<std::uint64_t>& keys) const;

  // For searches on the device.
  /// A kernel with all data of the processes filled in, `outputs` of them per study. The caller
  /// sets the points to query and the places of the results.
  AcquisitionGradient acquisition(std::int64_t outputs = 1) const;
  /// Maps standardised targets t of a process to its values y = centre + scale * t.
  struct Scale {
    double centre = 0;
    double scale = 1;
  };
  Scale scale(std::int64_t process) const;
  const GaussianProcessOptions& options() const noexcept;
  const Observations& observations(std::int64_t process) const;
  /// Warm start of the next fit of a process.
  struct Memory {
    std::vector<double> logarithms;  ///< [parameters], where the last fit ended; empty: none yet
    std::int64_t fits = 0;           ///< number of fits: the next one draws other initial points
  };
  /// The memory of each process.
  std::vector<Memory> memory() const;
  /// Restores the memory of fits made elsewhere, one for each process; empty: none.
  /// @throws InvalidArgument for memories of other processes.
  void remember(std::vector<Memory> all);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln
