// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/scalarize_objectives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Exact arithmetic.
KILN_CONFORMANCE_CASE(ScalarizeObjectives, exact)

namespace kiln::test::scalarize_objectives_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Batch {
  std::int64_t slots = 0, group_size = 1, objectives = 2, weights = 1;
  std::vector<double> value, violation, ideal, nadir, weight;
  Scalarization scalarization;
  double penalty = 1e3;
  std::vector<std::int32_t> rung_of;
  std::vector<std::uint32_t> active_rungs;
};

std::vector<double> scalarize(Queue& queue, const Batch& in, const RunControl& state = {}) {
  const DeviceArray<double> value(queue, in.value), violation(queue, in.violation);
  const DeviceArray<double> ideal(queue, in.ideal), nadir(queue, in.nadir);
  const DeviceArray<double> weight(queue, in.weight);
  const DeviceArray<std::int32_t> rung_of(queue, in.rung_of);
  const DeviceArray<std::uint32_t> active_rungs(queue, in.active_rungs);
  DeviceArray<double> energy(queue, std::vector<double>(idx(in.slots), -7));
  const auto control = upload_control(queue, state);
  queue.launch(ScalarizeObjectives{in.slots,
                                   in.group_size,
                                   {value.data(), in.objectives, in.slots, in.slots},
                                   violation.view(),
                                   ideal.view(),
                                   nadir.view(),
                                   {weight.data(), in.objectives, in.weights, in.weights},
                                   in.scalarization,
                                   in.penalty,
                                   energy.view(),
                                   rung_of.view(),
                                   active_rungs.view(),
                                   control.data()});
  return energy.download();
}

/// Three slots of one group, normalised (0.5, 0.25), (0, 1), (-0.5, 0).
Batch three_slots(ScalarizationKind kind) {
  Batch in{3,  3,   2,  1, {3, 2, 1, /**/ 11, 14, 10}, {0, -1, 0}, {2, 10}, {4, 14}, {0.75, 0.25},
           {}, 1e3, {}, {}};
  in.scalarization.kind = kind;
  return in;
}

class ScalarizeObjectivesKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ScalarizeObjectivesKernel);

TEST_P(ScalarizeObjectivesKernel, HasEveryKindByHand) {
  EXPECT_EQ(scalarize(queue(), three_slots(ScalarizationKind::weighted_sum)),
            (std::vector<double>{0.4375, 0.25, -0.375}));
  EXPECT_EQ(scalarize(queue(), three_slots(ScalarizationKind::chebyshev)),
            (std::vector<double>{0.375, 0.25, 0}));
  Batch in = three_slots(ScalarizationKind::augmented_chebyshev);
  in.scalarization.rho = 0.5;
  EXPECT_EQ(scalarize(queue(), in), (std::vector<double>{0.75, 0.75, -0.25}));
  in = three_slots(ScalarizationKind::boundary_intersection);
  in.weight = {3, 4};  // of length 5
  in.scalarization.theta = 2;
  // Along the line 2.5 / 5, 4 / 5, -1.5 / 5; away from it the other leg of the triangle.
  const std::vector<double> energy = scalarize(queue(), in);
  EXPECT_NEAR(energy[0], 0.5 + 2 * 0.25, 1e-15);
  EXPECT_NEAR(energy[1], 0.8 + 2 * 0.6, 1e-15);
  EXPECT_NEAR(energy[2], -0.3 + 2 * 0.4, 1e-15);
}

TEST_P(ScalarizeObjectivesKernel, CountsNoWeightAsALittleInMaxima) {
  Batch in = three_slots(ScalarizationKind::chebyshev);
  in.weight = {0, 1};
  in.value = {4, 1e9, 2, /**/ 10, 10, 10};
  EXPECT_EQ(scalarize(queue(), in), (std::vector<double>{1e-6, 1e-6 * ((1e9 - 2) / 2), 0}));
  in.scalarization.kind = ScalarizationKind::weighted_sum;
  EXPECT_EQ(scalarize(queue(), in), (std::vector<double>{0, 0, 0}));
}

TEST_P(ScalarizeObjectivesKernel, AddsAPenaltyForViolations) {
  Batch in = three_slots(ScalarizationKind::weighted_sum);
  in.violation = {0.5, -3, inf};
  in.penalty = 8;
  EXPECT_EQ(scalarize(queue(), in), (std::vector<double>{4.4375, 0.25, inf}));
}

TEST_P(ScalarizeObjectivesKernel, MakesNanInfiniteWhereverItIs) {
  for (const auto kind :
       {ScalarizationKind::weighted_sum, ScalarizationKind::chebyshev,
        ScalarizationKind::augmented_chebyshev, ScalarizationKind::boundary_intersection}) {
    Batch in = three_slots(kind);
    in.value = {nan, 2, 1, /**/ 11, nan, 10};
    in.violation = {0, 0, nan};
    EXPECT_EQ(scalarize(queue(), in), (std::vector<double>{inf, inf, inf})) << int(kind);
  }
}

TEST_P(ScalarizeObjectivesKernel, GivesGroupsTheirWeights) {
  Batch in{10, 2, 2, 3, {}, {}, {0, 0}, {1, 1}, {1, 0, 2, /**/ 0, 1, 3}, {}, 1e3, {}, {}};
  in.scalarization.kind = ScalarizationKind::weighted_sum;
  in.value = std::vector<double>(20, 1.0);
  for (std::size_t i = 10; i < 20; ++i) in.value[i] = 10;
  in.violation.assign(10, 0);
  EXPECT_EQ(scalarize(queue(), in), (std::vector<double>{1, 1, 10, 10, 32, 32, 1, 1, 10, 10}));
}

TEST_P(ScalarizeObjectivesKernel, LeavesOtherRungsAlone) {
  Batch in = three_slots(ScalarizationKind::weighted_sum);
  in.rung_of = {1, 0, 2};
  in.active_rungs = {0, 1, 5};
  EXPECT_EQ(scalarize(queue(), in), (std::vector<double>{0.4375, -7, -0.375}));
}

TEST_P(ScalarizeObjectivesKernel, MatchesCpuOnLargeBatches) {
  for (const auto kind :
       {ScalarizationKind::weighted_sum, ScalarizationKind::chebyshev,
        ScalarizationKind::augmented_chebyshev, ScalarizationKind::boundary_intersection}) {
    TestRandom random(3);
    Batch in{10000, 100, 5, 7, {}, {}, {}, {}, {}, {}, 1e3, {}, {}};
    in.scalarization.kind = kind;
    for (int i = 0; i < 50000; ++i) in.value.push_back(random.unit() * 10 - 5);
    for (int i = 0; i < 10000; ++i) in.violation.push_back(random.unit() - 0.5);
    for (int i = 0; i < 5; ++i) in.ideal.push_back(random.unit());
    for (int i = 0; i < 5; ++i) in.nadir.push_back(1 + random.unit());
    for (int i = 0; i < 35; ++i) in.weight.push_back(random.unit());
    const std::vector<double> energy = scalarize(queue(), in);
    EXPECT_EQ(bits_of(energy), bits_of(scalarize(cpu_queue(), in)));
    for (const double e : energy) ASSERT_TRUE(std::isfinite(e));
  }
}

TEST_P(ScalarizeObjectivesKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  EXPECT_EQ(scalarize(queue(), three_slots(ScalarizationKind::chebyshev), stopped),
            std::vector<double>(3, -7));
}

}  // namespace
}  // namespace kiln::test::scalarize_objectives_test
