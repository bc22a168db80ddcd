// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/metric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backends/backends.hpp"
#include "densities/chains.hpp"

namespace kiln::test::metric_test {
namespace {

constexpr int d = 5;
using Vector = std::vector<double>;

struct Stored {
  HostMetric host;
  Metric metric() const {
    return {host.kind, host.rank, host.scale.data(), host.factor.data(), host.stretch.data()};
  }
};

Stored random_metric(MetricKind kind) {
  Stored m;
  m.host.kind = kind;
  m.host.scale = {0.5, 2, 1.5, 0.25, 3};
  if (kind == MetricKind::dense) {
    m.host.factor = normal_positions(d, d, 1, 3);
    for (int i = 0; i < d; ++i) {
      for (int j = i + 1; j < d; ++j) m.host.factor[idx(i * d + j)] = std::nan("");
    }
  }
  if (kind == MetricKind::low_rank) {
    m.host.rank = 2;
    m.host.factor = {0.6, 0.8, 0, 0, 0, -0.48, 0.36, 0.8, 0, 0};
    m.host.stretch = {1.5, -0.75};
  }
  return m;
}

/// S as a matrix, by its definition.
std::vector<Vector> matrix_of(const HostMetric& m) {
  std::vector<Vector> s(d, Vector(d, 0.0));
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      double inner = i == j ? 1 : 0;
      for (std::size_t k = 0; k < idx(m.rank); ++k) {
        inner += m.factor[k * d + i] * m.stretch[k] * m.factor[k * d + j];
      }
      s[i][j] =
          m.kind == MetricKind::dense ? (j <= i ? m.factor[i * d + j] : 0.0) : m.scale[i] * inner;
    }
  }
  return s;
}

class MetricOfKind : public testing::TestWithParam<MetricKind> {};
INSTANTIATE_TEST_SUITE_P(All, MetricOfKind,
                         testing::Values(MetricKind::diagonal, MetricKind::low_rank,
                                         MetricKind::dense));

TEST_P(MetricOfKind, IsTheProductWithItsRootAndTheTransposed) {
  const Stored m = random_metric(GetParam());
  const std::vector<Vector> s = matrix_of(m.host);
  const Vector z = normal_positions(d, 1, 1, 1);
  Vector forward(d), transposed(d);
  m.metric().apply(SingleTeam{}, d, z.data(), forward.data());
  m.metric().apply_transposed(SingleTeam{}, d, z.data(), transposed.data());
  for (std::size_t i = 0; i < d; ++i) {
    double row = 0, column = 0;
    for (std::size_t j = 0; j < d; ++j) row += s[i][j] * z[j], column += s[j][i] * z[j];
    EXPECT_NEAR(forward[i], row, 1e-14) << i;
    EXPECT_NEAR(transposed[i], column, 1e-14) << i;
  }
}

TEST_P(MetricOfKind, WorksInPlaceUnlessItIsDense) {
  if (GetParam() == MetricKind::dense) return;
  const Stored m = random_metric(GetParam());
  Vector z = normal_positions(d, 1, 1, 1), out(d);
  m.metric().apply(SingleTeam{}, d, z.data(), out.data());
  m.metric().apply(SingleTeam{}, d, z.data(), z.data());
  EXPECT_EQ(bits_of(z), bits_of(out));
}

TEST(MetricView, FindsTheMetricOfAPool) {
  const std::vector<double> scale(12, 1.0), factor(3 * 16, 1.0), stretch(6, 1.0);
  MetricView view;
  view.kind = MetricKind::low_rank;
  view.dimension = 4;
  view.rank = 2;
  view.scale = {scale.data(), 12};
  view.factor = {factor.data(), 24};
  view.stretch = {stretch.data(), 6};
  const Metric low_rank = view.of_pool(2);
  EXPECT_EQ(low_rank.rank, 2);
  EXPECT_EQ(low_rank.scale, scale.data() + 8);
  EXPECT_EQ(low_rank.factor, factor.data() + 16);
  EXPECT_EQ(low_rank.stretch, stretch.data() + 4);
  const std::vector<std::int32_t> used = {2, 0, 1};
  view.used = {used.data(), 3};
  EXPECT_EQ(view.of_pool(2).rank, 1);
  EXPECT_EQ(view.of_pool(2).factor, factor.data() + 16) << "room is left for all columns";

  MetricView dense;
  dense.kind = MetricKind::dense;
  dense.dimension = 4;
  dense.factor = {factor.data(), 48};
  EXPECT_EQ(dense.of_pool(2).factor, factor.data() + 32);
  EXPECT_EQ(dense.of_pool(2).scale, nullptr);
}

}  // namespace
}  // namespace kiln::test::metric_test
