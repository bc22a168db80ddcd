// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/decomposition_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Exact arithmetic and comparisons.
KILN_CONFORMANCE_CASE(DecompositionUpdate, exact)

namespace kiln::test::decomposition_update_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Pools of residents and as many children; matrices [row][column] as the kernel has them.
struct Pools {
  std::int64_t groups = 1, problems = 0, objectives = 2, near = 1;
  std::int32_t replacements = 2;
  Scalarization scalarization;
  std::vector<double> value, violation, weight, ideal, nadir;
  std::vector<std::int32_t> neighbors, source;
  std::vector<std::uint64_t> accepted;

  std::int64_t columns() const { return 2 * groups * problems; }
  double& at(std::int64_t k, std::int64_t column) { return value[idx(k * columns() + column)]; }
  double at(std::int64_t k, std::int64_t column) const {
    return value[idx(k * columns() + column)];
  }
  auto all() const { return std::tuple(bits_of(value), bits_of(violation), source, accepted); }
};

Pools update(Queue& queue, Pools in, const RunControl& state = {}) {
  const std::int64_t n = in.problems, all = in.groups * n, m = in.objectives;
  DeviceArray<double> value(queue, in.value), violation(queue, in.violation);
  const DeviceArray<double> weight(queue, in.weight), ideal(queue, in.ideal);
  const DeviceArray<double> nadir(queue, in.nadir);
  const DeviceArray<std::int32_t> neighbors(queue, in.neighbors);
  constexpr std::int64_t rows = DecompositionUpdate::max_replacements;
  DeviceArray<std::int32_t> bids(queue, std::vector<std::int32_t>(idx(rows * all), 0));
  DeviceArray<std::int32_t> source(queue, in.source);
  DeviceArray<std::uint64_t> accepted(queue, in.accepted);
  const auto control = upload_control(queue, state);
  queue.launch(DecompositionUpdate{{in.groups, 2 * n, {}},
                                   {value.data(), m, in.columns(), in.columns()},
                                   violation.view(),
                                   {weight.data(), m, n, n},
                                   {neighbors.data(), in.near, n, n},
                                   {ideal.data(), m, in.groups, in.groups},
                                   {nadir.data(), m, in.groups, in.groups},
                                   in.scalarization,
                                   in.replacements,
                                   {bids.data(), rows, all, all},
                                   source.view(),
                                   accepted.view(),
                                   control.data(),
                                   0});
  in.value = value.download();
  in.violation = violation.download();
  in.source = source.download();
  in.accepted = accepted.download();
  return in;
}

/// Chebyshev's or the weighted sum, from the definition.
double scalar(const Pools& in, std::int64_t group, std::int64_t problem, std::int64_t column) {
  double sum = 0, most = -inf;
  for (std::int64_t k = 0; k < in.objectives; ++k) {
    const double low = in.ideal[idx(k * in.groups + group)];
    const double y = (in.at(k, column) - low) / (in.nadir[idx(k * in.groups + group)] - low);
    const double w = in.weight[idx(k * in.problems + problem)];
    if (std::isnan(y)) return nan;
    sum += w * y;
    most = std::max(most, std::max(w, 1e-6) * y);
  }
  return in.scalarization.kind == ScalarizationKind::weighted_sum ? sum : most;
}

/// How good a column is for a problem: the less, the better.
using Quality = std::pair<double, double>;
Quality quality(const Pools& in, std::int64_t group, std::int64_t problem, std::int64_t column) {
  const double v = in.violation[idx(column)], f = scalar(in, group, problem, column);
  if (std::isnan(v) || std::isnan(f)) return {inf, inf};
  return {std::max(v, 0.0), f};
}

/// What a problem gains by a child: the class of the gain, then its amount.
Quality gain(const Quality& before, const Quality& after) {
  if (!(after < before)) return {0, 0};
  if (before.first == inf) return {3, 0};
  if (before.first > after.first) return {2, before.first - after.first};
  return {1, before.second - after.second};
}

Pools by_definition(const Pools& in) {
  Pools out = in;
  const std::int64_t n = in.problems;
  for (std::int64_t group = 0; group < in.groups; ++group) {
    const std::int64_t begin = group * 2 * n;
    std::vector<std::vector<std::int64_t>> bids(idx(n));  // children of each problem
    for (std::int64_t child = 0; child < n; ++child) {
      std::vector<std::pair<Quality, std::int64_t>> gains;
      for (std::int64_t t = 0; t < in.near; ++t) {
        const std::int64_t problem = in.neighbors[idx(t * n + child)];
        const Quality g = gain(quality(in, group, problem, begin + problem),
                               quality(in, group, problem, begin + n + child));
        if (g.first > 0) gains.emplace_back(g, problem);
      }
      std::stable_sort(gains.begin(), gains.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      for (std::size_t i = 0; i < gains.size() && i < idx(in.replacements); ++i) {
        bids[idx(gains[i].second)].push_back(child);
      }
    }
    for (std::int64_t problem = 0; problem < n; ++problem) {
      out.source[idx(group * n + problem)] = -1;
      if (bids[idx(problem)].empty()) continue;
      const std::int64_t best = *std::min_element(
          bids[idx(problem)].begin(), bids[idx(problem)].end(), [&](auto a, auto b) {
            return quality(in, group, problem, begin + n + a) <
                   quality(in, group, problem, begin + n + b);
          });
      for (std::int64_t k = 0; k < in.objectives; ++k) {
        out.at(k, begin + problem) = in.at(k, begin + n + best);
      }
      out.violation[idx(begin + problem)] = in.violation[idx(begin + n + best)];
      out.source[idx(group * n + problem)] = static_cast<std::int32_t>(group * n + best);
      ++out.accepted[idx(group * n + problem)];
    }
  }
  return out;
}

Pools make_pools(std::int64_t groups, std::int64_t problems, std::int64_t objectives,
                 std::int64_t near, std::uint64_t seed) {
  TestRandom random(seed);
  Pools in{groups, problems, objectives, near, 2, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  const bool ties = seed % 2 == 0;
  for (std::int64_t i = 0; i < objectives * in.columns(); ++i) {
    const double drawn = ties ? static_cast<double>(random.between(0, 7)) : 7 * random.unit();
    in.value.push_back(random.unit() < 0.01 ? nan : drawn);
  }
  for (std::int64_t c = 0; c < in.columns(); ++c) {
    const double amounts[] = {-1, 0, 0, 0.5, 2, random.unit() < 0.1 ? nan : 0};
    in.violation.push_back(amounts[random.between(0, 5)]);
  }
  for (std::int64_t i = 0; i < objectives * problems; ++i) {
    in.weight.push_back(static_cast<double>(random.between(0, 4)) / 4);
  }
  for (std::int64_t i = 0; i < objectives * groups; ++i) {
    in.ideal.push_back(-static_cast<double>(random.between(0, 1)));
    in.nadir.push_back(static_cast<double>(random.between(4, 7)));
  }
  for (std::int64_t t = 0; t < near; ++t) {  // a step that no other neighbour has
    for (std::int64_t i = 0; i < problems; ++i) {
      in.neighbors.push_back(static_cast<std::int32_t>((i + t * (t + 1) / 2) % problems));
    }
  }
  in.source.assign(idx(groups * problems), -7);
  in.accepted.assign(idx(groups * problems), 3);
  return in;
}

class DecompositionUpdateKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DecompositionUpdateKernel);

TEST_P(DecompositionUpdateKernel, UpdatesByHand) {
  Pools in{1, 3, 2, 3, 2, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  in.scalarization.kind = ScalarizationKind::weighted_sum;
  in.weight = {1, 0.5, 0, /**/ 0, 0.5, 1};
  in.neighbors = {0, 1, 2, 1, 2, 0, 2, 0, 1};
  in.ideal = {0, 0};
  in.nadir = {1, 1};
  //          residents  children
  in.value = {4, 4, 4, /**/ 1, 3, 9, /**/ 4, 4, 4, /**/ 3, 1, 0};
  in.violation = std::vector<double>(6, 0);
  in.source = {-7, -7, -7};
  in.accepted = {0, 1, 2};

  // Gains of child 0: 3, 2, 1; of child 1: 1, 2, 3; of child 2: -5, -0.5, 4. Two bids of each.
  const Pools after = update(queue(), in);
  EXPECT_EQ(after.source, (std::vector<std::int32_t>{0, 0, 2}));
  EXPECT_EQ(after.value, (std::vector<double>{1, 1, 9, 1, 3, 9, 3, 3, 0, 3, 1, 0}));
  EXPECT_EQ(after.accepted, (std::vector<std::uint64_t>{1, 2, 3}));

  in.replacements = 1;
  EXPECT_EQ(update(queue(), in).source, (std::vector<std::int32_t>{0, -1, 2}));
}

TEST_P(DecompositionUpdateKernel, PutsViolationsAndNanFirst) {
  Pools in{1, 4, 1, 4, 4, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  in.weight = std::vector<double>(4, 1);
  for (std::int32_t t = 0; t < 4; ++t) {
    for (std::int32_t i = 0; i < 4; ++i) in.neighbors.push_back((i + t) % 4);
  }
  in.ideal = {0};
  in.nadir = {1};
  in.source.assign(4, -7);
  in.accepted.assign(4, 0);
  // A resident with a NaN takes the best child; a child with one comes nowhere. Two children are
  // feasible, so that their values decide, also for the resident that is not.
  in.value = {nan, 2, 5, 9, /**/ nan, 6, 1, 3};
  in.violation = {0, 7, 0, nan, /**/ 0, -1, 2, 0};
  const Pools after = update(queue(), in);
  EXPECT_EQ(after.source, (std::vector<std::int32_t>{3, 3, 3, 3}));
  EXPECT_EQ(bits_of(after.value), bits_of({3, 3, 3, 3, nan, 6, 1, 3}));

  // All children are worse.
  in.value = {1, 1, 1, 1, /**/ nan, 1, 0, 2};
  in.violation = {0, -1, 0, 0, /**/ 0, 0, 0.5, 0};
  EXPECT_EQ(update(queue(), in).source, (std::vector<std::int32_t>{-1, -1, -1, -1}));
}

TEST_P(DecompositionUpdateKernel, GivesEqualGainsToTheFirst) {
  Pools in = make_pools(1, 6, 2, 6, 1);
  in.replacements = 3;
  in.violation.assign(12, 0);
  in.weight.assign(12, 0.5);
  in.ideal = {0, 0};
  in.nadir = {8, 8};
  for (std::int32_t t = 0; t < 6; ++t) {
    for (std::int32_t i = 0; i < 6; ++i) in.neighbors[idx(6 * t + i)] = t;
  }
  // Residents 1 and 4 are worse than the others, which are all alike; so are the children.
  for (std::int64_t c = 0; c < 12; ++c) {
    for (std::int64_t k = 0; k < 2; ++k) in.at(k, c) = c == 1 || c == 4 ? 7 : c < 6 ? 5 : 2;
  }
  EXPECT_EQ(update(queue(), in).source, (std::vector<std::int32_t>{0, 0, -1, -1, 0, -1}));
}

TEST_P(DecompositionUpdateKernel, MatchesTheDefinition) {
  std::uint64_t seed = 1;
  for (const std::int64_t problems : {1, 2, 5, 33, 100}) {
    for (const std::int32_t replacements : {1, 2, 3, 4}) {
      for (const auto kind : {ScalarizationKind::chebyshev, ScalarizationKind::weighted_sum}) {
        SCOPED_TRACE(std::to_string(problems) + ", at most " + std::to_string(replacements));
        const std::int64_t near = std::min<std::int64_t>(problems, 10);
        Pools in = make_pools(1 + problems % 4, problems, 2 + problems % 3, near, seed++);
        in.replacements = replacements;
        in.scalarization.kind = kind;
        ASSERT_EQ(update(queue(), in).all(), by_definition(in).all());
      }
    }
  }
}

TEST_P(DecompositionUpdateKernel, NeverTakesMoreThanItsReplacements) {
  for (const std::int32_t replacements : {1, 2, 4}) {
    Pools in = make_pools(3, 50, 2, 20, 8);
    in.replacements = replacements;
    std::vector<int> came(150);
    for (const std::int32_t child : update(queue(), in).source) {
      if (child >= 0) ++came[idx(child)];
    }
    EXPECT_EQ(*std::max_element(came.begin(), came.end()), replacements);
  }
}

TEST_P(DecompositionUpdateKernel, MatchesCpuForEveryScalarization) {
  for (const auto kind :
       {ScalarizationKind::weighted_sum, ScalarizationKind::chebyshev,
        ScalarizationKind::augmented_chebyshev, ScalarizationKind::boundary_intersection}) {
    Pools in = make_pools(8, 500, 3, 20, 5);
    in.scalarization.kind = kind;
    const Pools after = update(queue(), in);
    EXPECT_EQ(after.all(), update(cpu_queue(), in).all());
    EXPECT_NE(after.all(), in.all());
  }
}

TEST_P(DecompositionUpdateKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Pools in = make_pools(2, 20, 2, 5, 1);
  EXPECT_EQ(update(queue(), in, stopped).all(), in.all());
}

}  // namespace
}  // namespace kiln::test::decomposition_update_test
