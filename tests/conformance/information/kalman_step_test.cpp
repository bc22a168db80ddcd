// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/kalman_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Both backends compile the same body, in exact arithmetic and one order of sums.
KILN_CONFORMANCE_CASE(KalmanStep, exact)

namespace kiln::test::kalman_step_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> value;
  Matrix(std::int64_t r, std::int64_t c) : rows(r), columns(c), value(idx(r * c), 0.0) {}
  double& operator()(std::int64_t i, std::int64_t j) { return value[idx(i * columns + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return value[idx(i * columns + j)]; }
};

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.columns; ++j) {
      for (std::int64_t k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}
Matrix operator+(const Matrix& a, const Matrix& b) {
  Matrix c = a;
  for (std::size_t i = 0; i < c.value.size(); ++i) c.value[i] += b.value[i];
  return c;
}
Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  }
  return t;
}

Matrix random_matrix(std::int64_t rows, std::int64_t columns, double scale, TestRandom& random) {
  Matrix m(rows, columns);
  for (double& x : m.value) x = scale * (2 * random.unit() - 1);
  return m;
}
Matrix random_covariance(std::int64_t n, double scale, TestRandom& random) {
  const Matrix a = random_matrix(n, n, 1, random);
  Matrix c = a * transposed(a);
  for (std::int64_t i = 0; i < n; ++i) c(i, i) += 0.1;
  for (double& x : c.value) x *= scale;
  return c;
}

// One filter and the rows that it reads, [steps][m].
struct Model {
  Matrix f, q, h, r, x, p;
  std::vector<double> z;
  std::int64_t steps() const { return static_cast<std::int64_t>(z.size()) / h.rows; }
};

Model random_model(std::int64_t n, std::int64_t m, std::int64_t steps, TestRandom& random) {
  Model model{random_matrix(n, n, 1.2 / static_cast<double>(n), random),
              random_covariance(n, 0.3, random),
              random_matrix(m, n, 1, random),
              random_covariance(m, 0.5, random),
              random_matrix(n, 1, 2, random),
              random_covariance(n, 1, random),
              {}};
  for (std::int64_t i = 0; i < steps * m; ++i) model.z.push_back(4 * random.unit() - 2);
  return model;
}

Model scalar_model(double q, double r, std::vector<double> z) {
  Model model{Matrix(1, 1), Matrix(1, 1), Matrix(1, 1), Matrix(1, 1),
              Matrix(1, 1), Matrix(1, 1), std::move(z)};
  model.f(0, 0) = model.h(0, 0) = model.p(0, 0) = 1;
  model.q(0, 0) = q;
  model.r(0, 0) = r;
  return model;
}

struct Outputs {
  std::vector<double> x, p, log_likelihood, distance, predicted, spread;
  std::vector<std::int64_t> observed;
  std::vector<std::uint32_t> status;
};

// Element by element, all filters side by side.
template <class Part>
std::vector<double> beside(const std::vector<Model>& models, Part part) {
  std::vector<double> all;
  for (std::size_t i = 0; i < part(models[0]).size(); ++i) {
    for (const Model& model : models) all.push_back(part(model)[i]);
  }
  return all;
}

struct Launching {
  std::int32_t diffuse = 0;
  std::int64_t per_series = 1, rows_of_launch = 0;  // 0: all rows in one launch
};

Outputs run(Queue& queue, const std::vector<Model>& models, const Launching& how = {}) {
  const auto count = static_cast<std::int64_t>(models.size());
  if (count == 0) return {};
  const std::int64_t n = models[0].f.rows, m = models[0].h.rows, size = n * n;
  DeviceArray<double> f(queue, beside(models, [](const Model&o) { return o.f.value; })),
      q(queue, beside(models, [](const Model&o) { return o.q.value; })),
      h(queue, beside(models, [](const Model&o) { return o.h.value; })),
      r(queue, beside(models, [](const Model&o) { return o.r.value; })),
      x(queue, beside(models, [](const Model&o) { return o.x.value; })),
      p(queue, beside(models, [](const Model&o) { return o.p.value; }));
  std::vector<Model> firsts;
  for (std::size_t i = 0; i < models.size(); i += idx(how.per_series)) firsts.push_back(models[i]);
  const auto series = static_cast<std::int64_t>(firsts.size());
  const DeviceArray<double> z(queue, beside(firsts, [](const Model& o) { return o.z; }));
  const std::vector<double> zeros(idx(count), 0.0);
  const std::int64_t rows = models[0].steps() * m;
  DeviceArray<double> likelihood(queue, zeros), distance(queue, zeros),
      predicted(queue, rows * count), spread(queue, rows * count);
  DeviceArray<std::int64_t> observed(queue, std::vector<std::int64_t>(idx(count), 0));
  DeviceArray<std::uint32_t> status(queue, std::vector<std::uint32_t>(idx(count), 0));
  KalmanStep kernel;
  kernel.state_size = static_cast<std::int32_t>(n);
  kernel.observation_size = static_cast<std::int32_t>(m);
  kernel.diffuse = how.diffuse;
  kernel.filters_per_series = how.per_series;
  kernel.transition = {f.data(), size, count, count};
  kernel.state_noise = {q.data(), size, count, count};
  kernel.observation = {h.data(), m * n, count, count};
  kernel.observation_noise = {r.data(), m * m, count, count};
  kernel.state = {x.data(), n, count, count};
  kernel.covariance = {p.data(), size, count, count};
  kernel.log_likelihood = likelihood.view();
  kernel.distance = distance.view();
  kernel.observed = observed.view();
  kernel.status = status.view();
  const std::int64_t each = how.rows_of_launch > 0 ? how.rows_of_launch * m : rows;
  for (std::int64_t row = 0; row < rows; row += each) {
    kernel.rows = {z.data() + row * series, std::min(each, rows - row), series, series};
    kernel.predicted = {predicted.data() + row * count, each, count, count};
    kernel.predicted_variance = {spread.data() + row * count, each, count, count};
    queue.launch(kernel);
  }
  return {x.download(),         p.download(),      likelihood.download(), distance.download(),
          predicted.download(), spread.download(), observed.download(),   status.download()};
}

// log N(z; mean, s) without the values that are missing, by a Cholesky factor.
double log_density(const std::vector<double>& z, const std::vector<double>& mean, const Matrix& s) {
  std::vector<std::int64_t> seen;
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (!std::isnan(z[i])) seen.push_back(static_cast<std::int64_t>(i));
  }
  const auto n = static_cast<std::int64_t>(seen.size());
  Matrix l(n, n);
  std::vector<double> y;
  double sum = -0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
  for (std::int64_t i = 0; i < n; ++i) {
    double v = z[idx(seen[idx(i)])] - mean[idx(seen[idx(i)])];
    for (std::int64_t j = 0; j <= i; ++j) {
      double a = s(seen[idx(i)], seen[idx(j)]);
      for (std::int64_t k = 0; k < j; ++k) a -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(a) : a / l(j, j);
      if (j < i) v -= l(i, j) * y[idx(j)];
    }
    y.push_back(v / l(i, i));
    sum -= std::log(l(i, i)) + 0.5 * y.back() * y.back();
  }
  return sum;
}

// The likelihood of all rows at once: a normal distribution of steps * m values.
double joint_log_likelihood(const Model& model) {
  const std::int64_t steps = model.steps(), m = model.h.rows;
  std::vector<double> mean;
  Matrix all(steps * m, steps * m), x = model.x, p = model.p;
  for (std::int64_t t = 0; t < steps; ++t) {
    x = model.f * x;
    p = model.f * p * transposed(model.f) + model.q;
    const Matrix expected = model.h * x;
    mean.insert(mean.end(), expected.value.begin(), expected.value.end());
    Matrix power = p;  // cov(x_t, x_u) = P_t (F^(u - t))'
    for (std::int64_t u = t; u < steps; ++u) {
      Matrix block = model.h * power * transposed(model.h);
      if (u == t) block = block + model.r;
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < m; ++j) {
          all(t * m + i, u * m + j) = block(i, j);
          all(u * m + j, t * m + i) = block(i, j);
        }
      }
      power = power * transposed(model.f);
    }
  }
  return log_density(model.z, mean, all);
}

class KalmanStepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(KalmanStepKernel);

TEST_P(KalmanStepKernel, HasTheClosedFormOfOneDimension) {
  const Outputs out = run(queue(), {scalar_model(0.1, 0.5, {1})});
  EXPECT_NEAR(out.x[0], 0.6875, 1e-15);
  EXPECT_NEAR(out.p[0], 0.34375, 1e-15);
  EXPECT_NEAR(out.spread[0], 1.6, 1e-15);
  EXPECT_NEAR(out.log_likelihood[0], -0.5 * (std::log(2 * std::numbers::pi * 1.6) + 1 / 1.6),
              1e-14);
  EXPECT_NEAR(out.distance[0], 1 / 1.6, 1e-15);
  EXPECT_EQ(out.observed[0], 1);
}

// P of a random walk tends to the root of P^2 + q P - q r = 0.
TEST_P(KalmanStepKernel, SettlesAtTheSteadyCovariance) {
  const double q = 0.3, r = 2;
  const Outputs out = run(queue(), {scalar_model(q, r, std::vector<double>(200, 1.0))});
  EXPECT_NEAR(out.p[0], (-q + std::sqrt(q * q + 4 * q * r)) / 2, 1e-13);
}

TEST_P(KalmanStepKernel, HasTheLikelihoodOfAllRowsAtOnce) {
  TestRandom random(3);
  for (const std::int64_t n : {1, 2, 3, 8}) {
    for (const std::int64_t m : {1, 2, 4}) {
      Model model = random_model(n, m, 9, random);
      for (const bool gaps : {false, true}) {
        if (gaps) {  // one component, and a whole row
          model.z[idx(2 * m)] = nan;
          for (std::int64_t k = 0; k < m; ++k) model.z[idx(5 * m + k)] = nan;
        }
        const Outputs out = run(queue(), {model});
        const double expected = joint_log_likelihood(model);
        EXPECT_NEAR(out.log_likelihood[0], expected, 1e-10 * std::abs(expected))
            << n << " x " << m << (gaps ? " with gaps" : "");
        EXPECT_EQ(out.status[0], 0u);
      }
    }
  }
}

TEST_P(KalmanStepKernel, PredictsAcrossAGap) {
  const Outputs out = run(queue(), {scalar_model(0.1, 0.5, {1, nan, nan})});
  EXPECT_NEAR(out.x[0], 0.6875, 1e-15);
  EXPECT_NEAR(out.p[0], 0.34375 + 0.2, 1e-15);
  EXPECT_NEAR(out.predicted[2], 0.6875, 1e-15);
  EXPECT_NEAR(out.spread[2], 0.34375 + 0.2 + 0.5, 1e-15);
  EXPECT_EQ(out.observed[0], 1);
}

TEST_P(KalmanStepKernel, LeavesDiffuseRowsOutOfTheLikelihood) {
  const std::vector<double> z{nan, 1, nan, 2, 3};
  const Outputs all = run(queue(), {scalar_model(0.1, 0.5, z)});
  const Outputs first = run(queue(), {scalar_model(0.1, 0.5, {nan, 1})});
  Launching how;
  how.diffuse = 1;
  const Outputs rest = run(queue(), {scalar_model(0.1, 0.5, z)}, how);
  EXPECT_NEAR(rest.log_likelihood[0], all.log_likelihood[0] - first.log_likelihood[0], 1e-14);
  EXPECT_NEAR(rest.distance[0], all.distance[0] - first.distance[0], 1e-14);
  EXPECT_EQ(rest.observed[0], 3);
  EXPECT_EQ(bits_of(rest.x), bits_of(all.x));
}

// With a gain that rounds to 1, (1 - K) P is 0 or far off.
TEST_P(KalmanStepKernel, KeepsTheVarianceAfterADiffusePrior) {
  for (const double prior : {1e9, 1e12, 1e15}) {
    Model model = scalar_model(0, 1e-4, {3});
    model.p(0, 0) = prior;
    const Outputs out = run(queue(), {model});
    EXPECT_NEAR(out.p[0], 1e-4, 1e-14) << prior;
    EXPECT_NEAR(out.x[0], 3, 1e-12) << prior;
  }
}

TEST_P(KalmanStepKernel, KeepsCovariancesSymmetricAndPositive) {
  TestRandom random(5);
  std::vector<Model> models;
  for (int i = 0; i < 40; ++i) {
    Model model = random_model(4, 2, 50, random);
    for (double& x : model.p.value) x *= 1e9;
    for (double& x : model.r.value) x *= 1e-4;
    for (double& x : model.q.value) x *= 1e-4;
    models.push_back(std::move(model));
  }
  const Outputs out = run(queue(), models);
  for (std::int64_t f = 0; f < 40; ++f) {
    EXPECT_EQ(out.status[idx(f)], 0u);
    Matrix p(4, 4);
    for (std::int64_t i = 0; i < 16; ++i) p.value[idx(i)] = out.p[idx(i * 40 + f)];
    EXPECT_EQ(p.value, transposed(p).value);
    EXPECT_TRUE(std::isfinite(log_density({0, 0, 0, 0}, {0, 0, 0, 0}, p))) << f;
  }
}

TEST_P(KalmanStepKernel, StopsAFilterWhoseInnovationsHaveNoDensity) {
  std::vector<Model> models{scalar_model(0, 0.5, {1, 2}), scalar_model(0, -2, {1, 2}),
                            scalar_model(0, nan, {1, 2}), scalar_model(0, 0.5, {1, 2})};
  const Outputs out = run(queue(), models);
  EXPECT_EQ(out.status, (std::vector<std::uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(out.x[1], 0);
  EXPECT_EQ(out.log_likelihood[1], 0);
  EXPECT_EQ(out.x[0], out.x[3]);
  EXPECT_GT(out.x[0], 1);
}

TEST_P(KalmanStepKernel, ComputesTheSameInSeveralLaunches) {
  TestRandom random(7);
  std::vector<Model> models;
  for (int i = 0; i < 5; ++i) models.push_back(random_model(3, 2, 12, random));
  const Outputs whole = run(queue(), models);
  for (const std::int64_t rows : {1, 4}) {
    const Outputs parts = run(queue(), models, {0, 1, rows});
    EXPECT_EQ(bits_of(parts.x), bits_of(whole.x));
    EXPECT_EQ(bits_of(parts.p), bits_of(whole.p));
    EXPECT_EQ(bits_of(parts.log_likelihood), bits_of(whole.log_likelihood));
    EXPECT_EQ(bits_of(parts.predicted), bits_of(whole.predicted));
  }
}

TEST_P(KalmanStepKernel, LetsFiltersShareASeries) {
  TestRandom random(9);
  std::vector<Model> models;
  for (int i = 0; i < 6; ++i) {
    models.push_back(random_model(2, 1, 7, random));
    if (i % 3 != 0) models.back().z = models[idx(i - 1)].z;
  }
  EXPECT_EQ(bits_of(run(queue(), models, {0, 3, 0}).log_likelihood),
            bits_of(run(queue(), models).log_likelihood));
}

TEST_P(KalmanStepKernel, MatchesCpu) {
  TestRandom random(11);
  for (const std::int64_t count : {0, 1, 31, 32, 33, 257, 1025}) {
    for (const std::int64_t n : {1, 2, 8}) {
      const std::int64_t m = n == 8 ? 4 : n;
      std::vector<Model> models;
      for (std::int64_t i = 0; i < count; ++i) {
        models.push_back(random_model(n, m, 6, random));
        models.back().z[idx(i % 6)] = nan;
      }
      const Outputs here = run(queue(), models), there = run(cpu_queue(), models);
      EXPECT_EQ(bits_of(here.x), bits_of(there.x)) << count << " of " << n;
      EXPECT_EQ(bits_of(here.p), bits_of(there.p)) << count << " of " << n;
      EXPECT_EQ(bits_of(here.log_likelihood), bits_of(there.log_likelihood));
      EXPECT_EQ(bits_of(here.distance), bits_of(there.distance));
      EXPECT_EQ(bits_of(here.spread), bits_of(there.spread));
      EXPECT_EQ(here.status, there.status);
    }
  }
}

}  // namespace
}  // namespace kiln::test::kalman_step_test
