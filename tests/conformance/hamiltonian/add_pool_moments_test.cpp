// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/add_pool_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Sums over chains in an order of the backend's own.
KILN_CONFORMANCE_CASE(AddPoolMoments, reordered)

namespace kiln::test::add_pool_moments_test {
namespace {

struct Inputs {
  std::int64_t dimension = 1, pools = 1, members = 1, slots = 32;
  bool cross = false;
  std::vector<std::int32_t> slot_of;  // [members * pools] or empty
  std::vector<std::int32_t> retreat;  // [slots] or empty
  std::vector<double> values[2];      // positions and gradients, [dimension][slots]
  std::vector<double> centre[2];      // [pools * dimension]
  std::vector<HmcAdaptation> adaptation;
  RunControl control;
};

struct Outputs {
  std::vector<double> sum[2], square[2];
};

Inputs make_inputs(std::int64_t dimension, std::int64_t pools, std::int64_t members, bool cross,
                   bool ladders) {
  TestRandom random(static_cast<std::uint64_t>(1 + dimension * 1000 + members * 10 + pools));
  Inputs in;
  in.dimension = dimension;
  in.pools = pools;
  in.members = members;
  in.cross = cross;
  in.slots = (pools * members + 63) / 32 * 32;
  for (int which = 0; which < 2; ++which) {
    for (std::int64_t i = 0; i < dimension * in.slots; ++i) {
      in.values[which].push_back(10 * random.unit() - 3);
    }
    for (std::int64_t i = 0; i < pools * dimension; ++i) {
      in.centre[which].push_back(4 * random.unit());
    }
  }
  if (ladders) {
    in.slot_of.resize(idx(pools * members));
    std::iota(in.slot_of.begin(), in.slot_of.end(), 0);
    for (std::size_t i = in.slot_of.size(); i > 1; --i) {
      std::swap(in.slot_of[i - 1], in.slot_of[random.word() % i]);
    }
  }
  HmcAdaptation collecting;
  collecting.collects = 1;
  in.adaptation.assign(idx(pools), collecting);
  return in;
}

Outputs run(Queue& queue, const Inputs& in, int times = 2) {
  const std::int64_t squares = in.cross ? in.dimension * in.dimension : in.dimension;
  const std::vector<double> sums(idx(in.pools * in.dimension), 1.0);
  const std::vector<double> products(idx(in.pools * squares), 2.0);
  std::vector<DeviceArray<double>> values, centre, sum, square;
  for (int which = 0; which < 2; ++which) {
    values.emplace_back(queue, in.values[which]);
    centre.emplace_back(queue, in.centre[which]);
    sum.emplace_back(queue, sums);
    square.emplace_back(queue, products);
  }
  DeviceArray<std::int32_t> slot_of(queue, in.slot_of);
  DeviceArray<std::int32_t> retreat(queue, in.retreat);
  DeviceArray<HmcAdaptation> adaptation(queue, in.adaptation);
  DeviceArray<RunControl> control = upload_control(queue, in.control);
  AddPoolMoments kernel;
  kernel.pools = {slot_of.view(), in.pools, in.members};
  kernel.position = {values[0].data(), in.dimension, in.slots, in.slots};
  kernel.gradient = {values[1].data(), in.dimension, in.slots, in.slots};
  kernel.adaptation = adaptation.view();
  kernel.statistics.retreat = retreat.view();
  kernel.moments.dimension = in.dimension;
  kernel.moments.cross = in.cross;
  for (int which = 0; which < 2; ++which) {
    kernel.moments.centre[which] = centre[idx(which)].view();
    kernel.moments.sum[which] = sum[idx(which)].view();
    kernel.moments.square[which] = square[idx(which)].view();
  }
  kernel.control = control.data();
  for (int t = 0; t < times; ++t) queue.launch(kernel);
  Outputs out;
  for (int which = 0; which < 2; ++which) {
    out.sum[which] = sum[idx(which)].download();
    out.square[which] = square[idx(which)].download();
  }
  return out;
}

// The definition in plain loops; `magnitude` is what the tolerance is measured against.
void expect_sums(const Inputs& in, const Outputs& out, int times) {
  const std::int64_t d = in.dimension;
  for (std::int64_t p = 0; p < in.pools; ++p) {
    for (int which = 0; which < 2; ++which) {
      const auto value = [&](std::int64_t i, std::int64_t m) {
        const std::int64_t slot =
            in.slot_of.empty() ? p * in.members + m : in.slot_of[idx(m * in.pools + p)];
        if (!in.retreat.empty() && in.retreat[idx(slot)] > 0) return 0.0;
        const double x =
            in.values[which][idx(i * in.slots + slot)] - in.centre[which][idx(p * d + i)];
        return std::isfinite(x) ? x : 0.0;
      };
      for (std::int64_t i = 0; i < d; ++i) {
        double sum = 0, magnitude = 1;
        for (std::int64_t m = 0; m < in.members; ++m) {
          sum += value(i, m);
          magnitude += std::abs(value(i, m));
        }
        EXPECT_NEAR(out.sum[which][idx(p * d + i)], 1 + times * sum, double_tolerance * magnitude);
        for (std::int64_t j = in.cross ? 0 : i; j <= i; ++j) {
          double product = 0, size = 2;
          for (std::int64_t m = 0; m < in.members; ++m) {
            product += value(i, m) * value(j, m);
            size += std::abs(value(i, m) * value(j, m));
          }
          const std::int64_t at = in.cross ? (p * d + i) * d + j : p * d + i;
          EXPECT_NEAR(out.square[which][idx(at)], 2 + times * product, double_tolerance * size)
              << i << ' ' << j;
        }
      }
    }
  }
}

class AddPoolMomentsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(AddPoolMomentsKernel);

TEST_P(AddPoolMomentsKernel, LeavesOutChainsInRetreat) {
  for (const bool ladders : {false, true}) {
    Inputs in = make_inputs(3, 2, 700, true, ladders);
    for (std::int64_t slot = 0; slot < in.slots; ++slot) {
      in.retreat.push_back(slot % 3 == 0 ? static_cast<std::int32_t>(1 + slot % 5) : 0);
    }
    expect_sums(in, run(queue(), in), 2);
  }
}

TEST_P(AddPoolMomentsKernel, IsTheDefinitionForEverySize) {
  for (const std::int64_t dimension : {1, 3, 17}) {
    for (const std::int64_t members : {0, 1, 31, 32, 33, 700}) {
      for (const bool cross : {false, true}) {
        SCOPED_TRACE(std::to_string(dimension) + " dimensions, " + std::to_string(members));
        const Inputs in = make_inputs(dimension, 1, members, cross, false);
        expect_sums(in, run(queue(), in), 2);
      }
    }
  }
}

TEST_P(AddPoolMomentsKernel, FindsTheMembersOfEveryPool) {
  for (const bool ladders : {false, true}) {
    const Inputs in = make_inputs(5, 3, 41, true, ladders);
    expect_sums(in, run(queue(), in), 2);
  }
}

TEST_P(AddPoolMomentsKernel, TakesWhatIsNotFiniteForTheCentre) {
  Inputs in = make_inputs(2, 1, 40, true, false);
  in.values[0][7] = std::numeric_limits<double>::quiet_NaN();
  in.values[1][9] = std::numeric_limits<double>::infinity();
  expect_sums(in, run(queue(), in), 2);
}

TEST_P(AddPoolMomentsKernel, AddsNothingOutsideAWindowOrAfterTheEnd) {
  Inputs in = make_inputs(3, 2, 33, true, false);
  in.adaptation[1].collects = 0;
  Outputs out = run(queue(), in);
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(out.sum[0][i], 1.0);
  EXPECT_NE(out.sum[0][0], 1.0);
  in.control.stop = DeviceStop::target;
  out = run(queue(), in);
  for (const double sum : out.sum[0]) EXPECT_EQ(sum, 1.0);
  for (const double square : out.square[1]) EXPECT_EQ(square, 2.0);
}

}  // namespace
}  // namespace kiln::test::add_pool_moments_test
