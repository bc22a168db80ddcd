// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "information/ksg_problems.hpp"

// Comparisons of distances, and sums of integers.
KILN_CONFORMANCE_CASE(KsgCounts, exact)

namespace kiln::test::ksg_counts_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int64_t sum_before = 1000;  // sums are added to

using Numbers = std::vector<std::int64_t>;

// psi(i + 1) = -gamma + 1 + 1/2 + ... + 1/i.
std::vector<long double> digamma(std::int64_t n) {
  std::vector<long double> psi{-0.57721566490153286060651209008240243L};
  for (std::int64_t i = 1; i <= n; ++i)
    psi.push_back(psi.back() + 1.0L / static_cast<long double>(i));
  return psi;
}

Numbers digamma_table(std::int64_t n) {
  Numbers table;
  for (const long double psi : digamma(n)) table.push_back(std::llround(psi * 0x1p36L));
  return table;
}

struct Counts {
  std::vector<std::int32_t> counts;  // [problem * blocks + block][n]
  Numbers sums;                      // [problem][2]
  friend bool operator==(const Counts&, const Counts&) = default;
};

std::int64_t blocks_of(const KsgProblems& in) { return in.z > 0 ? 3 : 2; }

// Sums are from 0 on.
Counts run(Queue& queue, const KsgProblems& in, const KsgRadii& radii, bool extents,
           bool wants_counts = true) {
  const DeviceKsgProblems device(queue, in);
  const std::int64_t problems = std::ssize(in.problems), n = in.n();
  const DeviceArray<double> radius(queue, radii.radius), extent_y(queue, radii.extent_y),
      extent_x(queue, radii.extent_x);
  const DeviceArray<std::int64_t> psi(queue, digamma_table(n));
  DeviceArray<std::int64_t> sums(queue, Numbers(idx(2 * problems), sum_before));
  const std::int64_t rows = problems * blocks_of(in);
  DeviceArray<std::int32_t> counts(queue, std::vector<std::int32_t>(idx(rows * n), -1));
  KsgCounts kernel;
  kernel.points = device.points();
  if (extents) {
    kernel.extent_y = {extent_y.data(), problems, n, n};
    kernel.extent_x = {extent_x.data(), problems, n, n};
  } else {
    kernel.radius = {radius.data(), problems, n, n};
  }
  kernel.search = device.search();
  if (in.theiler > 0) kernel.natural = device.natural();
  kernel.psi = psi.view();
  kernel.sums = {sums.data(), problems, 2, 2};
  if (wants_counts) kernel.counts = {counts.data(), rows, n, n};
  queue.launch(kernel);
  Counts out{counts.download(), sums.download()};
  for (std::int64_t& sum : out.sums) sum -= sum_before;
  return out;
}

// The value of a point as the header writes it.
std::int64_t value_by_definition(const Numbers& psi, const std::vector<std::int32_t>& count,
                                 bool extents) {
  if (count.size() == 3) return psi[idx(count[0])] - psi[idx(count[1])] - psi[idx(count[2])];
  const std::int32_t less = extents ? 1 : 0;
  return -psi[idx(count[0] - less)] - psi[idx(count[1] - less)];
}

Counts by_definition(const KsgProblems& in, const KsgRadii& radii, bool extents) {
  const Numbers psi = digamma_table(in.n());
  const std::int64_t n = in.n(), blocks = blocks_of(in);
  Counts all;
  all.counts.resize(idx(std::ssize(in.problems) * blocks * n));
  for (std::int64_t problem = 0; problem < std::ssize(in.problems); ++problem) {
    std::int64_t sum = 0, squares = 0;
    const std::vector<std::int32_t> order = in.order_of_problem(problem);
    for (std::int64_t point = 0; point < n; ++point) {
      const auto count =
          counts_by_definition(in, radii, extents, problem, order[idx(point)], point);
      for (std::int64_t b = 0; b < blocks; ++b) {
        all.counts[idx((problem * blocks + b) * n + point)] = count[idx(b)];
      }
      const std::int64_t value = value_by_definition(psi, count, extents);
      const std::int64_t coarse = std::abs(value) / (1 << 22);  // 36 - 14 bits
      sum += value;
      squares += coarse * coarse;
    }
    all.sums.insert(all.sums.end(), {sum, squares});
  }
  return all;
}

void expect_definition(Queue& queue, const KsgProblems& in, const KsgRadii& radii, bool extents,
                       const std::string& what) {
  const Counts got = run(queue, in, radii, extents), expected = by_definition(in, radii, extents);
  EXPECT_EQ(got.counts, expected.counts) << what << ", theiler " << in.theiler;
  EXPECT_EQ(got.sums, expected.sums) << what << ", theiler " << in.theiler;
}

// As an estimator counts: within the distance of the k-th neighbour, and within rectangles.
void expect_definition(Queue& queue, const KsgProblems& in, std::int32_t k,
                       const std::string& what) {
  const KsgRadii radii = radii_by_definition(in, k);
  expect_definition(queue, in, radii, false, what);
  if (in.z > 0 || std::ranges::count(radii.radius, inf) > 0) return;
  expect_definition(queue, in, radii, true, what + ", extents");
}

class KsgCountsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(KsgCountsKernel);

TEST_P(KsgCountsKernel, CountsWhatAllPairsSayForEverySize) {
  for (const std::int64_t n : {1, 2, 5, 31, 32, 33, 255, 257, 1000}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      const std::string what = std::to_string(n) + " points";
      expect_definition(queue(), make_ksg_problems(n, 0, 1, 1, kind, idx(n)), 4, what);
      expect_definition(queue(), make_ksg_problems(n, 1, 1, 1, kind, idx(n)), 4, what);
      expect_definition(queue(), make_ksg_problems(n, 0, 2, 1, kind, idx(n)), 4, what);
    }
  }
  expect_definition(queue(), make_ksg_problems(4097, 0, 1, 2, ValueKind::mixed, 1, 1), 4, "4097");
  expect_definition(queue(), make_ksg_problems(4097, 1, 1, 1, ValueKind::mixed, 2, 1), 4, "4097");
}

TEST_P(KsgCountsKernel, TakesAllNumbersOfCoordinates) {
  for (const std::int32_t z : {0, 1, 2, 3, 10}) {
    for (const std::int32_t y : {1, 2, 3}) {
      for (const std::int32_t x : {1, 2, 3}) {
        const std::string what = std::to_string(z) + std::to_string(y) + std::to_string(x);
        expect_definition(queue(), make_ksg_problems(200, z, y, x, ValueKind::reals, 3), 3, what);
        expect_definition(queue(), make_ksg_problems(90, z, y, x, ValueKind::lattice, 4), 5, what);
      }
    }
  }
  expect_definition(queue(), make_ksg_problems(120, 0, 13, 3, ValueKind::mixed, 5), 4, "13 + 3");
}

TEST_P(KsgCountsKernel, LeavesOutWhatIsNearInTime) {
  for (const std::int32_t theiler : {1, 2, 5, 40, 1000000}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      for (const std::int64_t n : {1, 6, 33, 257}) {
        for (const std::int32_t z : {0, 1, 2}) {
          for (const std::int32_t x : {1, 2}) {
            KsgProblems in = make_ksg_problems(n, z, 1, x, kind, idx(theiler));
            set_theiler(in, theiler, idx(n));
            expect_definition(queue(), in, 3, std::to_string(n) + " points");
          }
        }
      }
    }
  }
}

// Points at the radius do not count, and those at the extent do; a radius of 0 has nothing within.
TEST_P(KsgCountsKernel, DecidesAtTheBorder) {
  KsgProblems in;
  in.columns = {{0, -0.0, 1, 2}, {0, 0, 1, 3}};
  in.problems = {{0, 1}};
  KsgRadii radii;
  radii.radius = {0, 1, 1, 2};
  radii.extent_y = {0, 0, 1, 1};
  radii.extent_x = {0, 1, 1, 2};
  EXPECT_EQ(run(queue(), in, radii, false).counts, (std::vector<std::int32_t>{0, 1, 0, 1,  //
                                                                              0, 1, 0, 0}));
  EXPECT_EQ(run(queue(), in, radii, true).counts, (std::vector<std::int32_t>{1, 1, 3, 1,  //
                                                                             1, 2, 2, 1}));
}

TEST_P(KsgCountsKernel, TakesAnyRadius) {
  for (const std::int32_t z : {0, 1, 2}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      const KsgProblems in = make_ksg_problems(130, z, 1, 2, kind, 6);
      TestRandom random(7);
      KsgRadii radii = radii_by_definition(in, 1);
      for (double& radius : radii.radius) {
        const std::int64_t choice = random.between(0, 5);
        radius = choice == 0 ? 0 : choice == 1 ? inf : choice == 2 ? 1 : 3 * random.unit();
      }
      expect_definition(queue(), in, radii, false, "any radius");
    }
  }
}

// The block x of a surrogate has the values of x in other rows, so it is searched where x is.
TEST_P(KsgCountsKernel, SearchesSurrogatesAmongTheirSeries) {
  for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
    for (const std::int32_t theiler : {0, 3}) {
      for (const std::int32_t x : {1, 2}) {
        KsgProblems in = make_ksg_problems(257, 0, 1, x, kind, 8, 1);
        if (theiler > 0) set_theiler(in, theiler, 9);
        const std::vector<std::int32_t> original = in.problems[0];
        in.problems.clear();
        TestRandom random(10);
        for (int surrogate = 0; surrogate < 4; ++surrogate) {
          std::vector<std::int32_t> rows = in.order_of(original[0]);
          for (std::size_t i = rows.size() - 1; i > 0; --i) {
            std::swap(rows[i], rows[idx(random.between(0, static_cast<std::int64_t>(i)))]);
          }
          std::vector<std::int32_t> coordinates{original[0]};
          for (std::int32_t d = 1; d <= x; ++d) {
            std::vector<double> values;
            for (const std::int32_t row : rows) {
              values.push_back(in.columns[idx(original[idx(d)])][idx(row)]);
            }
            coordinates.push_back(static_cast<std::int32_t>(in.columns.size()));
            in.columns.push_back(values);
          }
          in.problems.push_back(coordinates);
          in.searched.push_back(original);
        }
        expect_definition(queue(), in, 4, "surrogates");
      }
    }
  }
}

// Enough for a GPU to take a lane for each point.
TEST_P(KsgCountsKernel, TakesManyProblemsAtOnce) {
  for (const std::int32_t z : {0, 1, 2, 3}) {
    for (const std::int32_t theiler : {0, 5}) {
      const ValueKind kind = z % 2 == 0 ? ValueKind::reals : ValueKind::mixed;
      KsgProblems in = make_ksg_problems(33, z, 1, z > 1 ? 1 : 2, kind, 11, 2000);
      if (theiler > 0) set_theiler(in, theiler, 12);
      expect_definition(queue(), in, 4, "2000 problems");
    }
  }
}

TEST_P(KsgCountsKernel, AddsUpWithoutCounts) {
  for (const std::int32_t z : {0, 1}) {
    const KsgProblems in = make_ksg_problems(700, z, 1, 1, ValueKind::reals, 13);
    const KsgRadii radii = radii_by_definition(in, 3);
    const Counts asked = run(queue(), in, radii, false),
                 sums = run(queue(), in, radii, false, false);
    EXPECT_EQ(sums.sums, asked.sums);
    EXPECT_EQ(std::ranges::count(sums.counts, -1), std::ssize(sums.counts));
  }
}

// What the sums are for: the mean over points, and its spread.
TEST_P(KsgCountsKernel, HasTheMeanOfTheDigammaFunction) {
  for (const std::int32_t z : {0, 1}) {
    for (const bool extents : {false, true}) {
      if (extents && z > 0) continue;
      const std::int64_t n = 1000;
      const KsgProblems in = make_ksg_problems(n, z, 1, 1, ValueKind::reals, 14, 1);
      const KsgRadii radii = radii_by_definition(in, 4);
      const std::vector<long double> psi = digamma(n);
      const std::vector<std::int32_t> order = in.order_of_problem(0);
      long double sum = 0, squares = 0;
      for (std::int64_t point = 0; point < n; ++point) {
        const auto count = counts_by_definition(in, radii, extents, 0, order[idx(point)], point);
        const std::size_t less = extents ? 1 : 0;
        const long double value = z > 0
                                      ? psi[idx(count[0])] - psi[idx(count[1])] - psi[idx(count[2])]
                                      : -psi[idx(count[0]) - less] - psi[idx(count[1]) - less];
        sum += value;
        squares += value * value;
      }
      const Numbers sums = run(queue(), in, radii, extents).sums;
      const double mean = static_cast<double>(sum / n);
      EXPECT_NEAR(static_cast<double>(sums[0]) * 0x1p-36 / n, mean, 2 * 0x1p-36);
      // Each value is cut off by less than 2^-14.
      const double error = 2 * 12 * 0x1p-14;
      EXPECT_NEAR(static_cast<double>(sums[1]) * 0x1p-28 / n, static_cast<double>(squares / n),
                  error);
      EXPECT_GT(std::abs(mean), 0.5);
    }
  }
}

TEST_P(KsgCountsKernel, MatchesCpu) {
  const auto expect_match = [&](KsgProblems in, std::int32_t theiler) {
    if (theiler > 0) set_theiler(in, theiler, 15);
    TestRandom random(16);
    KsgRadii radii;
    for (std::int64_t i = 0; i < std::ssize(in.problems) * in.n(); ++i) {
      radii.radius.push_back(random.between(0, 9) == 0 ? 1 : random.unit() / 4);
      radii.extent_y.push_back(random.unit() / 4 + 3);  // of a lattice others are within
      radii.extent_x.push_back(random.unit() / 4 + 3);
    }
    EXPECT_EQ(run(queue(), in, radii, false), run(cpu_queue(), in, radii, false)) << in.n();
    if (in.z > 0 || theiler > 0) return;
    EXPECT_EQ(run(queue(), in, radii, true), run(cpu_queue(), in, radii, true)) << in.n();
  };
  for (const std::int32_t theiler : {0, 5}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::mixed}) {
      expect_match(make_ksg_problems(4097, 0, 1, 1, kind, 17, 17), theiler);
      expect_match(make_ksg_problems(2000, 1, 1, 1, kind, 18, 33), theiler);
      expect_match(make_ksg_problems(1000, 2, 1, 3, kind, 19), theiler);
      expect_match(make_ksg_problems(400, 0, 2, 3, kind, 20, 170), theiler);
    }
    expect_match(make_ksg_problems(33000, 0, 1, 1, ValueKind::reals, 21, 2), theiler);
    expect_match(make_ksg_problems(33000, 2, 1, 1, ValueKind::reals, 22, 1), theiler);
  }
}

#if defined(KILN_X86_64) && KILN_X86_64
TEST(KsgCountsVariants, HaveTheSameBits) {
  Queue& queue = *open_device(Device::cpu).queue;
  for (const std::int32_t z : {0, 2}) {
    for (const ValueKind kind : {ValueKind::reals, ValueKind::lattice}) {
      KsgProblems in = make_ksg_problems(1021, z, 2, 1, kind, 23);
      set_theiler(in, 2, 24);
      const KsgRadii radii = radii_by_definition(in, 5);
      for (const char* isa : {"baseline", "avx2"}) {
        const Counts widest = run(queue, in, radii, z == 0);
        const ScopedEnvironment chosen("KILN_CPU_ISA", isa);
        EXPECT_EQ(run(queue, in, radii, z == 0), widest) << isa;
      }
    }
  }
}
#endif

}  // namespace
}  // namespace kiln::test::ksg_counts_test
