// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/kernels/surrogate/acquisition_gradient.hpp"

#include "backends/backends.hpp"
#include "processes/process_oracle.hpp"

/// Studies for tests of acquisition_gradient: answers by the kernel, and by the textbook.
namespace kiln::test::acquisition {

using oracle::Numbers;
using oracle::Real;
using oracle::uniform;
using oracle::Vector;
using enum AcquisitionKind;

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Studies with processes, and points that are asked for.
struct Studies {
  CovarianceKind covariance = CovarianceKind::matern52;
  AcquisitionKind kind = log_expected_improvement;
  std::int64_t dimension = 2, lengths = 2, studies = 1, outputs = 1, lists = 1, n = 12;
  std::int64_t per_study = 3, first_study = 0;
  std::vector<std::int32_t> counts, running;  ///< counts [studies]
  std::vector<std::uint8_t> categorical;
  Numbers x;                ///< [studies][dimension][n]
  Numbers y;                ///< [sets][lists][n]
  Numbers parameter, mean;  ///< [sets][parameters], [sets]
  Numbers best, bound;      ///< [studies][lists], [sets]
  Numbers at;               ///< [items][dimension]

  std::int64_t sets() const { return studies * outputs; }
  std::int64_t items() const { return static_cast<std::int64_t>(at.size()) / dimension; }
  std::int64_t parameters() const { return HyperLayout::size(lengths, covariance); }
  std::int64_t study_of(std::int64_t item) const { return first_study + item / per_study; }
  std::int64_t count(std::int64_t study) const { return counts.empty() ? n : counts[idx(study)]; }
};

struct Answers {
  Numbers value, gradient, mean, variance;
};

inline oracle::Posterior posterior(const Studies& in, std::int64_t set, std::int64_t list) {
  const std::int64_t study = set / in.outputs, p = in.parameters();
  Vector points, values;
  for (std::int64_t i = 0; i < in.count(study); ++i) {
    for (std::int64_t k = 0; k < in.dimension; ++k) {
      points.push_back(in.x[idx((study * in.dimension + k) * in.n + i)]);
    }
    values.push_back(in.y[idx((set * in.lists + list) * in.n + i)]);
  }
  const auto begin = in.parameter.begin() + set * p;
  return {{in.covariance, in.dimension, Vector(begin, begin + p), in.categorical},
          points,
          values,
          in.mean[idx(set)]};
}

// Inverses of factors, with their transposes above, and weights; NaN where no point is.
struct Conditioned {
  Numbers inverse, weight;
};
inline Conditioned condition(const Studies& in) {
  Conditioned out{Numbers(idx(in.sets() * in.n * in.n), nan),
                  Numbers(idx(in.sets() * in.lists * in.n), nan)};
  for (std::int64_t set = 0; set < in.sets(); ++set) {
    for (std::int64_t list = 0; list < in.lists; ++list) {
      const oracle::Posterior of = posterior(in, set, list);
      const Vector s = of.inverse_factor();
      const std::int64_t m = in.count(set / in.outputs);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j <= i; ++j) {
          const auto element = static_cast<double>(s[idx(i * m + j)]);
          out.inverse[idx((set * in.n + i) * in.n + j)] = element;
          out.inverse[idx((set * in.n + j) * in.n + i)] = element;
        }
        out.weight[idx((set * in.lists + list) * in.n + i)] =
            static_cast<double>(of.weights()[idx(i)]);
      }
    }
  }
  return out;
}

inline Answers ask(Queue& queue, const Studies& in, bool values = true) {
  const Conditioned known = condition(in);
  const std::int64_t items = in.items(), p = in.parameters();
  std::vector<std::int32_t> counts;
  for (std::int64_t s = 0; s < in.sets(); ++s) {
    counts.push_back(static_cast<std::int32_t>(in.count(s / in.outputs)));
  }
  const DeviceArray<double> x(queue, in.x), parameter(queue, in.parameter), mean(queue, in.mean);
  const DeviceArray<double> inverse(queue, known.inverse), weight(queue, known.weight);
  const DeviceArray<double> best(queue, in.best), bound(queue, in.bound), at(queue, in.at);
  const DeviceArray<std::int32_t> count(queue, counts), running(queue, in.running);
  const DeviceArray<std::uint8_t> categorical(queue, in.categorical);
  const auto fresh = [&](std::int64_t size) {
    return DeviceArray<double>(queue, Numbers(idx(size), 4711));
  };
  DeviceArray<double> value = fresh(items), gradient = fresh(items * in.dimension);
  DeviceArray<double> means = fresh(items * in.outputs * in.lists);
  DeviceArray<double> variances = fresh(items * in.outputs);
  AcquisitionGradient kernel;
  kernel.covariance = in.covariance;
  kernel.kind = in.kind;
  kernel.dimension = in.dimension;
  kernel.layout.lengths = in.lengths;
  kernel.outputs = in.outputs;
  kernel.points = {x.data(), in.n, in.n, in.dimension * in.n, {}};
  if (!in.counts.empty()) kernel.counts = count.view();
  kernel.axes.categorical = categorical.view();
  kernel.parameter = {parameter.data(), in.sets(), p, p};
  kernel.mean = mean.view();
  kernel.inverse_factor = MatrixBatch<const double>::dense(inverse.data(), in.sets(), in.n, in.n);
  kernel.weight = MatrixBatch<const double>::dense(weight.data(), in.sets(), in.lists, in.n);
  kernel.best = {best.data(), in.studies, in.lists, in.lists};
  kernel.bound = bound.view();
  kernel.confidence = 1.7;
  kernel.first_study = in.first_study;
  kernel.items_per_study = in.per_study;
  kernel.at = {at.data(), items, in.dimension, in.dimension};
  kernel.running = running.view();
  if (values) {
    kernel.value = value.view();
    kernel.gradient = {gradient.data(), items, in.dimension, in.dimension};
  }
  kernel.predicted = MatrixBatch<double>::dense(means.data(), items, in.outputs, in.lists);
  kernel.variance = {variances.data(), items, in.outputs, in.outputs};
  queue.launch(kernel);
  return {value.download(), gradient.download(), means.download(), variances.download()};
}

inline Studies make_studies(CovarianceKind covariance, std::int64_t dimension, std::int64_t n,
                            std::int64_t studies = 1, std::int64_t outputs = 1,
                            std::int64_t lists = 1) {
  Studies in;
  in.covariance = covariance;
  in.dimension = in.lengths = dimension;
  in.studies = studies, in.outputs = outputs, in.lists = lists, in.n = n;
  in.x = uniform(studies * dimension * n, 0, 1, 1);
  in.y = uniform(in.sets() * lists * n, -1, 1, 2);
  TestRandom random(3);
  for (std::int64_t set = 0; set < in.sets(); ++set) {
    for (std::int64_t k = 0; k < in.lengths; ++k) in.parameter.push_back(random.unit() - 0.8);
    in.parameter.push_back(random.unit() - 0.5);
    in.parameter.push_back(-3 - random.unit());
    if (covariance == CovarianceKind::rational_quadratic) in.parameter.push_back(random.unit());
  }
  in.mean = uniform(in.sets(), -0.5, 0.5, 4);
  in.best = uniform(studies * lists, -0.5, 0.5, 5);
  in.bound = uniform(in.sets(), -0.3, 0.6, 6);
  in.at = uniform(studies * in.per_study * dimension, 0, 1, 7);
  return in;
}

inline Real log_normal_cdf(Real z) { return std::log(std::erfc(-z / std::sqrt(Real(2))) / 2); }

inline Real acquisition_at(AcquisitionKind kind, Real mean, Real sd, Real best) {
  const Real z = (best - mean) / sd, cdf = std::erfc(-z / std::sqrt(Real(2))) / 2;
  const Real pdf = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(Real(-1)));
  switch (kind) {
    case expected_improvement:
      return sd * (pdf + z * cdf);
    case log_expected_improvement:
      return std::log(sd * (pdf + z * cdf));
    case probability_of_improvement:
      return cdf;
    case log_probability_of_improvement:
      return std::log(cdf);
    case confidence_bound:
      return Real(1.7) * sd - mean;
  }
  return 0;
}

// The processes of a study, each with its lists, and what they say of a point.
class Truth {
 public:
  Truth(const Studies& in, std::int64_t study) : in_(in), study_(study) {
    for (std::int64_t o = 0; o < in.outputs; ++o) {
      for (std::int64_t list = 0; list < in.lists; ++list) {
        of_.push_back(posterior(in, study * in.outputs + o, list));
      }
    }
  }
  Real mean(std::int64_t output, std::int64_t list, const Vector& x) const {
    return of_[idx(output * in_.lists + list)].mean_at(x.data());
  }
  Real variance(std::int64_t output, const Vector& x) const {
    return of_[idx(output * in_.lists)].variance_at(x.data());
  }
  Real value(const Vector& x) const {
    const bool feasible = !std::isnan(in_.best[idx(study_ * in_.lists)]);
    const bool logarithm = in_.kind == log_expected_improvement ||
                           in_.kind == log_probability_of_improvement || !feasible;
    Real sum = 0, holds = 0;
    for (std::int64_t list = 0; feasible && list < in_.lists; ++list) {
      const Real one = acquisition_at(in_.kind, mean(0, list, x), std::sqrt(variance(0, x)),
                                      in_.best[idx(study_ * in_.lists + list)]);
      sum += (logarithm ? std::exp(one) : one) / Real(in_.lists);
    }
    for (std::int64_t o = 1; o < in_.outputs; ++o) {
      const Real off = in_.bound[idx(study_ * in_.outputs + o)] - mean(o, 0, x);
      holds += log_normal_cdf(off / std::sqrt(variance(o, x)));
    }
    if (!feasible) return holds;
    return logarithm ? std::log(sum) + holds : sum * std::exp(holds);
  }

 private:
  const Studies& in_;
  std::int64_t study_;
  std::vector<oracle::Posterior> of_;
};

inline void expect_truth(const Studies& in, const Answers& out) {
  const std::int64_t d = in.dimension;
  for (std::int64_t item = 0; item < in.items(); ++item) {
    const Truth truth(in, in.study_of(item));
    const Vector x(in.at.begin() + item * d, in.at.begin() + (item + 1) * d);
    for (std::int64_t o = 0; o < in.outputs; ++o) {
      EXPECT_NEAR(out.variance[idx(item * in.outputs + o)],
                  static_cast<double>(truth.variance(o, x)), 1e-10);
      for (std::int64_t list = 0; list < in.lists; ++list) {
        EXPECT_NEAR(out.mean[idx((item * in.outputs + o) * in.lists + list)],
                    static_cast<double>(truth.mean(o, list, x)), 1e-10);
      }
    }
    const auto value = static_cast<double>(truth.value(x));
    EXPECT_NEAR(out.value[idx(item)], value, 1e-9 * (1 + std::abs(value))) << item;
    for (std::int64_t k = 0; k < d; ++k) {
      const bool named = !in.categorical.empty() && in.categorical[idx(k)] != 0;
      const auto slope = named ? 0
                               : static_cast<double>(oracle::slope_of(
                                     [&](const Vector& t) { return truth.value(t); }, x, idx(k)));
      EXPECT_NEAR(out.gradient[idx(item * d + k)], slope, 1e-7 * (1 + std::abs(slope)))
          << item << ", axis " << k;
    }
  }
}

}  // namespace kiln::test::acquisition
