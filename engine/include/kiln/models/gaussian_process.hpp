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

/// Bounds, prior and start of the fit of a hyper-parameter.
struct HyperRange {
  double low = 0;
  double high = 0;
  HyperPrior prior = {};
  double start = 1;

  /// A parameter that is known.
  static HyperRange fixed(double value) { return {value, value, {}, value}; }
};

/// The prior of a Gaussian process and how it is fitted. Targets are standardised before they are
/// seen: variances are in units of that of the targets.
struct KILN_API GaussianProcessOptions {
  CovarianceKind covariance = CovarianceKind::matern52;
  bool axis_lengths = true;  ///< a length scale for each coordinate, else one for all
  bool fitted_mean = true;  ///< a constant mean by generalised least squares, else that of the data
  HyperRange length, variance, noise, alpha;
  HyperRange category;  ///< the length scales of categorical coordinates, where axes have their own
  std::int64_t restarts = 8;  ///< starts of each fit, at least 1
  std::int32_t iterations = 60;
  /// Observations that hyper-parameters are fitted to, at most, evenly taken from all; the process
  /// is conditioned on all of them.
  std::int64_t fit_points = 2000;
  std::uint64_t seed = 1;

  /// A set of priors for inputs scaled to [0, 1]:
  /// "weak" (lengths around the square root of the dimension, by factors of e^3, and around each
  /// other by factors of e),
  /// "dimension-scaled" (the same, narrower, with a variance of 1), "gamma" (the older standard of
  /// the field), "trust-region" (wide bounds, no prior), "none" (the same, wider: maximum
  /// likelihood). In all but the last, categories have a prior of their own.
  /// @throws InvalidArgument for another name or a dimension below 1.
  /// @par Source  Hvarfner, Hellsten, Nardi, ICML (2024), arXiv 2402.02746; Eriksson, Pearce,
  /// Gardner, Turner, Poloczek, NeurIPS 32 (2019).
  static GaussianProcessOptions preset(const std::string& name, std::int64_t dimension);
};

/// The observations of one process.
struct Observations {
  std::vector<double> points;  ///< [n][dimension], a point after another; categories as numbers
  std::vector<double> values;  ///< [n], finite
};

/// Fitted hyper-parameters of a process.
struct Hyperparameters {
  std::vector<double> lengths;  ///< [dimension], or one
  double variance = 0;          ///< in units of the variance of the targets, like the noise
  double noise = 0;
  double alpha = 1;     ///< of the rational quadratic
  double evidence = 0;  ///< logarithm of the evidence and the priors
};

/// Predictions of one process at points, in units of its observations.
struct Predictions {
  std::vector<double> mean;
  std::vector<double> variance;  ///< of the function, without noise
};

/// Points that count as observed although nothing is known of their values yet: what they might be
/// is given in one or several lists, in units of the observations.
struct PendingPoints {
  std::vector<double> points;               ///< [p][dimension]
  std::vector<std::vector<double>> values;  ///< [lists][p]
};

/// Many Gaussian processes at once, each with observations and hyper-parameters of its own: fitted
/// by maximum a posteriori from many starts in one batch of L-BFGS, factored and asked together.
///
/// All of them have as many coordinates, the same kind of covariance and the same priors.
/// Everything lies on the device of the queue, which must outlive the object. Not for several
/// threads at once.
class KILN_API GaussianProcess {
 public:
  /// @param categorical  of each coordinate, whether its values are categories; empty: none.
  /// @param similarity  of each coordinate, how alike its categories 0, 1, ... are; empty: nothing
  /// is known of any.
  /// @throws InvalidArgument for options that contradict each other, and for what is no similarity.
  GaussianProcess(Queue& queue, std::int64_t dimension, GaussianProcessOptions options,
                  std::vector<std::uint8_t> categorical = {},
                  std::vector<CategorySimilarity> similarity = {});
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// Replaces the observations. Processes keep their hyper-parameters if there are as many as
  /// before, as the first start of the next fit; else they remember nothing.
  /// @throws InvalidArgument where there are none, or numbers are not finite or do not make points.
  void observe(const std::vector<Observations>& all);
  /// Fits hyper-parameters; the process is then conditioned on its observations.
  /// @param restarts  of this fit; 0: those of the options.
  void fit(std::int64_t restarts = 0);
  /// Conditions on the observations with given hyper-parameters.
  /// @throws InvalidArgument for a wrong number, or values that are not greater than 0.
  void set_hyperparameters(const std::vector<Hyperparameters>& all);
  /// Conditions on pending points, too: [processes], all with as many lists; empty: none.
  /// Hyper-parameters of earlier observations, or remembered ones, are taken as they are.
  /// @throws InvalidArgument where there are no hyper-parameters, or lists do not fit the points.
  void condition(const std::vector<PendingPoints>& pending = {});

  std::int64_t processes() const noexcept;
  std::int64_t dimension() const noexcept;
  std::vector<Hyperparameters> hyperparameters() const;
  // All that follow throw InvalidArgument for a process that is not there, or that was not
  // conditioned on its present observations, and for numbers that do not make points.
  /// Predictions of a process; points [m][dimension]. Pending points count with their first list.
  Predictions predict(std::int64_t process, const std::vector<double>& points) const;
  /// Each observation as the others predict it, with noise.
  /// @par Source  Rasmussen, Williams, Gaussian Processes for Machine Learning, 5.4.2.
  Predictions leave_one_out(std::int64_t process) const;
  /// Functions drawn from the posterior of a process at points [m][dimension], which are few: their
  /// joint distribution is factored. @return [draws][m]
  std::vector<std::vector<double>> sample(std::int64_t process, const std::vector<double>& points,
                                          std::int64_t draws, std::uint64_t seed) const;

  /// Functions drawn from the posteriors at many points, by pathwise conditioning: linear in the
  /// number of points.
  /// @param points  [processes][dimension][m], a coordinate of all points after another
  /// @param keys  of the draws of each process
  /// @return [processes][draws][m], in units of the observations
  std::vector<double> draw_paths(const std::vector<double>& points, std::int64_t m,
                                 std::int64_t draws, const std::vector<std::uint64_t>& keys) const;

  // For searches on the device.
  /// A kernel with everything of the processes filled in, `outputs` of them to a study. What is to
  /// be asked and where the answers go is left to the caller.
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
    std::vector<double> logarithms;  ///< [parameters], where the last ended; empty: none yet
    std::int64_t fits = 0;           ///< how many there were: the next draws other starts
  };
  /// Of each process.
  std::vector<Memory> memory() const;
  /// As if the fits had been made here, one memory for each process; empty: none had.
  /// @throws InvalidArgument for memories of other processes.
  void remember(std::vector<Memory> all);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln
