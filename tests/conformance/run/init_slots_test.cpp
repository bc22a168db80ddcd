// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/init_slots.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Named draws and copies.
KILN_CONFORMANCE_CASE(InitSlots, exact)

namespace kiln::test::init_slots_test {
namespace {

class InitSlotsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(InitSlotsKernel);

struct Named {
  std::vector<std::uint64_t> key;
  std::vector<std::uint32_t> replica;
  std::vector<std::int32_t> rung_of, replica_of;
  std::vector<double> energy, best_energy;
};

Named named(Queue& queue, std::uint64_t seed, std::int64_t replicas, std::int64_t groups) {
  const std::int64_t slots = (replicas + 31) / 32 * 32;
  DeviceArray<std::uint64_t> key(queue, slots);
  DeviceArray<std::uint32_t> replica(queue, slots);
  DeviceArray<std::int32_t> rung_of(queue, slots), replica_of(queue, slots);
  DeviceArray<double> energy(queue, slots), best_energy(queue, slots);
  queue.launch(InitSlots{seed, replicas, replicas / groups, key.view(), replica.view(),
                         rung_of.view(), replica_of.view(), energy.view(), best_energy.view()});
  return {key.download(),        replica.download(), rung_of.download(),
          replica_of.download(), energy.download(),  best_energy.download()};
}

TEST_P(InitSlotsKernel, GivesEveryGroupAKeyAndEveryReplicaItsPlaceThere) {
  const Named out = named(queue(), 7, 66, 3);
  for (std::size_t slot = 0; slot < 66; ++slot) {
    EXPECT_EQ(out.key[slot], group_key(7, static_cast<std::int64_t>(slot / 22)));
    EXPECT_EQ(out.replica[slot], slot % 22);
    EXPECT_EQ(out.rung_of[slot], static_cast<std::int32_t>(slot / 22));
  }
  EXPECT_EQ(out.key[0], 7u) << "a group alone has the seed itself";
  EXPECT_EQ(std::set(out.key.begin(), out.key.end()).size(), 3u);
  for (std::size_t slot = 0; slot < 96; ++slot) {
    EXPECT_EQ(out.replica_of[slot], static_cast<std::int32_t>(slot));
    EXPECT_EQ(out.energy[slot], std::numeric_limits<double>::infinity());
    EXPECT_EQ(out.best_energy[slot], std::numeric_limits<double>::infinity());
  }
}

TEST_P(InitSlotsKernel, LetsPaddingDrawUnderNamesOfItsOwn) {
  const Named out = named(queue(), 7, 33, 1);
  for (std::size_t slot = 33; slot < 64; ++slot) {
    EXPECT_EQ(out.key[slot], 7u);
    EXPECT_EQ(out.replica[slot], slot);
    EXPECT_EQ(out.rung_of[slot], 0);
  }
}

// The keys are part of the answer that a seed gives: they must never change.
TEST_P(InitSlotsKernel, DrawsTheSameKeysEverywhere) {
  for (const std::int64_t groups : {1, 2, 1000}) {
    const Named here = named(queue(), ~0ull, groups, groups);
    const Named there = named(cpu_queue(), ~0ull, groups, groups);
    EXPECT_EQ(here.key, there.key);
    EXPECT_EQ(here.replica, there.replica);
    EXPECT_EQ(here.rung_of, there.rung_of);
  }
}

}  // namespace
}  // namespace kiln::test::init_slots_test
