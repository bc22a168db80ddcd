// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/math.hpp"
#include "kiln/device/path_features.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/matrix_batch.hpp"
#include "kiln/kernels/surrogate/gp_covariance.hpp"

namespace kiln {

enum class PathwiseStage : std::uint8_t {
  residual,  ///< residuals of the observations for the prior paths
  values,    ///< values of the paths at points, given solved weights
};

/// Draws functions from the posterior of Gaussian processes, evaluated at many points.
///
/// A path is a function of the prior, f(x) = sqrt(2 v / F) sum_i w_i cos(omega_i.x + b_i) with F
/// random features (PathFeatures), plus sum_j k(x, X_j) u_j, which conditions it on the
/// observations y: (K + noise) u = y - f(X) - e with e ~ N(0, noise). The stage `residual` writes
/// right-hand sides, BatchedTriangularSolve turns them into weights in place, the stage `values`
/// reads these. Its cost is linear in points, paths, features and observations. Mean and covariance
/// over paths are those of the posterior whatever F is; more features make each path more nearly
/// normal.
///
/// Item i reads set i / items_per_set, as in GpCovariance. On a categorical axis only the equality
/// or similarity of coordinates matters (Axes). Missing training points have residual 0 and do not
/// count, missing points have value NaN. Invalid hyperparameters (GpCovariance) make all of the
/// item NaN. Arguments of the cosines may be up to 2^51 turns. A path has the same bits alone and
/// in any batch.
///
/// Class D: features are the same everywhere, elementary functions and sums are backend-specific.
/// @par Source  Wilson, Borovitskiy, Terenin, Mostowsky, Deisenroth, ICML 2020, PMLR 119, 10292.
struct KILN_API PathwiseSamples {
  static constexpr const char* name = "pathwise_samples";
  static constexpr const char* summary =
      "draws functions from posteriors of Gaussian processes, and evaluates the functions at "
      "points";
  static constexpr const char* accuracy = "D";
  static constexpr const char* refusal =
      "pathwise_samples takes 1 to 2^24 features, at least one dimension, features x dimension up "
      "to "
      "2^32, and flags of categories for each axis or none";

  PathwiseStage stage = PathwiseStage::values;
  CovarianceKind kind = CovarianceKind::matern52;
  std::int64_t dimension = 1;
  std::int64_t items_per_set = 1;
  std::int64_t paths = 1;  ///< of each item
  std::int64_t features = 1024;
  PointSets training;                   ///< X
  PointSets points;                     ///< of the stage `values`
  Axes axes;                            ///< of the points
  CovarianceParameters parameters;      ///< the noise is read by the stage `residual`
  View1<const std::uint64_t> keys;      ///< [items]
  View2<const double> observed;         ///< [items][training points], y
  MatrixBatch<double> residual;         ///< [items] of [training points][paths]
  MatrixBatch<const double> weight;     ///< likewise; without data: paths of the prior
  MatrixBatch<double> value;            ///< [items] of [paths][points]
  bool by_step = false;                 ///< the step of the run also names the draws
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  KILN_HD std::int64_t items() const { return keys.size; }
  /// The points where the prior paths are evaluated.
  KILN_HD const PointSets& places() const {
    return stage == PathwiseStage::residual ? training : points;
  }
  KILN_HD bool corrects() const {
    return stage == PathwiseStage::values && weight.data != nullptr && training.points > 0;
  }

  /// Whether the launch is possible; backends refuse it otherwise: InvalidArgument.
  bool valid() const {
    return features >= 1 && features <= 1 << 24 && dimension >= 1 &&
           dimension <= (std::int64_t{1} << 32) / features &&
           (!axes.categorical || axes.categorical.size >= dimension);
  }

  KILN_HD double alpha_of(std::int64_t item) const { return parameters.alpha_of(kind, item); }
  /// v, NaN for invalid parameters of the item.
  KILN_HD double variance_of(std::int64_t item) const {
    return parameters.accepted_variance(kind, dimension, item);
  }
  /// The factor of the sum over features.
  KILN_HD double amplitude(double variance) const {
    return exact::sqrt(exact::div(exact::mul(2.0, variance), static_cast<double>(features)));
  }
  /// The factor from a frequency times a coordinate to turns.
  KILN_HD double turns_per_unit(std::int64_t k, std::int64_t item) const {
    return exact::div(1.0, exact::mul(2.0 * math::pi, parameters.length_of(k, item)));
  }
  KILN_HD PathFeatures features_of(std::int64_t item, std::int64_t path) const {
    const std::uint64_t step = by_step && control != nullptr ? control->step + step_offset : 0;
    return {kind, alpha_of(item), keys[item], step, static_cast<std::uint32_t>(path)};
  }
  /// The term of a category of axis k in place of z x (PathFeatures): for similar categories the
  /// mixture of draws with that covariance.
  KILN_HD Features4 category(const PathFeatures& of, std::uint32_t group, std::uint32_t k,
                             double x) const {
    if (!axes.is_known(k, x)) return of.category(group, k, x);
    Features4 sum = {};
    for (std::int64_t b = 0; b < axes.table[k].levels; ++b) {
      const double share = axes.factor(k, x, b);
      if (share == 0) continue;
      const Features4 z = of.category(group, k, static_cast<double>(b));
      for (int f = 0; f < 4; ++f) {
        sum.value[f] = exact::add(sum.value[f], exact::mul(share, z.value[f]));
      }
    }
    return sum;
  }

  /// Stores a value of a path of the prior, at an existing point.
  KILN_HD void store(const PathFeatures& of, std::int64_t item, std::int64_t point,
                     double prior) const {
    if (stage == PathwiseStage::values) {
      value[item](of.path, point) = prior;
      return;
    }
    const double noise = parameters.noise_of(item);
    const double error =
        noise == 0 ? 0.0 : exact::sqrt(noise) * of.noise(static_cast<std::uint32_t>(point));
    residual[item](point, of.path) = observed(item, point) - prior - error;
  }
  KILN_HD void store_missing(std::int64_t path, std::int64_t item, std::int64_t point) const {
    if (stage == PathwiseStage::values) {
      value[item](path, point) = exact::not_a_number();
    } else {
      residual[item](point, path) = 0;
    }
  }
};

}  // namespace kiln
