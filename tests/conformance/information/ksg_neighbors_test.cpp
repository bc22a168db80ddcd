// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_neighbors.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "information/ksg_problems.hpp"

// Differences of doubles, rounded once each, and their order.
KILN_CONFORMANCE_CASE(KsgNeighbors, exact)

namespace kiln::test::ksg_neighbors_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double untouched = -17.0;

KsgRadii run(Queue& queue, const KsgProblems& in, std::int32_t k, bool extents) {
  const DeviceKsgProblems device(queue, in);
  const std::int64_t problems = std::ssize(in.problems), n = in.n();
  const std::vector<double> before(idx(problems * n), untouched);
  DeviceArray<double> radius(queue, before), extent_y(queue, before), extent_x(queue, before);
  KsgNeighbors kernel;
  kernel.points = device.points();
  kernel.k = k;
  kernel.radius = {radius.data(), problems, n, n};
  if (extents) {
    kernel.extent_y = {extent_y.data(), problems, n, n};
    kernel.extent_x = {extent_x.data(), problems, n, n};
  }
  queue.launch(kernel);
  return {radius.download(), extent_y.download(), extent_x.download()};
}

void expect_same(const KsgRadii& got, const KsgRadii& expected, bool extents,
                 const std::string& what) {
  EXPECT_EQ(bits_of(got.radius), bits_of(expected.radius)) << what;
  if (extents) {
    EXPECT_EQ(bits_of(got.extent_y), bits_of(expected.extent_y)) << what;
    EXPECT_EQ(bits_of(got.extent_x), bits_of(expected.extent_x)) << what;
    return;
  }
  const std::vector<double> before(got.radius.size(), untouched);
  EXPECT_EQ(got.extent_y, before) << what;
  EXPECT_EQ(got.extent_x, before) << what;
}

// Rectangles belong to problems without a condition.
void expect_definition(Queue& queue, const KsgProblems& in, std::int32_t k,
                       const std::string& what) {
  const KsgRadii expected = radii_by_definition(in, k);
  for (const bool extents : {false, true}) {
    if (extents && in.z > 0) continue;
    expect_same(run(queue, in, k, extents), expected, extents,
                what + ", k " + std::to_string(k) + ", theiler " + std::to_string(in.theiler));
  }
}

class KsgNeighborsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(KsgNeighborsKernel);

TEST_P(KsgNeighborsKernel, FindsWhatAllPairsSayForEverySize) {
  for (const std::int64_t n : {1, 2, 5, 31, 32, 33, 255, 257, 1000}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      expect_definition(queue(), make_ksg_problems(n, 0, 1, 1, kind, idx(n)), 4,
                        std::to_string(n) + " points");
      expect_definition(queue(), make_ksg_problems(n, 1, 1, 1, kind, idx(n)), 4,
                        std::to_string(n) + " points with a condition");
    }
  }
  expect_definition(queue(), make_ksg_problems(4097, 0, 1, 2, ValueKind::mixed, 4, 1), 4,
                    "4097 points");
}

TEST_P(KsgNeighborsKernel, FindsEachNeighbor) {
  for (const std::int32_t k : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice, ValueKind::mixed}) {
      const std::string what = std::to_string(static_cast<int>(kind));
      for (const std::int64_t n : {std::int64_t{k}, std::int64_t{k} + 1, std::int64_t{150}}) {
        expect_definition(queue(), make_ksg_problems(n, 0, 1, 1, kind, idx(k)), k, what);
        expect_definition(queue(), make_ksg_problems(n, 1, 1, 2, kind, idx(k)), k, what);
      }
    }
  }
}

TEST_P(KsgNeighborsKernel, TakesAllNumbersOfCoordinates) {
  for (const std::int32_t z : {0, 1, 2, 3, 10}) {
    for (const std::int32_t y : {1, 2, 3}) {
      for (const std::int32_t x : {1, 2, 3}) {
        const std::string what = std::to_string(z) + std::to_string(y) + std::to_string(x);
        expect_definition(queue(), make_ksg_problems(200, z, y, x, ValueKind::reals, 5), 3, what);
        expect_definition(queue(), make_ksg_problems(90, z, y, x, ValueKind::lattice, 6), 5, what);
      }
    }
  }
  for (const std::int32_t y : {3, 5, 6, 8, 13}) {  // up to 16 without a condition
    const std::string what = std::to_string(y) + " + 3";
    expect_definition(queue(), make_ksg_problems(120, 0, y, 3, ValueKind::mixed, 7), 4, what);
  }
}

TEST_P(KsgNeighborsKernel, LeavesOutWhatIsNearInTime) {
  for (const std::int32_t theiler : {1, 2, 5, 40, 1000000}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      for (const std::int64_t n : {1, 6, 33, 257}) {
        for (const std::int32_t z : {0, 2}) {
          KsgProblems in = make_ksg_problems(n, z, 1, 2, kind, idx(theiler));
          set_theiler(in, theiler, idx(n));
          expect_definition(queue(), in, 3, std::to_string(n) + " points");
        }
      }
    }
  }
}

// Neighbours in space that are neighbours in time: a window decides everything here.
TEST_P(KsgNeighborsKernel, JumpsOverAWindowExactly) {
  KsgProblems in = make_ksg_problems(40, 0, 1, 1, ValueKind::reals, 8, 1);
  for (std::int64_t c = 0; c < std::ssize(in.columns); ++c) {
    for (std::int64_t i = 0; i < 40; ++i) {
      in.columns[idx(c)][idx(i)] = static_cast<double>(c % 2 == 0 ? i : -i);
    }
  }
  for (const std::int32_t theiler : {0, 1, 5}) {
    in.theiler = theiler;
    const std::vector<double> radius = run(queue(), in, 1, true).radius;
    EXPECT_EQ(radius, std::vector<double>(40, theiler + 1)) << theiler;
  }
}

TEST_P(KsgNeighborsKernel, IsInfiniteWithoutEnoughNeighbors) {
  const KsgProblems in = make_ksg_problems(5, 0, 1, 1, ValueKind::reals, 9, 1);
  EXPECT_EQ(run(queue(), in, 5, false).radius, std::vector<double>(5, inf));
  for (const double radius : run(queue(), in, 4, false).radius) EXPECT_LT(radius, 4);
}

// A point at the distance of the k-th neighbour belongs to the rectangle, however many there are.
TEST_P(KsgNeighborsKernel, TakesAllPointsAtTheRadiusIntoTheRectangle) {
  KsgProblems in;
  in.columns = {{0, -1, 1, 0, 0.5}, {0, 0.25, 0.5, 1, 0}};
  in.problems = {{0, 1}};
  const KsgRadii radii = run(queue(), in, 2, true);  // points in the order of column 0
  const std::size_t first = 1;                       // (0, 0), of which three are at distance 1
  EXPECT_EQ(radii.radius[first], 1);
  EXPECT_EQ(radii.extent_y[first], 1);
  EXPECT_EQ(radii.extent_x[first], 1);
}

// Enough for a GPU to take a lane for each point.
TEST_P(KsgNeighborsKernel, TakesManyProblemsAtOnce) {
  for (const std::int32_t z : {0, 1}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      for (const std::int32_t theiler : {0, 5}) {
        KsgProblems in = make_ksg_problems(33, z, 1, 1 + z, kind, 10, 2000);
        if (theiler > 0) set_theiler(in, theiler, 11);
        expect_definition(queue(), in, 4 + theiler, "2000 problems");
      }
    }
  }
}

TEST_P(KsgNeighborsKernel, MatchesCpu) {
  const auto expect_match = [&](KsgProblems in, std::int32_t k, std::int32_t theiler) {
    if (theiler > 0) set_theiler(in, theiler, 12);
    const bool extents = in.z == 0;
    expect_same(run(queue(), in, k, extents), run(cpu_queue(), in, k, extents), extents,
                std::to_string(in.n()) + " points, " + std::to_string(in.dims()));
  };
  for (const std::int32_t theiler : {0, 5}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::mixed}) {
      expect_match(make_ksg_problems(4097, 0, 1, 1, kind, 13), 1, theiler);
      expect_match(make_ksg_problems(2000, 1, 1, 1, kind, 14, 33), 4, theiler);  // a lane each
      expect_match(make_ksg_problems(1000, 2, 1, 3, kind, 16), 16, theiler);
    }
    // A warp each, though there are many.
    expect_match(make_ksg_problems(33000, 0, 1, 1, ValueKind::reals, 15, 2), 9, theiler);
  }
  expect_match(make_ksg_problems(400, 0, 8, 8, ValueKind::mixed, 17, 170), 8, 0);
}

#if defined(KILN_X86_64) && KILN_X86_64
TEST(KsgNeighborsVariants, HaveTheSameBits) {
  Queue& queue = *open_device(Device::cpu).queue;
  for (const std::int32_t z : {0, 2}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      KsgProblems in = make_ksg_problems(1021, z, 2, 1, kind, 17);
      set_theiler(in, 2, 18);
      const KsgRadii widest = run(queue, in, 5, z == 0);
      for (const char* isa : {"baseline", "avx2"}) {
        const ScopedEnvironment chosen("KILN_CPU_ISA", isa);
        expect_same(run(queue, in, 5, z == 0), widest, z == 0, isa);
      }
    }
  }
}
#endif

}  // namespace
}  // namespace kiln::test::ksg_neighbors_test
