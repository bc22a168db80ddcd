// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/memory/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

/// The heap, with a limit, and what was taken from it and given back.
struct Heap {
  std::uint64_t limit = ~0ull, taken = 0, live = 0, most = 0;
};

class HeapSource final : public MemorySource {
 public:
  explicit HeapSource(Heap& heap) : heap_(heap) {}
  void* take(std::size_t bytes) override {
    if (heap_.live + bytes > heap_.limit) throw OutOfDeviceMemory("the limit", bytes, 0);
    ++heap_.taken;
    heap_.live += bytes;
    heap_.most = std::max(heap_.most, heap_.live);
    return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  }
  void give(void* memory, std::size_t bytes) noexcept override {
    heap_.live -= bytes;
    std::free(memory);
  }
  void fill(void* memory, std::size_t bytes, unsigned char value) override {
    std::memset(memory, value, bytes);
  }

 private:
  Heap& heap_;
};

std::unique_ptr<Arena> arena_on(Heap& heap, const ArenaHabits& habits = {}) {
  return std::make_unique<Arena>(std::make_unique<HeapSource>(heap), habits);
}

/// An array whose bytes all have one value: a neighbour that overlaps it changes that.
struct Canary {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char value;
};

bool is_intact(const Canary& canary) {
  return std::all_of(canary.memory, canary.memory + canary.bytes,
                     [&](unsigned char byte) { return byte == canary.value; });
}

/// Takes arrays and gives them back in an order that nobody would choose; returns how many times
/// the heap was asked.
std::uint64_t play(Arena& arena, Heap& heap, std::uint64_t seed, int steps) {
  std::mt19937_64 random(seed);
  std::vector<Canary> live;
  std::uint64_t used = 0;
  const std::uint64_t before = heap.taken;
  for (int step = 0; step < steps; ++step) {
    if (live.empty() || (live.size() < 60 && random() % 2 == 0)) {
      const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 40000 : 900);
      auto* const memory = static_cast<unsigned char*>(arena.allocate(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
      live.push_back({memory, bytes, static_cast<unsigned char>(random())});
      std::memset(memory, live.back().value, bytes);
      used += (bytes + 255) / 256 * 256;
    } else {
      const std::size_t one = random() % live.size();
      EXPECT_TRUE(is_intact(live[one])) << "step " << step;
      arena.deallocate(live[one].memory, live[one].bytes);
      used -= (live[one].bytes + 255) / 256 * 256;
      live[one] = live.back();
      live.pop_back();
    }
    EXPECT_EQ(arena.used_bytes(), used);
  }
  for (const Canary& canary : live) {
    EXPECT_TRUE(is_intact(canary));
    arena.deallocate(canary.memory, canary.bytes);
  }
  return heap.taken - before;
}

TEST(Arena, GivesArraysThatDoNotOverlapAndTakesThemBack) {
  constexpr int arenas = 8, steps = 20000;
  for (std::uint64_t seed = 0; seed < arenas; ++seed) {
    Heap heap;
    const auto arena = arena_on(heap);
    play(*arena, heap, seed, steps);
    const ArenaState state = arena->state();
    EXPECT_EQ(state.free_bytes, state.reserved_bytes);
    EXPECT_EQ(state.reserved_bytes, heap.live);
    EXPECT_EQ(state.driver_calls, heap.taken);
    arena->trim();
    EXPECT_EQ(heap.live, 0u) << "neighbours that are free are one piece again, whole slabs go";
  }
}

TEST(Arena, ServesARunThatComesAgainWithoutTheDriver) {
  Heap heap;
  const auto arena = arena_on(heap);
  arena->reserve(4 << 20);
  EXPECT_EQ(play(*arena, heap, 1, 5000), 0u) << "what was reserved suffices";
  EXPECT_EQ(play(*arena, heap, 2, 5000), 0u);
  EXPECT_EQ(arena->state().largest_free_bytes, std::uint64_t{4} << 20);
  EXPECT_DOUBLE_EQ(arena->state().fragmentation(), 0);
}

TEST(Arena, ReservesOneLargerSlabInsteadOfTheSmallerOnes) {
  Heap heap;
  const auto arena = arena_on(heap);
  arena->reserve(1 << 20);
  arena->reserve(1 << 19);
  EXPECT_EQ(heap.taken, 1u) << "half of it is there";
  arena->reserve(3 << 20);
  EXPECT_EQ(heap.live, std::uint64_t{3} << 20);
  void* const held = arena->allocate(3 << 20);
  arena->reserve(1 << 20);
  EXPECT_EQ(heap.live, std::uint64_t{4} << 20) << "what is in use stays";
  arena->deallocate(held, 3 << 20);
}

TEST(Arena, TellsWhatIsFreeInOtherPieces) {
  Heap heap;
  const auto arena = arena_on(heap);
  arena->reserve(4096);
  std::vector<void*> lines;
  for (int i = 0; i < 16; ++i) lines.push_back(arena->allocate(256));
  EXPECT_DOUBLE_EQ(arena->state().fragmentation(), 0) << "nothing is free";
  for (const std::size_t i : {0, 1, 2, 5}) arena->deallocate(lines[i], 256);
  EXPECT_DOUBLE_EQ(arena->state().fragmentation(), 1 - 3 / 4.0);
  EXPECT_EQ(arena->touched_bytes(), 4096u);
  for (std::size_t i = 0; i < 16; ++i) {
    if (i > 2 && i != 5) arena->deallocate(lines[i], 256);
  }
}

TEST(Arena, KeepsWhatItHasWhereTheDriverHasNoMore) {
  Heap heap;
  heap.limit = 1 << 20;
  const auto arena = arena_on(heap);
  void* const first = arena->allocate(1000);
  EXPECT_THROW(arena->reserve(1 << 20), OutOfDeviceMemory);
  EXPECT_THROW(arena->allocate(1 << 20), OutOfDeviceMemory);
  EXPECT_EQ(arena->used_bytes(), 1024u);
  arena->deallocate(first, 1000);
  EXPECT_NE(arena->allocate(1 << 20), nullptr) << "the slab that nobody used went back";
  EXPECT_LE(heap.most, heap.limit);
}

TEST(Arena, ReleasesWhatGrowsPastIt) {
  Heap heap;
  const auto arena = arena_on(heap);
  for (std::size_t mib = 1; mib < 40; ++mib) {  // as models grow
    void* const memory = arena->allocate(mib << 20);
    arena->deallocate(memory, mib << 20);
  }
  EXPECT_EQ(heap.most, std::uint64_t{39} << 20) << "not the sum of all sizes";
}

TEST(Arena, DirectTakesEachArrayFromTheDriver) {
  Heap heap;
  const auto arena = arena_on(heap, {.direct = true, .fill = {}});
  arena->reserve(1 << 20);
  EXPECT_EQ(heap.live, 0u);
  void* const memory = arena->allocate(1000);
  EXPECT_EQ(heap.live, 1000u) << "a tool sees where it ends";
  EXPECT_EQ(arena->state().reserved_bytes, 1024u);
  arena->deallocate(memory, 1000);
  EXPECT_EQ(heap.live, 0u);
  const std::uint64_t taken = play(*arena, heap, 3, 1000);
  EXPECT_GT(taken, 400u);
  EXPECT_EQ(taken, arena->state().driver_calls - 1);
}

TEST(Arena, FillsWhatItHandsOut) {
  Heap heap;
  const auto arena = arena_on(heap, {.direct = false, .fill = 0xa5});
  for (int round = 0; round < 2; ++round) {
    auto* const memory = static_cast<unsigned char*>(arena->allocate(700));
    EXPECT_TRUE(is_intact({memory, 700, 0xa5}));
    std::memset(memory, round, 700);
    arena->deallocate(memory, 700);
  }
}

class ArenaHabitsFromEnvironment : public testing::Test {
 protected:
  static ArenaHabits of(const char* text) {
    setenv("KILN_MEMORY", text, 1);
    return ArenaHabits::from_environment();
  }
  void SetUp() override {
    const char* const set = std::getenv("KILN_MEMORY");
    former_ = set == nullptr ? "" : set;
  }
  void TearDown() override { setenv("KILN_MEMORY", former_.c_str(), 1); }
  std::string former_;
};

TEST_F(ArenaHabitsFromEnvironment, AreWords) {
  EXPECT_FALSE(of("").fill);
  EXPECT_TRUE(of("direct").direct);
  EXPECT_EQ(of("fill=0xa5").fill, 0xa5);
  EXPECT_EQ(of("direct,fill=255").fill, 0xff);
  EXPECT_TRUE(of("direct,fill=255").direct);
}

TEST_F(ArenaHabitsFromEnvironment, RefusesOthers) {
  for (const char* text : {"fast", "fill=", "fill=256", "fill=0xzz", "fill=1x", "direct;fill=1"}) {
    EXPECT_THROW(of(text), InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace kiln
