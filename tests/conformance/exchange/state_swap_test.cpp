// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/state_swap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Values change places.
KILN_CONFORMANCE_CASE(StateSwap, exact)

namespace kiln::test::state_swap_test {
namespace {

class StateSwapKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(StateSwapKernel);

/// An array on the host: its bytes as they lie, and what it is.
struct HostArray {
  std::int64_t rows = 0, stride = 0;
  std::int32_t bytes = 0;
  std::vector<std::byte> data;

  std::int64_t unit() const { return bytes == 0 ? 4 : bytes; }
  // A bit of a packed array, or a byte of a value.
  bool bit(std::int64_t row, std::int64_t slot) const {
    const std::int64_t at = (row * stride + slot / 32) * 4 + slot % 32 / 8;
    return (std::to_integer<unsigned>(data[idx(at)]) >> (slot % 8) & 1u) != 0;
  }
  void set_bit(std::int64_t row, std::int64_t slot, bool value) {
    std::byte& there = data[idx((row * stride + slot / 32) * 4 + slot % 32 / 8)];
    const std::byte mask{static_cast<unsigned char>(1u << (slot % 8))};
    there = value ? there | mask : there & ~mask;
  }
};

HostArray random_array(std::int64_t rows, std::int64_t slots, std::int32_t bytes,
                       std::int64_t beyond, TestRandom& random) {
  HostArray array;
  array.rows = rows;
  array.bytes = bytes;
  array.stride = (bytes == 0 ? slots / 32 : slots) + beyond;
  for (std::int64_t i = 0; i < rows * array.stride * array.unit(); ++i) {
    array.data.push_back(static_cast<std::byte>(random.between(0, 255)));
  }
  return array;
}

struct Swapping {
  LadderPlaces places;
  std::vector<std::int32_t> rung_of, slot_of;
  std::vector<HostArray> arrays;
  RunControl control;
};

// The numbers of LadderPlaces in plain loops: home[number] = slot.
std::vector<std::int32_t> homes(const LadderPlaces& p) {
  std::vector<std::int32_t> home;
  for (std::int64_t g = 0; g < p.groups; ++g) {
    for (std::int64_t r = 0; r < p.rungs; ++r) {
      home.push_back(static_cast<std::int32_t>(g * (p.rungs + p.walkers) + r));
    }
  }
  for (std::int64_t g = 0; g < p.groups; ++g) {
    for (std::int64_t w = 0; w < p.walkers; ++w) {
      home.push_back(static_cast<std::int32_t>(g * (p.rungs + p.walkers) + p.rungs + w));
    }
  }
  return home;
}

enum class Kind { none, neighbours, pairs, any };

// Exchanges numbers within each group of slots.
void permute(Swapping& s, Kind kind, TestRandom& random) {
  const std::int64_t size = s.places.rungs + s.places.walkers;
  const auto swap = [&](std::int64_t a, std::int64_t b) {
    const std::int32_t x = s.rung_of[idx(a)], y = s.rung_of[idx(b)];
    std::swap(s.rung_of[idx(a)], s.rung_of[idx(b)]);
    s.slot_of[idx(x)] = static_cast<std::int32_t>(b);
    s.slot_of[idx(y)] = static_cast<std::int32_t>(a);
  };
  for (std::int64_t g = 0; g < s.places.groups; ++g) {
    const std::int64_t first = g * size;
    std::vector<std::int64_t> order(idx(size));
    std::iota(order.begin(), order.end(), first);
    if (kind == Kind::neighbours) {
      for (std::int64_t k = random.between(0, 1); k + 1 < size; k += 2) {
        if (random.unit() < 0.7) swap(first + k, first + k + 1);
      }
    } else if (kind != Kind::none) {
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[idx(random.between(0, static_cast<std::int64_t>(i) - 1))]);
      }
      const std::size_t step = kind == Kind::pairs ? 2 : 1;
      for (std::size_t i = 0; i + 1 < order.size(); i += step) swap(order[i], order[i + 1]);
    }
  }
}

Swapping make(const LadderPlaces& places, Kind kind, std::uint64_t seed, std::int64_t beyond = 0) {
  TestRandom random(seed);
  Swapping s;
  s.places = places;
  s.slot_of = homes(places);
  const std::int64_t used = static_cast<std::int64_t>(s.slot_of.size());
  const std::int64_t slots = std::max<std::int64_t>(32, (used + 31) / 32 * 32);
  s.rung_of.assign(idx(slots), 0);
  for (std::size_t number = 0; number < s.slot_of.size(); ++number) {
    s.rung_of[idx(s.slot_of[number])] = static_cast<std::int32_t>(number);
  }
  permute(s, kind, random);
  for (const std::int32_t bytes : {0, 1, 4, 8}) {
    for (const std::int64_t rows : {0, 1, 31, 33}) {
      s.arrays.push_back(random_array(rows, slots, bytes, beyond, random));
    }
  }
  s.arrays.push_back(random_array(301, slots, 0, beyond, random));
  return s;
}

// What each slot ends up with, value by value.
Swapping plain(const Swapping& s) {
  Swapping out = s;
  const std::vector<std::int32_t> home = homes(s.places);
  for (std::size_t number = 0; number < home.size(); ++number) {
    const std::int64_t to = home[number], from = s.slot_of[number];
    for (std::size_t a = 0; a < s.arrays.size(); ++a) {
      const HostArray& before = s.arrays[a];
      for (std::int64_t row = 0; row < before.rows; ++row) {
        if (before.bytes == 0) {
          out.arrays[a].set_bit(row, to, before.bit(row, from));
          continue;
        }
        const auto at = [&](std::int64_t slot) {
          return static_cast<std::ptrdiff_t>((row * before.stride + slot) * before.bytes);
        };
        std::copy_n(before.data.begin() + at(from), before.bytes,
                    out.arrays[a].data.begin() + at(to));
      }
    }
    out.slot_of[number] = home[number];
    out.rung_of[idx(to)] = static_cast<std::int32_t>(number);
  }
  return out;
}

Swapping run(Queue& queue, Swapping s) {
  DeviceArray<std::int32_t> rung_of(queue, s.rung_of), slot_of(queue, s.slot_of);
  const DeviceArray<RunControl> control = upload_control(queue, s.control);
  std::vector<DeviceArray<std::byte>> memory;
  StateSwap kernel;
  for (const HostArray& array : s.arrays) {
    memory.emplace_back(queue, array.data);
    kernel.arrays[kernel.n_arrays++] = {memory.back().data(), array.rows, array.stride,
                                        array.bytes};
  }
  kernel.rung_of = rung_of.view();
  kernel.slot_of = slot_of.view();
  kernel.places = s.places;
  kernel.control = control.data();
  queue.launch(kernel);
  s.rung_of = rung_of.download();
  s.slot_of = slot_of.download();
  for (std::size_t a = 0; a < s.arrays.size(); ++a) s.arrays[a].data = memory[a].download();
  return s;
}

void expect_same(const Swapping& got, const Swapping& expected) {
  EXPECT_EQ(got.rung_of, expected.rung_of);
  EXPECT_EQ(got.slot_of, expected.slot_of);
  for (std::size_t a = 0; a < got.arrays.size(); ++a) {
    EXPECT_TRUE(got.arrays[a].data == expected.arrays[a].data)
        << "array " << a << " of " << got.arrays[a].bytes << " bytes a value, "
        << got.arrays[a].rows << " rows";
  }
}

// Groups of 1, 31, 32, 33 and more begin anywhere in a word, so pairs lie in one word and across
// two, and words are shared by groups.
TEST_P(StateSwapKernel, IsTheDefinitionInEveryLayout) {
  for (const std::int64_t rungs : {1, 2, 7, 31, 32, 33, 64}) {
    for (const std::int64_t groups : {1, 2, 5, 33}) {
      for (const Kind kind : {Kind::neighbours, Kind::pairs, Kind::any}) {
        SCOPED_TRACE(std::to_string(groups) + " groups of " + std::to_string(rungs));
        const Swapping s = make({groups, rungs, 0}, kind, idx(rungs + groups));
        const Swapping out = run(queue(), s);
        expect_same(out, plain(s));
      }
    }
  }
}

TEST_P(StateSwapKernel, BringsWalkersHomeToo) {
  for (const std::int64_t walkers : {1, 3, 30}) {
    const Swapping s = make({9, 5, walkers}, Kind::any, idx(walkers));
    const Swapping out = run(queue(), s);
    expect_same(out, plain(s));
    EXPECT_NE(out.slot_of, s.slot_of);
  }
}

TEST_P(StateSwapKernel, TakesOddStrides) {
  for (const std::int64_t beyond : {1, 5}) {
    const Swapping s = make({7, 33, 2}, Kind::any, 3, beyond);
    expect_same(run(queue(), s), plain(s));
  }
}

TEST_P(StateSwapKernel, TakesTheLargestGroupsAndManySmallOnes) {
  for (const LadderPlaces& places : {LadderPlaces{3, 1024, 1024}, LadderPlaces{2, 1024, 1023},
                                     LadderPlaces{1500, 3, 0}, LadderPlaces{200, 40, 1}}) {
    for (const Kind kind : {Kind::neighbours, Kind::any}) {
      const Swapping s = make(places, kind, 8);
      expect_same(run(queue(), s), plain(s));
    }
  }
}

TEST_P(StateSwapKernel, LeavesEverythingWhereEverybodyIsAtHomeOrOnceStopped) {
  const Swapping home = make({4, 20, 0}, Kind::none, 5);
  expect_same(run(queue(), home), home);
  Swapping stopped = make({4, 20, 0}, Kind::any, 6);
  stopped.control.stop = DeviceStop::target;
  expect_same(run(queue(), stopped), stopped);
}

TEST_P(StateSwapKernel, TakesNoGroupsAndNoArrays) {
  const Swapping none = make({0, 4, 0}, Kind::any, 7);
  expect_same(run(queue(), none), none);
  Swapping bare = make({4, 6, 1}, Kind::any, 9);
  bare.arrays.clear();
  EXPECT_EQ(run(queue(), bare).slot_of, homes(bare.places));
}

}  // namespace
}  // namespace kiln::test::state_swap_test
