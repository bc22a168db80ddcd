// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/replica_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/device/philox.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::replica_batch_test {
namespace {

using test::complaint;
using test::cpu_queue;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Layout every_layout[] = {Layout::packed32, Layout::i8, Layout::i32, Layout::f32,
                                   Layout::f64};

// Blocks of every kind; the reals are multiples of 1/8, so that f32 holds them too.
std::vector<Block> every_block() {
  return {{BlockKind::spin, 5, -1, 1},    {BlockKind::binary, 5, 0, 1},
          {BlockKind::category, 5, 0, 6}, {BlockKind::integer, 5, -100, 100},
          {BlockKind::real, 5, -16, 16},  {BlockKind::permutation, 5, 0, 4}};
}

template <class T, class Value>
BlockValues values_for(const Block& block, Value value) {
  std::vector<T> values;
  for (std::int64_t v = 0; v < block.count; ++v) values.push_back(static_cast<T>(value(v)));
  return values;
}

// State number `number`, made of hashes.
State state_of(const Block& block, std::int64_t number) {
  const auto word = [&](std::int64_t v) {
    return philox4x32_10(
        Words4{{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(v), 0, 0}}, 3)[0];
  };
  switch (block.kind) {
    case BlockKind::spin:
      return {values_for<std::int8_t>(block, [&](auto v) { return word(v) % 2 == 0 ? 1 : -1; })};
    case BlockKind::binary:
      return {values_for<std::int8_t>(block, [&](auto v) { return word(v) % 2; })};
    case BlockKind::real:
      return {values_for<double>(block, [&](auto v) { return (word(v) % 257) / 8.0 - 16.0; })};
    case BlockKind::permutation:
      return {values_for<std::int32_t>(block, [&](auto v) { return (v + number) % block.count; })};
    default:
      return {values_for<std::int32_t>(block, [&](auto v) {
        const auto span = static_cast<std::uint32_t>(block.upper - block.lower) + 1;
        return block.lower + word(v) % span;
      })};
  }
}

std::vector<State> states_of(const Block& block, std::int64_t count) {
  std::vector<State> states;
  for (std::int64_t i = 0; i < count; ++i) states.push_back(state_of(block, i));
  return states;
}

std::vector<std::int64_t> slots_below(std::int64_t count) {
  std::vector<std::int64_t> slots;
  for (std::int64_t i = 0; i < count; ++i) slots.push_back(i);
  return slots;
}

struct Size {
  std::int64_t replicas, slots;
};
constexpr Size sizes[] = {{1, 32}, {31, 32}, {32, 32}, {33, 64}};

class BatchSize : public testing::TestWithParam<Size> {};
void PrintTo(const Size& size, std::ostream* out) { *out << size.replicas; }

TEST_P(BatchSize, PadsToAMultipleOf32) {
  const auto queue = cpu_queue();
  ReplicaBatch batch(*queue, Space::spins(3), {Layout::packed32}, {GetParam().replicas, 1, 1});

  EXPECT_EQ(batch.replicas(), GetParam().replicas);
  EXPECT_EQ(batch.slots(), GetParam().slots);
  EXPECT_EQ(batch.state(0).slots, GetParam().slots);
  EXPECT_EQ(batch.state(0).words(), GetParam().slots / 32);
  EXPECT_EQ(batch.energy().size, GetParam().slots);
  for (const double energy : batch.read_energies(false)) EXPECT_EQ(energy, inf);
  for (const double energy : batch.read_energies(true)) EXPECT_EQ(energy, inf);
  for (const std::uint64_t count : batch.read_accepted()) EXPECT_EQ(count, 0u);
}

TEST_P(BatchSize, WritesAndReadsStatesInEveryLayout) {
  const auto queue = cpu_queue();
  for (const Block& block : every_block()) {
    const std::vector<State> states = states_of(block, GetParam().replicas);
    for (const Layout layout : every_layout) {
      if (!can_store(layout, block)) continue;
      ReplicaBatch batch(*queue, Space({block}), {layout}, {GetParam().replicas, 1, 1});

      batch.write_states(states);

      ASSERT_EQ(batch.read_states(slots_below(GetParam().replicas), false), states)
          << to_string(block.kind) << " in " << to_string(layout);
    }
  }
}

TEST_P(BatchSize, ConvertsBetweenAllLayouts) {
  const auto queue = cpu_queue(2);
  for (const Block& block : every_block()) {
    const std::vector<State> states = states_of(block, GetParam().replicas);
    for (const Layout from : every_layout) {
      for (const Layout to : every_layout) {
        if (!can_store(from, block) || !can_store(to, block)) continue;
        ReplicaBatch batch(*queue, Space({block}), {from}, {GetParam().replicas, 1, 1});
        batch.write_states(states);

        batch.convert(0, to);

        ASSERT_EQ(batch.state(0).layout, to);
        ASSERT_EQ(batch.best_state(0).layout, to);
        ASSERT_EQ(batch.read_states(slots_below(GetParam().replicas), false), states)
            << to_string(block.kind) << " from " << to_string(from) << " to " << to_string(to);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ReplicaBatch, BatchSize, testing::ValuesIn(sizes),
                         testing::PrintToStringParamName());

TEST(ReplicaBatch, RepeatsStatesAsOftenAsNeeded) {
  const auto queue = cpu_queue();
  const Block block{BlockKind::integer, 2, 0, 9};
  ReplicaBatch batch(*queue, Space({block}), {Layout::i8}, {5, 1, 1});

  batch.write_states(states_of(block, 2));

  EXPECT_EQ(batch[4].state(), state_of(block, 0));
  EXPECT_EQ(batch[3].state(), state_of(block, 1));
}

TEST(ReplicaBatch, KeepsSeveralBlocksApart) {
  const auto queue = cpu_queue();
  const std::vector<Block> blocks = every_block();
  ReplicaBatch batch(
      *queue, Space(blocks),
      {Layout::packed32, Layout::i8, Layout::i32, Layout::i8, Layout::f64, Layout::f32}, {7, 1, 1});
  std::vector<State> states(7);
  for (std::int64_t i = 0; i < 7; ++i) {
    for (const Block& block : blocks) {
      states[static_cast<std::size_t>(i)].push_back(state_of(block, i).front());
    }
  }

  batch.write_states(states);

  EXPECT_EQ(batch.n_blocks(), 6);
  EXPECT_EQ(batch.read_states(slots_below(7), false), states);
}

TEST(ReplicaBatch, GroupsMustDivideTheReplicas) {
  const auto queue = cpu_queue();
  const auto refusal = [&](std::int64_t replicas, std::int64_t groups) {
    try {
      ReplicaBatch(*queue, Space::spins(2), {Layout::i8}, {replicas, groups, 1});
    } catch (const InvalidArgument& error) {
      return error.code() + ": " + error.message() + " | " + error.fix();
    }
    return std::string("accepted");
  };

  EXPECT_EQ(refusal(32, 4), "accepted");
  EXPECT_EQ(refusal(32, 5),
            "batch.groups: 32 replicas cannot be divided equally among 5 groups | set "
            "RunOptions::replicas = 35");
  EXPECT_EQ(refusal(32, 33),
            "batch.groups: 32 replicas cannot be divided equally among 33 groups | set "
            "RunOptions::replicas = 33");
  EXPECT_TRUE(refusal(32, 0).starts_with("batch.groups"));
  EXPECT_TRUE(refusal(32, -1).starts_with("batch.groups"));
  EXPECT_TRUE(refusal(0, 1).starts_with("batch.replicas"));
  EXPECT_TRUE(refusal(-3, 1).starts_with("batch.replicas"));
}

TEST(ReplicaBatch, AGroupIsNamedLikeABatchOfItsOwn) {
  const auto queue = cpu_queue();
  ReplicaBatch batch(*queue, Space::spins(2), {Layout::packed32}, {60, 3, 77});
  for (std::int64_t group = 0; group < 3; ++group) {
    ReplicaBatch alone(*queue, Space::spins(2), {Layout::packed32}, {20, 1, group_key(77, group)});
    for (std::int64_t i = 0; i < 20; ++i) {
      const std::int64_t slot = 20 * group + i;
      ASSERT_EQ(batch.draw_ids().key[slot], alone.draw_ids().key[i]);
      ASSERT_EQ(batch.draw_ids().replica[slot], alone.draw_ids().replica[i]);
      ASSERT_EQ(batch.rung_of()[slot], group);
      ASSERT_EQ(batch.replica_of()[slot], slot);
      ASSERT_EQ(batch[slot].group(), group);
    }
  }
}

TEST(ReplicaBatch, PaddingDrawsUnderNamesOfItsOwn) {
  const auto queue = cpu_queue();
  ReplicaBatch batch(*queue, Space::spins(2), {Layout::packed32}, {6, 3, 77});
  std::vector<std::pair<std::uint64_t, std::uint32_t>> names;
  for (std::int64_t slot = 0; slot < 32; ++slot) {
    names.emplace_back(batch.draw_ids().key[slot], batch.draw_ids().replica[slot]);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(GroupKey, IsTheSeedForTheFirstGroupAndDistinctForTheOthers) {
  EXPECT_EQ(group_key(5, 0), 5u);
  std::vector<std::uint64_t> keys;
  for (std::int64_t group = 0; group < 1000; ++group) {
    keys.push_back(group_key(5, group));
    keys.push_back(group_key(6, group));
  }
  keys.push_back(group_key(5, (std::int64_t{1} << 32) + 1));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(ReplicaBatch, RefusesLayoutsThatDoNotFit) {
  const auto queue = cpu_queue();
  const auto refusal = [&](const Space& space, const std::vector<Layout>& layouts) {
    return complaint([&] { ReplicaBatch(*queue, space, layouts, {1, 1, 1}); });
  };

  EXPECT_EQ(refusal(Space::reals(2, 0, 1), {Layout::i8}),
            "batch.layout: layout i8 cannot hold a block of kind real");
  EXPECT_TRUE(refusal(Space::reals(2, 0, 1), {}).starts_with("batch.layouts"));
  EXPECT_TRUE(
      refusal(Space::reals(2, 0, 1), {Layout::f64, Layout::f64}).starts_with("batch.layouts"));

  ReplicaBatch batch(*queue, Space::reals(2, 0, 1), {Layout::f64}, {1, 1, 1});
  EXPECT_EQ(complaint([&] { batch.convert(0, Layout::packed32); }),
            "batch.layout: layout packed32 cannot hold a block of kind real");
  EXPECT_EQ(batch.state(0).layout, Layout::f64);
}

TEST(ReplicaBatch, RefusesStatesThatDoNotBelongToTheSpace) {
  const auto queue = cpu_queue();
  const auto refusal = [&](const Space& space, Layout layout, const State& state) {
    ReplicaBatch batch(*queue, space, {layout}, {1, 1, 1});
    return complaint([&] { batch.write_states({state}); });
  };
  using Bytes = std::vector<std::int8_t>;
  using Ints = std::vector<std::int32_t>;
  using Reals = std::vector<double>;

  EXPECT_TRUE(refusal(Space::spins(2), Layout::i8, {Bytes{1, 0}}).starts_with("state.value"));
  EXPECT_TRUE(refusal(Space::binary(2), Layout::i8, {Bytes{1, -1}}).starts_with("state.value"));
  EXPECT_TRUE(refusal(Space::spins(2), Layout::i8, {Bytes{1}}).starts_with("state.size"));
  EXPECT_TRUE(refusal(Space::spins(2), Layout::i8, {Ints{1, 1}}).starts_with("state.type"));
  EXPECT_TRUE(refusal(Space::spins(2), Layout::i8, {}).starts_with("state.blocks"));
  EXPECT_TRUE(refusal(Space::reals(1, 0, 1), Layout::f64, {Reals{1.5}}).starts_with("state.value"));
  EXPECT_TRUE(refusal(Space::reals(1, 0, 1), Layout::f64, {Reals{std::nan("")}})
                  .starts_with("state.value"));
  EXPECT_EQ(refusal(Space::permutation(3), Layout::i32, {Ints{0, 2, 0}}),
            "state.permutation: a permutation holds 0 twice");
  EXPECT_TRUE(
      refusal(Space::permutation(3), Layout::i32, {Ints{1, 2, 3}}).starts_with("state.value"));

  ReplicaBatch batch(*queue, Space::spins(2), {Layout::i8}, {1, 1, 1});
  EXPECT_TRUE(complaint([&] { batch.write_states({}); }).starts_with("batch.states"));
  EXPECT_TRUE(complaint([&] { batch.read_states({32}, false); }).starts_with("batch.slot"));
  EXPECT_TRUE(complaint([&] { batch.read_states({-1}, false); }).starts_with("batch.slot"));
}

TEST(ReplicaBatch, SavesAndLoadsEverything) {
  const auto queue = cpu_queue();
  const Block block{BlockKind::spin, 5, -1, 1};
  ReplicaBatch batch(*queue, Space({block}), {Layout::packed32}, {33, 1, 1});
  batch.write_states(states_of(block, 33));
  for (std::int64_t slot = 0; slot < 64; ++slot) {
    batch.energy()[slot] = static_cast<double>(slot);
    batch.best_energy()[slot] = -static_cast<double>(slot);
    batch.best_step()[slot] = static_cast<std::uint64_t>(3 * slot);
    batch.accepted()[slot] = static_cast<std::uint64_t>(5 * slot);
    batch.not_finite()[slot] = static_cast<std::uint64_t>(7 * slot);
    batch.rung_of()[slot] = static_cast<std::int32_t>(slot % 4);
    batch.replica_of()[slot] = static_cast<std::int32_t>(63 - slot);
  }
  Archive archive;
  batch.save(archive);

  ReplicaBatch other(*queue, Space({block}), {Layout::packed32}, {33, 1, 1});
  other.load(archive);

  EXPECT_EQ(other.read_states(slots_below(33), false), states_of(block, 33));
  EXPECT_EQ(other.read_energies(false), batch.read_energies(false));
  EXPECT_EQ(other.read_energies(true), batch.read_energies(true));
  EXPECT_EQ(other.read_best_steps(), batch.read_best_steps());
  EXPECT_EQ(other.read_accepted(), batch.read_accepted());
  EXPECT_EQ(other.read_not_finite(), batch.read_not_finite());
  EXPECT_EQ(other.rung_of()[7], 3);
  EXPECT_EQ(other.replica_of()[1], 62);
  EXPECT_EQ(other[2].best_energy(), -2.0);
  EXPECT_EQ(other[2].energy(), 2.0);
}

TEST(ReplicaBatch, RefusesAnArchiveOfAnotherShape) {
  const auto queue = cpu_queue();
  Archive archive;
  ReplicaBatch(*queue, Space::spins(5), {Layout::packed32}, {33, 1, 1}).save(archive);
  ReplicaBatch fewer(*queue, Space::spins(5), {Layout::packed32}, {32, 1, 1});
  ReplicaBatch larger(*queue, Space::spins(6), {Layout::packed32}, {33, 1, 1});

  EXPECT_TRUE(complaint([&] { fewer.load(archive); }).starts_with("archive.size"));
  EXPECT_TRUE(complaint([&] { larger.load(archive); }).starts_with("archive.size"));
  EXPECT_TRUE(complaint([&] { larger.load(Archive{}); }).starts_with("archive.missing"));
}

TEST(BlockBytes, CountsCells) {
  EXPECT_EQ(block_bytes({BlockKind::spin, 5, -1, 1}, Layout::packed32, 64), 40u);
  EXPECT_EQ(block_bytes({BlockKind::spin, 5, -1, 1}, Layout::i8, 64), 320u);
  EXPECT_EQ(block_bytes({BlockKind::integer, 5, 0, 9}, Layout::i32, 64), 1280u);
  EXPECT_EQ(block_bytes({BlockKind::real, 5, 0, 1}, Layout::f32, 64), 1280u);
  EXPECT_EQ(block_bytes({BlockKind::real, 5, 0, 1}, Layout::f64, 64), 2560u);
  EXPECT_EQ(block_bytes({BlockKind::spin, 2000000000, -1, 1}, Layout::i8, 1 << 20),
            2000000000ull << 20);
}

TEST(ReplicaBatch, NeedsAtLeastItsStatesTwice) {
  const std::uint64_t bytes =
      ReplicaBatch::bytes_needed(Space::reals(100, 0, 1), {Layout::f64}, {33, 1, 1});
  EXPECT_GE(bytes, 2u * 100 * 64 * 8);
  EXPECT_LE(bytes, 2u * 100 * 64 * 8 + 64 * 100);
}

}  // namespace
}  // namespace kiln::replica_batch_test
