// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A transition must leave the law of its density alone, and chains must come to it from elsewhere.
//
// Invariance: exact draws, one transition, Kolmogorov and Smirnov with bound p > 1e-3. 10 tests on
// logarithms of gamma variables and 30 on the prior of eight schools, on each of 2 backends that
// draw the same: a false alarm once in 25 if seeds were drawn anew. Moments: 600 bounds of 4
// standard errors, once in 27. Seeds are fixed, so that a pass stays a pass. The planted wrong law
// is 1.1 times the log density: it must give p < 2e-5, or a moment beyond 4 standard errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "backends/backends.hpp"
#include "chi_square.hpp"
#include "densities/chains_cases.hpp"
#include "densities/test_densities.hpp"
#include "kolmogorov_smirnov.hpp"

namespace kiln::test::transition_law_test {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Several transitions of a test on the CPU, typed by the kernel.
template <class Kernel>
class TransitionLaw : public testing::Test {};
using Kernels = testing::Types<HmcTransition, NutsTransition>;
TYPED_TEST_SUITE(TransitionLaw, Kernels);

constexpr std::int64_t n_gamma = 50000;
constexpr double gamma_shape = 2;

/// Logarithms of the sum of two exponential variables, 4 to each chain.
ChainInputs exact_log_gamma(std::uint64_t seed) {
  TestRandom random(seed);
  ChainInputs in;
  in.dimension = 4;
  in.replicas = n_gamma;
  in.seed = seed;
  for (std::int64_t i = 0; i < 4 * n_gamma; ++i) {
    in.position.push_back(std::log(-std::log((1 - random.unit()) * (1 - random.unit()))));
  }
  in.tuning[0].step_size = 0.4;
  in.tuning[0].leapfrogs = 5;
  return in;
}

template <class Kernel>
ChainOutputs log_gamma_after(std::uint64_t seed, double scale) {
  LogGamma density;
  density.n = 4;
  density.shape = gamma_shape;
  density.scale = scale;
  DeviceChains chains(*open_device(Device::cpu).queue, exact_log_gamma(seed));
  chains.transition_of<Kernel>(density);
  return chains.outputs();
}

double log_gamma_distribution(double x) { return 1 - upper_gamma_ratio(gamma_shape, std::exp(x)); }

TYPED_TEST(TransitionLaw, LeavesLogGammaVariablesAlone) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(seed);
    EXPECT_GT(ks_test(exact_log_gamma(seed).position, log_gamma_distribution).p, 1e-3)
        << "the start is not drawn from the law";
    const ChainOutputs out = log_gamma_after<TypeParam>(seed, 1);
    EXPECT_GT(ks_test(out.position, log_gamma_distribution).p, 1e-3);
    const double acceptance = mean_of(out.acceptance);
    EXPECT_TRUE(acceptance > 0.5 && acceptance < 0.99) << acceptance;
    EXPECT_LT(ks_test(log_gamma_after<TypeParam>(seed, 1.1).position, log_gamma_distribution).p,
              2e-5);
  }
}

/// Five coordinates of different scale, correlated: x = L u.
struct Correlated {
  static constexpr int d = 5;
  // Rows of L; its inverse is found by substitution.
  static constexpr double root[d][d] = {{2, 0, 0, 0, 0},
                                        {1.5, 0.8, 0, 0, 0},
                                        {-0.3, 0.2, 0.5, 0, 0},
                                        {0.1, -0.1, 0.05, 0.15, 0},
                                        {3, 0, -2, 1, 4}};
  double covariance[d][d] = {};
  std::vector<double> precision = std::vector<double>(d * d, 0.0);

  Correlated() {
    double inverse[d][d] = {};
    for (int c = 0; c < d; ++c) {
      for (int r = c; r < d; ++r) {
        double rest = r == c ? 1 : 0;
        for (int k = c; k < r; ++k) rest -= root[r][k] * inverse[k][c];
        inverse[r][c] = rest / root[r][r];
      }
    }
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        for (int k = 0; k < d; ++k) {
          covariance[i][j] += root[i][k] * root[j][k];
          precision[idx(i * d + j)] += inverse[k][i] * inverse[k][j];
        }
      }
    }
  }
  CorrelatedNormal density() const {
    CorrelatedNormal normal;
    normal.n = d;
    normal.precision = precision.data();
    return normal;
  }
  /// The scales of the coordinates; those with a direction of all stretched; the root itself.
  HostMetric metric(MetricKind kind) const {
    if (kind == MetricKind::dense) {
      return dense_metric(std::vector<double>(&root[0][0], &root[0][0] + d * d));
    }
    HostMetric metric;
    for (int i = 0; i < d; ++i) metric.scale.push_back(std::sqrt(covariance[i][i]));
    if (kind == MetricKind::low_rank) {
      metric.kind = kind;
      metric.rank = 1;
      metric.factor.assign(d, 1 / std::sqrt(double{d}));
      metric.stretch = {0.3};
    }
    return metric;
  }
};

constexpr std::int64_t n_chains = 8000;

/// The largest distance of a first or second moment from the truth, in standard errors of
/// independent chains.
double worst_moment(const std::vector<double>& x, const Correlated& law) {
  constexpr int d = Correlated::d;
  double worst = 0;
  for (int i = 0; i < d; ++i) {
    double mean = 0;
    for (std::int64_t r = 0; r < n_chains; ++r) mean += x[idx(i * n_chains + r)] / n_chains;
    worst = std::max(worst, std::abs(mean) / std::sqrt(law.covariance[i][i] / n_chains));
    for (int j = 0; j <= i; ++j) {
      double product = 0;
      for (std::int64_t r = 0; r < n_chains; ++r) {
        product += x[idx(i * n_chains + r)] * x[idx(j * n_chains + r)] / n_chains;
      }
      const double c = law.covariance[i][j];
      const double variance = law.covariance[i][i] * law.covariance[j][j] + c * c;
      worst = std::max(worst, std::abs(product - c) / std::sqrt(variance / n_chains));
    }
  }
  return worst;
}

/// Chains that all begin at 0, after 30 transitions.
template <class Kernel>
std::vector<double> correlated_draws(const Correlated& law, MetricKind kind, std::uint64_t seed,
                                     double beta) {
  ChainInputs in;
  in.dimension = Correlated::d;
  in.replicas = n_chains;
  in.seed = seed;
  in.beta = {beta};
  in.position.assign(idx(Correlated::d * n_chains), 0.0);
  in.metric = law.metric(kind);
  in.tuning[0].step_size = kind == MetricKind::dense ? 0.7 : 0.25;
  in.tuning[0].leapfrogs = kind == MetricKind::dense ? 2 : 8;
  in.tuning[0].jitter = 0.2;
  DeviceChains chains(*open_device(Device::cpu).queue, in);
  for (int t = 0; t < 30; ++t) chains.template transition_of<Kernel>(law.density());
  return chains.outputs().position;
}

TYPED_TEST(TransitionLaw, HasTheMomentsOfACorrelatedNormalByEveryMetric) {
  const Correlated law;
  for (const MetricKind kind : {MetricKind::diagonal, MetricKind::low_rank, MetricKind::dense}) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      SCOPED_TRACE("metric " + std::to_string(static_cast<int>(kind)) + ", seed " +
                   std::to_string(seed));
      EXPECT_LT(worst_moment(correlated_draws<TypeParam>(law, kind, seed, 1), law), 4);
    }
    EXPECT_GT(worst_moment(correlated_draws<TypeParam>(law, kind, 6, 1.1), law), 4);
  }
}

constexpr std::int64_t n_schools = 20000;

/// Exact draws of the prior of eight schools: effects and mu normal, tau half a Cauchy variable.
ChainInputs exact_prior(std::uint64_t seed) {
  ChainInputs in = make_chains(EightSchools{}, n_schools, 1, 0.4, 5);
  in.seed = seed;
  in.layout = ChainLayout::warp;
  in.lambda = {0};
  in.tuning[0].jitter = 0;
  in.tuning[0].max_depth = 5;
  in.metric = diagonal_metric({1, 1, 1, 1, 1, 1, 1, 1, 5, 1});
  in.position = normal_positions(10, n_schools, 1, seed);
  TestRandom random(seed + 100);
  for (std::int64_t r = 0; r < n_schools; ++r) {
    in.position[idx(8 * n_schools + r)] *= 5;
    in.position[idx(9 * n_schools + r)] =
        std::log(5 * std::tan(0.5 * math::pi * (random.unit() + 0x1p-54)));
  }
  return in;
}

struct Marginals {
  double effects, mu, log_tau;  // p
};

Marginals marginals_of(const std::vector<double>& x) {
  const auto mu = x.begin() + 8 * n_schools, log_tau = mu + n_schools;
  const auto distribution_of_mu = [](double m) { return normal_distribution(m / 5); };
  const auto distribution_of_log_tau = [](double t) {
    return 2 / math::pi * std::atan(std::exp(t) / 5);
  };
  return {ks_test({x.begin(), mu}, normal_distribution).p,
          ks_test({mu, log_tau}, distribution_of_mu).p,
          ks_test({log_tau, x.end()}, distribution_of_log_tau).p};
}

class TransitionLawOfSchools : public DeviceTest {
 protected:
  template <class Kernel>
  void expect_invariance() const {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      SCOPED_TRACE(seed);
      ChainInputs in = exact_prior(seed);
      const ChainOutputs out = run_chains<Kernel>(queue(), in);
      const Marginals after = marginals_of(out.position);
      EXPECT_GT(after.effects, 1e-3);
      EXPECT_GT(after.mu, 1e-3);
      EXPECT_GT(after.log_tau, 1e-3);
      const double acceptance = mean_of(out.acceptance);
      EXPECT_TRUE(acceptance > 0.5 && acceptance < 0.999) << acceptance;
      in.beta = {1.1};
      EXPECT_LT(marginals_of(run_chains<Kernel>(queue(), in).position).effects, 2e-5);
    }
  }
};
KILN_ON_EVERY_BACKEND(TransitionLawOfSchools);

TEST_P(TransitionLawOfSchools, IsLeftAloneByTrajectoriesOfFixedLength) {
  expect_invariance<HmcTransition>();
}

TEST_P(TransitionLawOfSchools, IsLeftAloneByTrajectoriesThatTurn) {
  expect_invariance<NutsTransition>();
}

}  // namespace
}  // namespace kiln::test::transition_law_test
