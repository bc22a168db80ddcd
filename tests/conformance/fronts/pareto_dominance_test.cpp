// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/pareto_dominance.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Comparisons and counts.
KILN_CONFORMANCE_CASE(ParetoDominance, exact)

namespace kiln::test::pareto_dominance_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Relations {
  std::vector<std::int8_t> matrix;
  std::vector<std::uint32_t> bits;
  std::vector<std::int32_t> dominates, dominated_by;
  friend bool operator==(const Relations&, const Relations&) = default;
};

Relations compare(Queue& queue, const Cloud& cloud, const RunControl& state = {}) {
  const DeviceCloud data(queue, cloud);
  const std::int64_t n = cloud.points(), columns = cloud.largest();
  const std::int64_t words = ParetoDominance::words_of(columns);
  DeviceArray<std::int8_t> matrix(queue, std::vector<std::int8_t>(idx(n * columns), 7));
  DeviceArray<std::uint32_t> bits(queue, std::vector<std::uint32_t>(idx(n * words), 7));
  DeviceArray<std::int32_t> dominates(queue, std::vector<std::int32_t>(idx(n), 7));
  DeviceArray<std::int32_t> dominated_by(queue, std::vector<std::int32_t>(idx(n), 7));
  const auto control = upload_control(queue, state);
  ParetoDominance kernel;
  kernel.points = data.points();
  kernel.matrix = {matrix.data(), n, columns, columns};
  kernel.bits = {bits.data(), n, words, words};
  kernel.dominates = dominates.view();
  kernel.dominated_by = dominated_by.view();
  kernel.control = control.data();
  queue.launch(kernel);
  return {matrix.download(), bits.download(), dominates.download(), dominated_by.download()};
}

Relations by_definition(const Cloud& cloud) {
  const std::int64_t n = cloud.points(), columns = cloud.largest();
  const std::int64_t words = ParetoDominance::words_of(columns);
  Relations all{std::vector<std::int8_t>(idx(n * columns)),
                std::vector<std::uint32_t>(idx(n * words)), std::vector<std::int32_t>(idx(n)),
                std::vector<std::int32_t>(idx(n))};
  for (std::size_t g = 0; g < cloud.sizes.size(); ++g) {
    const std::int64_t begin = cloud.begin(g);
    for (std::int64_t i = 0; i < cloud.sizes[g]; ++i) {
      for (std::int64_t j = 0; j < cloud.sizes[g]; ++j) {
        const std::int64_t a = begin + i, b = begin + j;
        if (!cloud.dominates(a, b)) continue;
        all.matrix[idx(a * columns + j)] = 1;
        all.matrix[idx(b * columns + i)] = -1;
        all.bits[idx(a * words + j / 32)] |= 1u << (j % 32);
        ++all.dominates[idx(a)];
        ++all.dominated_by[idx(b)];
      }
    }
  }
  return all;
}

class ParetoDominanceKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ParetoDominanceKernel);

TEST_P(ParetoDominanceKernel, ComparesByHand) {
  Cloud cloud;
  cloud.sizes = {4};
  cloud.value = {1, 2, 2, 1, /**/ 1, 2, 0, 1};

  const Relations all = compare(queue(), cloud);

  EXPECT_EQ(all.matrix, (std::vector<std::int8_t>{0, 1, 0, 0,     //
                                                  -1, 0, -1, -1,  //
                                                  0, 1, 0, 0,     //
                                                  0, 1, 0, 0}));
  EXPECT_EQ(all.bits, (std::vector<std::uint32_t>{2, 0, 2, 2}));
  EXPECT_EQ(all.dominates, (std::vector<std::int32_t>{1, 0, 1, 1}));
  EXPECT_EQ(all.dominated_by, (std::vector<std::int32_t>{0, 3, 0, 0}));
}

TEST_P(ParetoDominanceKernel, PutsConstraintsAndNanFirst) {
  Cloud cloud;
  cloud.objectives = 1;
  cloud.sizes = {8};
  //                 feasible           infeasible   NaN
  cloud.value = {-0.0, 0.0, inf, -inf, -9, -8, /**/ nan, 1};
  cloud.violation = {0, -3, 0, 0, 2, 2, /**/ 0, nan};

  const Relations all = compare(queue(), cloud);

  EXPECT_EQ(all.dominates, (std::vector<std::int32_t>{5, 5, 4, 7, 2, 2, 0, 0}));
  EXPECT_EQ(all.dominated_by, (std::vector<std::int32_t>{1, 1, 3, 0, 4, 4, 6, 6}));
}

TEST_P(ParetoDominanceKernel, MatchesTheDefinitionOnAllSmallGrids) {
  // Each subset of the points of {0, 1, 2}^2 is a group.
  Cloud cloud;
  std::vector<double> first, second;
  for (int subset = 1; subset < 512; ++subset) {
    cloud.sizes.push_back(std::popcount(static_cast<unsigned>(subset)));
    for (int p = 0; p < 9; ++p) {
      if ((subset >> p & 1) == 0) continue;
      first.push_back(p / 3);
      second.push_back(p % 3);
    }
  }
  cloud.has_offsets = true;
  cloud.value = first;
  cloud.value.insert(cloud.value.end(), second.begin(), second.end());
  EXPECT_EQ(compare(queue(), cloud), by_definition(cloud));
}

TEST_P(ParetoDominanceKernel, MatchesTheDefinitionAtEverySize) {
  std::uint64_t seed = 1;
  for (const std::int64_t size : {1, 7, 8, 9, 31, 32, 33, 255, 257, 1000}) {
    for (const std::int64_t objectives : {1, 2, 3, 10, 16, 17, 40}) {
      if (size == 1000 && objectives > 10) continue;
      SCOPED_TRACE(std::to_string(size) + " x " + std::to_string(objectives));
      const CloudStyle style{seed % 2 == 0 ? 3 : 0, 0.1, 0.02, seed % 3 == 0 ? 0.3 : 0.0};
      Cloud cloud = make_cloud(objectives, {size}, style, seed++);
      EXPECT_EQ(compare(queue(), cloud), by_definition(cloud));
    }
  }
}

TEST_P(ParetoDominanceKernel, KeepsGroupsApart) {
  const CloudStyle style{4, 0, 0.01, 0.1};
  for (const auto& sizes :
       {std::vector<std::int64_t>(50, 40), std::vector<std::int64_t>{3, 0, 100, 32, 1, 65, 0}}) {
    const Cloud cloud = make_cloud(3, sizes, style, sizes.size());
    EXPECT_EQ(compare(queue(), cloud), by_definition(cloud));
  }
}

TEST_P(ParetoDominanceKernel, MatchesCpuOnALargeBatch) {
  const Cloud cloud = make_cloud(3, std::vector<std::int64_t>(40, 1000), {}, 5);
  EXPECT_EQ(compare(queue(), cloud), compare(cpu_queue(), cloud));
}

TEST_P(ParetoDominanceKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Relations all = compare(queue(), make_cloud(2, {5}, {}, 1), stopped);
  EXPECT_EQ(all.dominates, std::vector<std::int32_t>(5, 7));
  EXPECT_EQ(all.matrix, std::vector<std::int8_t>(25, 7));
}

}  // namespace
}  // namespace kiln::test::pareto_dominance_test
