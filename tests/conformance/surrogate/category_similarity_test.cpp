// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Gaussian processes on categories that are alike: through all kernels of a process.
#include <gtest/gtest.h>

#include <cmath>

#include "kiln/models/gaussian_process.hpp"
#include "kiln/models/similarity.hpp"

#include "backends/backends.hpp"
#include "processes/process_cases.hpp"
#include "processes/process_oracle.hpp"

namespace kiln::test::category_similarity_test {
namespace {

using oracle::Numbers;
using oracle::Real;
using oracle::uniform;
using oracle::Vector;

const std::vector<std::uint8_t> second_is_a_name{0, 1, 0};

std::vector<CategorySimilarity> solvents() {
  return {{}, similarity_of_names({"methanol", "ethanol", "propanol", "water", "brine"}), {}};
}

class CategorySimilarityProcess : public DeviceTest {
 protected:
  GaussianProcess conditioned(const GaussianProcessOptions& options, const Observations& seen,
                              std::vector<CategorySimilarity> similarity) {
    GaussianProcess process(queue(), 3, options, second_is_a_name, std::move(similarity));
    process.observe({seen});
    process.set_hyperparameters({typical(options, 3)});
    return process;
  }
};
KILN_ON_EVERY_BACKEND(CategorySimilarityProcess);

Observations observe_names(std::int64_t n) {
  Observations seen = observe_some(n, 3, 2);
  for (std::size_t i = 0; i < idx(n); ++i) {
    seen.points[3 * i + 1] = std::floor(4 * seen.points[3 * i + 1]);  // 4 is never seen
    seen.values[i] += seen.points[3 * i + 1] >= 3 ? 30 : 0;
  }
  return seen;
}

// In standard units, with a mean of 0.
oracle::Posterior truth_of(const GaussianProcessOptions& options, const GaussianProcess& process) {
  const Hyperparameters h = process.hyperparameters()[0];
  oracle::Prior prior{options.covariance, 3, {}, second_is_a_name, solvents()};
  for (const double l : h.lengths) prior.logarithms.push_back(std::log(Real(l)));
  prior.logarithms.push_back(std::log(Real(h.variance)));
  prior.logarithms.push_back(std::log(Real(h.noise)));
  const Observations& seen = process.observations(0);
  const GaussianProcess::Scale scale = process.scale(0);
  Vector values;
  for (const double y : seen.values) values.push_back((y - scale.centre) / scale.scale);
  return {prior, Vector(seen.points.begin(), seen.points.end()), values, Real(0)};
}

Numbers places() {
  Numbers at = uniform(30, 0, 1, 9);
  for (std::size_t i = 0; i < 10; ++i) at[3 * i + 1] = double(i % 5);
  return at;
}

GaussianProcessOptions centred(CovarianceKind kind) {
  GaussianProcessOptions options = options_of(kind, 3, "none");
  options.fitted_mean = false;
  return options;
}

TEST_P(CategorySimilarityProcess, PredictsLikeTheTextbook) {
  for (const CovarianceKind kind :
       {CovarianceKind::squared_exponential, CovarianceKind::matern12, CovarianceKind::matern52}) {
    for (const std::int64_t n : {12, 215}) {  // 215: not inverted by the evidence itself
      SCOPED_TRACE(std::to_string(int(kind)) + ", " + std::to_string(n));
      const GaussianProcessOptions options = centred(kind);
      const GaussianProcess process = conditioned(options, observe_names(n), solvents());
      const oracle::Posterior truth = truth_of(options, process);
      const Numbers at = places();
      const Predictions out = process.predict(0, at);
      const GaussianProcess::Scale scale = process.scale(0);
      const Predictions distinct = conditioned(options, observe_names(n), {}).predict(0, at);
      double apart = 0;
      for (std::size_t i = 0; i < 10; ++i) {
        const Vector x(at.begin() + std::ptrdiff_t(3 * i), at.begin() + std::ptrdiff_t(3 * i + 3));
        const auto mean = double(truth.mean_at(x.data())), v = double(truth.variance_at(x.data()));
        EXPECT_NEAR((out.mean[i] - scale.centre) / scale.scale, mean, 1e-9) << i;
        EXPECT_NEAR(out.variance[i] / (scale.scale * scale.scale), v, 1e-9) << i;
        apart = std::max(apart, std::abs(out.mean[i] - distinct.mean[i]) / scale.scale);
      }
      EXPECT_GT(apart, 0.01) << "similarity changes what is predicted";
      const auto evidence = double(-truth.evidence());
      EXPECT_NEAR(process.hyperparameters()[0].evidence, evidence, 1e-9 * (1 + std::abs(evidence)));
    }
  }
}

TEST_P(CategorySimilarityProcess, IsFittedUntilTheEvidenceIsFlat) {
  const GaussianProcessOptions options = centred(CovarianceKind::matern52);
  GaussianProcess process(queue(), 3, options, second_is_a_name, solvents());
  process.observe({observe_names(40)});
  process.fit();
  const Hyperparameters best = process.hyperparameters()[0];
  const auto evidence_at = [&](double length) {
    Hyperparameters h = best;
    h.lengths[1] = length;
    process.set_hyperparameters({h});
    return process.hyperparameters()[0].evidence;
  };
  ASSERT_GT(best.lengths[1], 0.11) << "not at a bound";
  ASSERT_LT(best.lengths[1], 99);
  const double step = 0.01, up = evidence_at(best.lengths[1] * std::exp(step)),
               down = evidence_at(best.lengths[1] * std::exp(-step));
  EXPECT_NEAR((up - down) / (2 * step), 0, 0.01) << "by the logarithm of the length";
  EXPECT_LT(up, best.evidence + 1e-6);
  EXPECT_LT(down, best.evidence + 1e-6);
}

TEST_P(CategorySimilarityProcess, DrawsPathsFromThePosterior) {
  const GaussianProcessOptions options = centred(CovarianceKind::matern52);
  const GaussianProcess process = conditioned(options, observe_names(8), solvents());
  const oracle::Posterior truth = truth_of(options, process);
  const GaussianProcess::Scale scale = process.scale(0);
  const std::int64_t m = 5, draws = 4000;
  Numbers columns = uniform(3 * m, 0, 1, 12);
  for (std::size_t i = 0; i < idx(m); ++i) columns[idx(m) + i] = double(i);
  const Numbers paths = process.draw_paths(columns, m, draws, {17});
  const auto point = [&](std::size_t i) {
    return Vector{columns[i], columns[idx(m) + i], columns[2 * idx(m) + i]};
  };
  const auto value = [&](std::int64_t draw, std::size_t i) {
    return (paths[idx(draw * m) + i] - scale.centre) / scale.scale;
  };
  const auto n = double(draws);
  for (std::size_t a = 0; a < idx(m); ++a) {
    const auto mean_a = double(truth.mean_at(point(a).data()));
    for (std::size_t b = 0; b <= a; ++b) {
      const auto mean_b = double(truth.mean_at(point(b).data()));
      const auto of = [&](std::size_t i, std::size_t j) {
        return double(truth.covariance_at(point(i).data(), point(j).data()));
      };
      double sum = 0, product = 0;
      for (std::int64_t draw = 0; draw < draws; ++draw) {
        sum += value(draw, a) / n;
        product += (value(draw, a) - mean_a) * (value(draw, b) - mean_b) / n;
      }
      EXPECT_NEAR(sum, mean_a, 4.5 * std::sqrt(of(a, a) / n)) << a;
      EXPECT_NEAR(product, of(a, b),
                  4.5 * std::sqrt((of(a, a) * of(b, b) + of(a, b) * of(a, b)) / n))
          << a << ", " << b;
    }
  }
}

}  // namespace
}  // namespace kiln::test::category_similarity_test
