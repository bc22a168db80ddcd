// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cross_entropy_kernels.hpp"

namespace kiln::test::cross_entropy_kernels::select_test {
namespace {

using ce::Population;
using ce::SelectElite;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr std::uint64_t patience = 3;

struct Selection {
  std::vector<std::uint32_t> elite;
  std::vector<Population> populations;
};

Selection select(Queue& queue, const std::vector<double>& energy, std::int64_t populations,
                 std::int64_t wanted, const Population& before = {}, const RunControl& now = {}) {
  const auto slots = static_cast<std::int64_t>(energy.size());
  const std::int64_t size = slots / populations;
  const DeviceArray<double> energies(queue, energy);
  DeviceArray<std::uint32_t> elite(queue, std::vector<std::uint32_t>(idx((slots + 31) / 32), 99u));
  DeviceArray<Population> all(queue, std::vector<Population>(idx(populations), before));
  const DeviceArray<RunControl> control = upload_control(queue, now);
  launch(SelectElite{energies.view(), all.view(), elite.view(), size, wanted, patience,
                     control.data()},
         queue);
  return {elite.download(), all.download()};
}

/// The replicas [begin, end) of an elite, by a stable sort.
std::vector<std::int64_t> sorted_elite(const std::vector<double>& energy, std::int64_t begin,
                                       std::int64_t end, std::int64_t wanted) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = begin; i < end; ++i) {
    if (std::isfinite(energy[idx(i)])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return energy[idx(i)]; });
  order.resize(std::min(order.size(), idx(wanted)));
  std::ranges::sort(order);
  return order;
}

std::vector<std::int64_t> members(const std::vector<std::uint32_t>& elite, std::int64_t begin,
                                  std::int64_t end) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = begin; i < end; ++i) {
    if (bit_at(elite, i)) all.push_back(i);
  }
  return all;
}

class CrossEntropySelectElite : public DeviceTest {};
KILN_ON_EVERY_BACKEND(CrossEntropySelectElite);

// Many ties, among them zeros of both signs; energies near and far apart, and such that are none.
TEST_P(CrossEntropySelectElite, SelectsAsAStableSortDoes) {
  for (const auto& [populations, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 31}, {1, 33}, {3, 32}, {5, 96}, {1, 1000}, {2, 4096}}) {
    TestRandom random(idx(7 * populations + size));
    std::vector<double> energy(idx(populations * size));
    for (double& e : energy) {
      const std::int64_t kind = random.between(0, 9);
      e = kind == 0   ? nan
          : kind == 1 ? infinity
          : kind == 2 ? -0.0
          : kind == 3 ? 0.0
          : kind == 4 ? std::ldexp(random.unit() - 0.5, static_cast<int>(random.between(-300, 300)))
                      : static_cast<double>(random.between(-4, 4));
    }
    for (const std::int64_t wanted : {std::int64_t{1}, (size + 9) / 10, (size + 1) / 2, size}) {
      SCOPED_TRACE(std::to_string(populations) + " x " + std::to_string(size) + ", wanted " +
                   std::to_string(wanted));
      const Selection out = select(queue(), energy, populations, wanted);
      for (std::int64_t p = 0; p < populations; ++p) {
        const std::int64_t begin = p * size, end = begin + size;
        const std::vector<std::int64_t> expected = sorted_elite(energy, begin, end, wanted);
        EXPECT_EQ(members(out.elite, begin, end), expected);
        EXPECT_EQ(out.populations[idx(p)].elite, expected.size());
      }
      for (std::int64_t i = populations * size; i < 32 * std::ssize(out.elite); ++i) {
        EXPECT_FALSE(bit_at(out.elite, i)) << "padding " << i;
      }
    }
  }
}

TEST_P(CrossEntropySelectElite, LeavesAnEliteEmptyWhereNoEnergyIsANumber) {
  const Selection out = select(queue(), std::vector<double>(64, nan), 1, 5);
  EXPECT_EQ(out.populations[0].elite, 0u);
  EXPECT_EQ(out.elite, (std::vector<std::uint32_t>{0, 0}));
}

TEST_P(CrossEntropySelectElite, BeginsAnewWhatHasConverged) {
  const std::vector<double> energy(32, 1.0);
  Population before;
  before.restarts = 4;
  before.open = 0;
  const Population after = select(queue(), energy, 1, 3, before).populations[0];
  EXPECT_EQ(after.restarts, 5u);
  EXPECT_EQ(after.begins, 1u);
  EXPECT_EQ(after.open, 0u);
  before.open = 1;
  before.begins = 1;
  const Population open = select(queue(), energy, 1, 3, before).populations[0];
  EXPECT_EQ(open.restarts, 4u);
  EXPECT_EQ(open.begins, 0u);
}

// The highest energy of an elite of four falls in the second round, and then no more.
TEST_P(CrossEntropySelectElite, BeginsAnewAfterItsPatience) {
  std::vector<double> energy(32, 5.0);
  Population now;
  std::vector<std::uint32_t> begins;
  for (int round = 0; round < 9; ++round) {
    energy[8] = energy[20] = energy[21] = round == 1 ? -2.5 : 1;
    energy[30] = round == 0 ? 4 : 2;
    now = select(queue(), energy, 1, 4, now).populations[0];
    begins.push_back(now.begins);
    EXPECT_EQ(now.elite, 4u);
    now.open = 1;
  }
  EXPECT_EQ(begins, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(now.restarts, 2u);
}

TEST_P(CrossEntropySelectElite, DoesNothingInARunThatHasStopped) {
  const Selection out = select(queue(), std::vector<double>(32, 1.0), 1, 3, {}, stopped());
  EXPECT_EQ(out.elite, std::vector<std::uint32_t>{99u});
  EXPECT_EQ(out.populations[0].elite, 0u);
}

}  // namespace
}  // namespace kiln::test::cross_entropy_kernels::select_test
