// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_start.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Named draws, and single roundings.
KILN_CONFORMANCE_CASE(BifurcationStart, exact)

namespace kiln::test::bifurcation_start_test {
namespace {

class BifurcationStartKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BifurcationStartKernel);

constexpr std::int64_t sites = 7, slots = 64;

struct Drawn {
  std::vector<float> position, momentum;
};

std::vector<std::uint64_t> keys() {
  std::vector<std::uint64_t> all;
  for (std::int64_t slot = 0; slot < slots; ++slot) all.push_back(slot < 40 ? 11 : 1ull << 50);
  return all;
}

Drawn run(Queue& queue, std::uint64_t step, DeviceStop stop = DeviceStop::none) {
  const DeviceArray<std::int32_t> variable(queue, std::vector<std::int32_t>{3, 0, -1, 1, 2, -1, 4});
  DeviceArray<float> position(queue, std::vector<float>(sites * slots, 0.5F));
  DeviceArray<float> momentum(queue, std::vector<float>(sites * slots, 0.5F));
  const DeviceArray<std::uint64_t> key(queue, keys());
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t slot = 0; slot < slots; ++slot) numbers.push_back(slot % 40);
  const DeviceArray<std::uint32_t> replica(queue, numbers);
  RunControl control;
  control.step = step;
  control.stop = stop;
  const DeviceArray<RunControl> device_control = upload_control(queue, control);
  queue.launch(BifurcationStart{variable.view(),
                                {position.data(), sites, slots, slots},
                                {momentum.data(), sites, slots, slots},
                                {key.view(), replica.view()},
                                BifurcationRounds{100, 400},
                                device_control.data()});
  return {position.download(), momentum.download()};
}

TEST_P(BifurcationStartKernel, DrawsByTheNamesOfReplicaSiteAndStep) {
  for (const std::uint64_t step : {0, 100, 300, 700, 1100}) {
    const Drawn drawn = run(queue(), step);
    for (std::int64_t site = 0; site < sites; ++site) {
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const DrawName name{keys()[idx(slot)], step, static_cast<std::uint32_t>(slot % 40),
                            RngDomain::bifurcation, 0};
        const auto number = [&](std::uint32_t word) {
          return static_cast<float>(0.2 * ((draw_word(name, word) + 0.5) / 0x1p32 - 0.5));
        };
        const bool filler = site == 2 || site == 5;
        const auto word = static_cast<std::uint32_t>(2 * site);
        const std::size_t at = idx(site * slots + slot);
        ASSERT_EQ(drawn.position[at], filler ? 0 : number(word)) << site << " " << slot;
        ASSERT_EQ(drawn.momentum[at], filler ? 0 : number(word + 1)) << site << " " << slot;
      }
    }
  }
}

TEST_P(BifurcationStartKernel, DoesNothingWithinARoundOrAfterTheRun) {
  const std::vector<float> before(sites * slots, 0.5F);
  for (const std::uint64_t step : {1, 99, 101, 200, 299, 1000}) {
    EXPECT_EQ(run(queue(), step).position, before) << step;
  }
  EXPECT_EQ(run(queue(), 0, DeviceStop::target).momentum, before);
}

// Rounds of 100, 200, 400, 400, ... steps.
TEST(BifurcationRounds, PlaceEveryStep) {
  const BifurcationRounds rounds{100, 400};
  std::uint64_t step = 0;
  for (std::int64_t round = 0; round < 6; ++round) {
    const std::int64_t length = round == 0 ? 100 : round == 1 ? 200 : 400;
    for (std::int64_t m = 0; m < length; ++m, ++step) {
      const BifurcationRounds::Place place = rounds.at(step);
      ASSERT_EQ(place.round, round) << step;
      ASSERT_EQ(place.step, m) << step;
      ASSERT_EQ(place.length, length) << step;
    }
  }
  EXPECT_EQ((BifurcationRounds{7, 7}.at(30).round), 4);
  EXPECT_EQ((BifurcationRounds{7, 7}.at(30).step), 2);
}

}  // namespace
}  // namespace kiln::test::bifurcation_start_test
