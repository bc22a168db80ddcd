// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "kiln/device/covariance.hpp"
#include "kiln/device/expected_length.hpp"
#include "kiln/device/team_rows.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/matrix_batch.hpp"
#include "kiln/kernels/surrogate/acquisition_values.hpp"
#include "kiln/kernels/surrogate/evidence_gradient.hpp"
#include "kiln/kernels/surrogate/gp_covariance.hpp"

namespace kiln {

/// Evaluates acquisition functions and their gradients at candidate points, directly from Gaussian
/// processes: for searches that move points, and for many candidates at once. Without a view for
/// values it only predicts.
///
/// A study has `outputs` processes on the same points: that of the objective, then one for each
/// constraint c <= 0, in sets study * outputs, study * outputs + 1, ... The value is the
/// acquisition of the first, plus the logarithm of the probability that each constraint holds (or
/// times the probability, if the acquisition is not a logarithm). Without a feasible point, best =
/// NaN, it is the probability term alone.
///
/// Processes may have several lists of weights, each with a separate best value, for different
/// assumed values of pending points. The acquisition is the mean over these lists, of the logarithm
/// if it is one: the gain of a point in addition to the pending ones.
///
/// With cells the study has several objectives, one process per side of a cell, before those of its
/// constraints. Their improvement is a volume: the value is the logarithm of the expected
/// hypervolume improvement of the front below a reference point (plus that of the constraints),
/// whatever `kind` is. The cells are disjoint boxes that fill the nondominated region below the
/// reference, see nondominated_cells(); objectives are predicted independently, each by its first
/// list.
///
/// All values are in units of the processes: standardised targets, coordinates as they were fitted.
/// Variances are those of the latent function without noise, of `min_variance` at least.
///
/// Class D: elementary functions and sums are backend-specific. A point has the same bits alone and
/// in any batch.
/// @par Source  see AcquisitionValues; pending points: Snoek, Larochelle, Adams, NeurIPS 25 (2012);
/// constraints: Gardner, Kusner, Xu, Weinberger, Cunningham, ICML (2014); volumes: Emmerich, Deutz,
/// Klinkenberg, IEEE Congress on Evolutionary Computation (2011) 2147, Ament et al., see
/// StandardImprovement.
struct KILN_API AcquisitionGradient {
  static constexpr const char* name = "acquisition_gradient";
  static constexpr const char* summary =
      "evaluates acquisition functions and their gradients at candidate points";
  static constexpr const char* accuracy = "D";
  static constexpr int max_outputs = 16;
  static constexpr int max_objectives = 4;

  CovarianceKind covariance = CovarianceKind::matern52;
  AcquisitionKind kind = AcquisitionKind::log_expected_improvement;
  std::int64_t dimension = 1;
  HyperLayout layout;
  std::int64_t outputs = 1;
  PointSets points;                          ///< [studies], those of the processes
  View1<const std::int32_t> counts;          ///< [sets], number of observations
  Axes axes;                                 ///< of the points
  View2<const double> parameter;             ///< [sets][parameters], logarithms
  View1<const double> mean;                  ///< [sets]
  MatrixBatch<const double> inverse_factor;  ///< [sets], see PosteriorWeights
  MatrixBatch<const double> weight;          ///< [sets] of [lists][n]
  View2<const double> best;                  ///< [studies][lists], the incumbent value
  View1<const double> bound;  ///< [sets], the bound 0 of a constraint in standardised units
  MatrixBatch<const double> cell_lower;   ///< [studies] of [cells][objectives]; -infinity: no end
  MatrixBatch<const double> cell_upper;   ///< the same; above the lower ends
  View1<const std::int32_t> cell_counts;  ///< [studies], number of cells; empty: all
  double confidence = 2;                  ///< weight of the deviation, for confidence_bound
  double min_variance = 1e-20;

  std::int64_t first_study = 0;
  std::int64_t items_per_study = 1;
  View2<const double> at;             ///< [items][dimension]
  View1<const std::int32_t> running;  ///< [items], items with 0 are left alone; empty: none

  // Results. An empty view is not computed.
  View1<double> value;            ///< [items]
  View2<double> gradient;         ///< [items][dimension]; 0 for categories
  MatrixBatch<double> predicted;  ///< [items] of [outputs][lists], means
  View2<double> variance;         ///< [items][outputs]

  KILN_HD std::int64_t lists() const { return weight.rows; }
  /// At most `max_objectives`.
  KILN_HD std::int64_t objectives() const { return several() ? cell_lower.columns : 1; }
  KILN_HD bool differentiates() const { return gradient.data != nullptr; }
  /// Size of a team's scratch memory.
  KILN_HD std::int64_t work_size() const {
    return (1 + outputs) * points.points + (1 + outputs) * dimension + outputs * (lists() + 2) +
           lists();
  }

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t item, double* work) const {
    if (running && running[item] == 0) return;
    Item of;
    of.item = item, of.study = first_study + item / items_per_study;
    of.n = counts ? counts[of.study * outputs] : points.points;
    of.half = work, of.solved = work + points.points;
    of.place = of.solved + outputs * points.points;
    of.inverse_length = of.place + dimension;
    of.means = of.inverse_length + outputs * dimension;
    of.variances = of.means + outputs * lists();
    of.by_variance = of.variances + outputs;
    of.by_mean = of.by_variance + outputs;
    for (std::int64_t k = team.rank(); k < dimension; k += team.size()) {
      of.place[k] = at(item, k);
      for (std::int64_t o = 0; o < outputs; ++o) {
        const std::int64_t axis = layout.lengths == 1 ? 0 : k;
        of.inverse_length[o * dimension + k] = math::exp(-parameter(set_of(of, o), axis));
      }
    }
    team.sync();
    for (std::int64_t o = 0; o < outputs; ++o) predict(team, of, o);
    show(team, of);
    if (!value) return;
    team.sync();  // the shared values are overwritten now
    const bool feasible =
        several() || best.data == nullptr || best(of.study, 0) == best(of.study, 0);
    const double gain = several()  ? log_volume(team, of)
                        : feasible ? mean_over_lists(team, of)
                                   : 0.0;
    if (team.rank() == 0) value[item] = acquire(of, feasible, gain);
    team.sync();
    if (differentiates()) differentiate(team, of);
    team.sync();
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct Item {
    std::int64_t item = 0, study = 0, n = 0;
    double* half;            // [n], L^-1 k, then coefficients
    double* solved;          // [outputs][n], covariances k, then K^-1 k
    double* place;           // [dimension]
    double* inverse_length;  // [outputs][dimension]
    double* means;           // [outputs][lists]
    double* variances;       // [outputs]
    double* by_variance;     // [outputs], of the value
    double* by_mean;         // [lists], of the value; those of other processes replace their means
  };

  KILN_HD bool several() const { return cell_lower.data != nullptr; }
  KILN_HD std::int64_t set_of(const Item& of, std::int64_t output) const {
    return of.study * outputs + output;
  }
  KILN_HD double alpha_of(std::int64_t set) const {
    return covariance == CovarianceKind::rational_quadratic
               ? math::exp(parameter(set, layout.alpha()))
               : 1.0;
  }
  KILN_HD double difference(const Item& of, std::int64_t k, std::int64_t i) const {
    return axes.difference(k, of.place[k], points(of.study, k, i));
  }
  KILN_HD double square_of_distance(const Item& of, std::int64_t output, std::int64_t i) const {
    const double* const inverse = of.inverse_length + output * dimension;
    double square = 0;
    for (std::int64_t k = 0; k < dimension; ++k) {
      const double d = difference(of, k, i) * inverse[k];
      square += d * d;
    }
    return square;
  }

  /// Computes means, variance and K^-1 k of a process.
  template <class Team>
  KILN_HD void predict(const Team& team, const Item& of, std::int64_t output) const {
    const std::int64_t set = set_of(of, output);
    const View2<const double> s = inverse_factor[set], w = weight[set];
    double* const k = of.solved + output * points.points;
    const double v = math::exp(parameter(set, layout.variance())), alpha = alpha_of(set);
    for (std::int64_t i = team.rank(); i < of.n; i += team.size()) {
      k[i] = v * correlation_slope(covariance, square_of_distance(of, output, i), alpha).value;
    }
    team.sync();
    using Rows = TeamRows<Team>;
    for (std::int64_t list = Rows::first(); list < lists(); list += Rows::step()) {
      double sum = 0;
      for (std::int64_t i = Rows::lane(); i < of.n; i += Rows::lanes()) sum += k[i] * w(list, i);
      sum = Rows::sum(sum);
      if (Rows::lane() == 0) of.means[output * lists() + list] = mean[set] + sum;
    }
    double square = 0;
    for (std::int64_t i = team.rank(); i < of.n; i += team.size()) {
      double sum = 0;
      for (std::int64_t j = 0; j <= i; ++j) sum += s(j, i) * k[j];
      of.half[i] = sum;
      square += sum * sum;
    }
    square = team.sum(square);
    if (team.rank() == 0) {
      const double left = v - square;
      of.variances[output] = left < min_variance ? min_variance : left;
    }
    team.sync();
    if (!value || !differentiates()) return;
    for (std::int64_t j = team.rank(); j < of.n; j += team.size()) {
      double sum = 0;
      for (std::int64_t i = j; i < of.n; ++i) sum += s(i, j) * of.half[i];
      k[j] = sum;
    }
    team.sync();
  }

  template <class Team>
  KILN_HD void show(const Team& team, const Item& of) const {
    if (predicted.data != nullptr) {
      const View2<double> out = predicted[of.item];
      for (std::int64_t i = team.rank(); i < outputs * lists(); i += team.size()) {
        out(i / lists(), i % lists()) = of.means[i];
      }
    }
    if (variance.data != nullptr) {
      for (std::int64_t o = team.rank(); o < outputs; o += team.size()) {
        variance(of.item, o) = of.variances[o];
      }
    }
  }

  KILN_HD static constexpr bool is_logarithm(AcquisitionKind kind) {
    return kind == AcquisitionKind::log_expected_improvement ||
           kind == AcquisitionKind::log_probability_of_improvement;
  }

  /// The value; derivatives by means and variances overwrite values that are no longer needed. For
  /// one thread of the team.
  KILN_HD double acquire(const Item& of, bool feasible, double total) const {
    const bool logarithm = several() || is_logarithm(kind) || !feasible;
    if (!feasible) {
      for (std::int64_t list = 0; list < lists(); ++list) of.by_mean[list] = 0;
      of.by_variance[0] = 0;
    }
    double holds = 0;  // logarithm of the probability of all constraints
    for (std::int64_t o = objectives(); o < outputs; ++o) {
      const double sd = math::sqrt(of.variances[o]);
      const Acquisition one(AcquisitionKind::log_probability_of_improvement, of.means[o * lists()],
                            sd, bound[set_of(of, o)], 0);
      holds += one.value;
      of.means[o * lists()] = one.by_mean;
      of.by_variance[o] = 0.5 * one.by_deviation / sd;
    }
    if (outputs == objectives()) return total;
    if (logarithm) return total + holds;
    const double probability = math::exp(holds);
    for (std::int64_t list = 0; list < lists(); ++list) of.by_mean[list] *= probability;
    of.by_variance[0] *= probability;
    for (std::int64_t o = 1; o < outputs; ++o) {
      of.means[o * lists()] *= total * probability;
      of.by_variance[o] *= total * probability;
    }
    return total * probability;
  }

  /// The logarithm of the expected hypervolume improvement: of the sum over cells of the products
  /// of the expected lengths of their sides. Threads share the cells; each scales its sum by the
  /// largest term that it has met.
  template <class Team>
  KILN_HD double log_volume(const Team& team, const Item& of) const {
    const View2<const double> lower = cell_lower[of.study], upper = cell_upper[of.study];
    const std::int64_t cells = cell_counts ? cell_counts[of.study] : lower.rows;
    const std::int64_t m = objectives();
    double largest = -infinity;
    double sums[1 + 2 * max_objectives] = {};  // volumes, then by means, then by deviations
    for (std::int64_t cell = team.rank(); cell < cells; cell += team.size()) {
      double one = 0, by[2 * max_objectives];
      for (std::int64_t o = 0; o < m; ++o) {
        const ExpectedLength side(of.means[o * lists()], math::sqrt(of.variances[o]),
                                  lower(cell, o), upper(cell, o));
        one += side.log_value;
        by[o] = side.by_mean;
        by[max_objectives + o] = side.by_deviation;
      }
      if (one > largest) {
        const double smaller = math::exp(largest - one);
        for (double& sum : sums) sum *= smaller;
        largest = one;
      }
      const double share = math::exp(one - largest);
      sums[0] += share;
      for (std::int64_t o = 0; o < m; ++o) {
        sums[1 + o] += share * by[o];
        sums[1 + max_objectives + o] += share * by[max_objectives + o];
      }
    }
    const double most = -team.least(-largest);
    const double share = largest == -infinity ? 0.0 : math::exp(largest - most);
    for (double& sum : sums) sum *= share;
    team.sum(sums);
    if (team.rank() == 0) {
      for (std::int64_t list = 1; list < lists(); ++list) of.by_mean[list] = 0;
      of.by_mean[0] = sums[1] / sums[0];
      for (std::int64_t o = 0; o < m; ++o) {
        const double sd = math::sqrt(of.variances[o]);
        if (o > 0) of.means[o * lists()] = sums[1 + o] / sums[0];
        of.by_variance[o] = 0.5 * sums[1 + max_objectives + o] / (sums[0] * sd);
      }
    }
    return most + math::log(sums[0]);
  }

  /// The acquisition of the objective: the mean over lists, or the logarithm of the mean of
  /// exponentials. Threads share the lists; the first of them gets the result.
  template <class Team>
  KILN_HD double mean_over_lists(const Team& team, const Item& of) const {
    const double sd = math::sqrt(of.variances[0]);
    const bool logarithm = is_logarithm(kind), many = lists() > 1;
    double largest = logarithm ? -infinity : 0.0;
    for (std::int64_t list = team.rank(); logarithm && list < lists(); list += team.size()) {
      const double one = of_list(of, list, sd).value;
      largest = one > largest ? one : largest;
    }
    if (logarithm && many) largest = -team.least(-largest);
    double sums[2] = {0, 0};  // values, or shares of the largest; derivatives by the deviation
    for (std::int64_t list = team.rank(); list < lists(); list += team.size()) {
      const Acquisition one = of_list(of, list, sd);
      // If all acquisition values vanish, all lists have equal weights.
      const bool equal = !logarithm || (one.value == largest && largest == -infinity);
      const double share = equal ? 1.0 : math::exp(one.value - largest);
      sums[0] += logarithm ? share : one.value;
      sums[1] += share * one.by_deviation;
      of.by_mean[list] = share * one.by_mean;
    }
    if (many) team.sum(sums);
    const auto count = static_cast<double>(lists());
    const double divisor = logarithm ? sums[0] : count;
    for (std::int64_t list = team.rank(); list < lists(); list += team.size()) {
      of.by_mean[list] /= divisor;
    }
    if (team.rank() == 0) of.by_variance[0] = 0.5 * sums[1] / (divisor * sd);
    team.sync();
    return logarithm ? largest + math::log(sums[0] / count) : sums[0] / count;
  }
  KILN_HD Acquisition of_list(const Item& of, std::int64_t list, double sd) const {
    const double least = best.data == nullptr ? 0.0 : best(of.study, list);
    return {kind, of.means[list], sd, least, confidence};
  }

  /// d value / d x = sum over processes and points of c_i dk_i / dx, where c_i has the weights of
  /// the lists by their derivatives, less twice K^-1 k by that of the variance.
  template <class Team>
  KILN_HD void differentiate(const Team& team, const Item& of) const {
    for (std::int64_t k = team.rank(); k < dimension; k += team.size()) {
      gradient(of.item, k) = 0;
    }
    team.sync();
    for (std::int64_t o = 0; o < outputs; ++o) {
      const std::int64_t set = set_of(of, o);
      const View2<const double> w = weight[set];
      const double* const solved = of.solved + o * points.points;
      const double v = math::exp(parameter(set, layout.variance())), alpha = alpha_of(set);
      for (std::int64_t i = team.rank(); i < of.n; i += team.size()) {
        double c = -2 * of.by_variance[o] * solved[i];
        if (o == 0) {
          for (std::int64_t list = 0; list < lists(); ++list) c += of.by_mean[list] * w(list, i);
        } else {
          c += of.means[o * lists()] * w(0, i);
        }
        const double square = square_of_distance(of, o, i);
        of.half[i] = -c * v * correlation_slope(covariance, square, alpha).slope;
      }
      team.sync();
      for (std::int64_t k = 0; k < dimension; ++k) {
        if (axes.is_categorical(k)) continue;
        double sum = 0;
        for (std::int64_t i = team.rank(); i < of.n; i += team.size()) {
          sum += of.half[i] * difference(of, k, i);
        }
        const double inverse = of.inverse_length[o * dimension + k];
        sum = team.sum(sum) * inverse * inverse;
        if (team.rank() == 0) gradient(of.item, k) += sum;
      }
      team.sync();
    }
  }
};

}  // namespace kiln
