// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "backends/cpu_queue.hpp"

namespace kiln::space_test {
namespace {

using test::complaint;

constexpr double inf = std::numeric_limits<double>::infinity();

std::string refusal(const Block& block) {
  return complaint([&] { Space({block}); });
}

TEST(Space, KnowsItsBlocks) {
  EXPECT_EQ(Space::spins(3).blocks().front(), (Block{BlockKind::spin, 3, -1, 1}));
  EXPECT_EQ(Space::binary(4).blocks().front(), (Block{BlockKind::binary, 4, 0, 1}));
  EXPECT_EQ(Space::categories(5, 3).blocks().front(), (Block{BlockKind::category, 5, 0, 2}));
  EXPECT_EQ(Space::integers(2, -7, 9).blocks().front(), (Block{BlockKind::integer, 2, -7, 9}));
  EXPECT_EQ(Space::reals(6, -0.5, 2.5).blocks().front(), (Block{BlockKind::real, 6, -0.5, 2.5}));
  EXPECT_EQ(Space::permutation(8).blocks().front(), (Block{BlockKind::permutation, 8, 0, 7}));
}

TEST(Space, AddsUpTheVariablesOfItsBlocks) {
  const Space mixed({{BlockKind::spin, 3, -1, 1}, {BlockKind::real, 4, 0, 1}}, 2);
  EXPECT_EQ(mixed.variables(), 7);
  EXPECT_EQ(mixed.outputs(), 2);
  EXPECT_EQ(Space().variables(), 0);
}

TEST(Space, RefusesAnEmptySpaceAndNoOutputs) {
  EXPECT_EQ(complaint([] { Space(std::vector<Block>{}); }),
            "space.empty: a space needs at least one block");
  EXPECT_EQ(complaint([] {
              Space({{BlockKind::spin, 1, -1, 1}}, 0);
            }),
            "space.outputs: an objective needs at least one value");
}

TEST(Space, RefusesCountsThatCannotBe) {
  EXPECT_EQ(refusal({BlockKind::spin, 0, -1, 1}),
            "space.count: a block of kind spin has 0 variables; expected 1 .. 2147483647");
  EXPECT_EQ(refusal({BlockKind::real, -5, 0, 1}),
            "space.count: a block of kind real has -5 variables; expected 1 .. 2147483647");
  EXPECT_TRUE(refusal({BlockKind::real, std::int64_t{1} << 31, 0, 1}).starts_with("space.count"));
  EXPECT_TRUE(complaint([] { Space::permutation(0); }).starts_with("space.count"));
}

TEST(Space, RefusesBoundsThatAreNotOrdered) {
  EXPECT_TRUE(refusal({BlockKind::real, 1, 1, 0}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::real, 1, std::nan(""), 0}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::real, 1, 0, std::nan("")}).starts_with("space.bounds"));
  EXPECT_TRUE(complaint([] { Space::categories(3, 0); }).starts_with("space.bounds"));
  EXPECT_EQ(refusal({BlockKind::real, 1, 2, 2}), "accepted") << "a constant is a variable too";
  EXPECT_EQ(refusal({BlockKind::real, 1, -inf, inf}), "accepted");
}

TEST(Space, RefusesBoundsThatDoNotBelongToTheKind) {
  EXPECT_TRUE(refusal({BlockKind::spin, 4, 0, 0}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::spin, 4, 0, 1}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::binary, 4, -1, 1}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::permutation, 4, 0, 4}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::category, 4, 1, 3}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::integer, 4, 0.5, 3.5}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::integer, 4, 0, 1e10}).starts_with("space.bounds"));
  EXPECT_TRUE(refusal({BlockKind::integer, 4, -inf, 0}).starts_with("space.bounds"));
}

TEST(Space, HasAnIntervalForEachReal) {
  const Block block = Space::reals({{-5, 10}, {0, 15}, {-inf, 2}}).blocks().front();
  EXPECT_EQ(block.count, 3);
  EXPECT_EQ(block.lower, -inf);
  EXPECT_EQ(block.upper, 15);
  EXPECT_EQ(block.bounds(0), (Bounds{-5, 10}));
  EXPECT_EQ(block.bounds(1), (Bounds{0, 15}));
  EXPECT_EQ(block.bounds(2), (Bounds{-inf, 2}));
  EXPECT_EQ(Space::reals({{0, 1}, {0, 1}}).blocks().front(), Space::reals(2, 0, 1).blocks().front())
      << "all alike";
  EXPECT_EQ(Space::reals(2, 0, 1).blocks().front().bounds(1), (Bounds{0, 1}));
}

TEST(Space, KnowsWhetherAnyRealHasAWall) {
  EXPECT_FALSE(Space::reals({{-inf, inf}, {-inf, inf}}).blocks().front().has_walls());
  // The least and the greatest bound of both are infinite.
  EXPECT_TRUE(Space::reals({{-inf, 0}, {0, inf}}).blocks().front().has_walls());
  EXPECT_TRUE(Space::reals(1, 0, inf).blocks().front().has_walls());
}

TEST(Space, RefusesBoxesThatAreNone) {
  EXPECT_EQ(complaint([] { Space::reals(std::vector<Bounds>{}); }),
            "space.count: a box needs at least one interval");
  EXPECT_TRUE(complaint([] { Space::reals({{0, 1}, {2, 1}}); }).starts_with("space.bounds"));
  EXPECT_TRUE(complaint([] { Space::reals({{0, std::nan("")}}); }).starts_with("space.bounds"));
  EXPECT_EQ(refusal({BlockKind::integer, 1, 0, 1, {{0, 1}}}),
            "space.box: a block of kind integer has a box, but only reals can have a box");
  EXPECT_EQ(refusal({BlockKind::real, 3, 0, 2, {{0, 1}, {1, 2}}}),
            "space.box: a box has 2 intervals, but its block has 3 variables");
  EXPECT_EQ(refusal({BlockKind::real, 2, 0, 1, {{0, 1}, {1, 2}}}),
            "space.box: the bounds of a block are not the smallest lower bound and largest "
            "upper bound of its box");
}

TEST(CanStore, FollowsKindAndRange) {
  struct Case {
    Block block;
    std::string stores;  // packed32 i8 i32 f32 f64, + or -
  };
  for (const Case& c :
       {Case{{BlockKind::spin, 4, -1, 1}, "+++++"}, Case{{BlockKind::binary, 4, 0, 1}, "+++++"},
        Case{{BlockKind::category, 4, 0, 127}, "-++++"},
        Case{{BlockKind::category, 4, 0, 128}, "--+++"},
        Case{{BlockKind::integer, 4, -128, 127}, "-++++"},
        Case{{BlockKind::integer, 4, -129, 0}, "--+++"},
        Case{{BlockKind::integer, 4, 0, 16777216}, "--+++"},
        Case{{BlockKind::integer, 4, 0, 16777217}, "--+-+"},
        Case{{BlockKind::real, 4, 0, 1}, "---++"},
        Case{{BlockKind::permutation, 4, 0, 3}, "--+++"}}) {
    std::string stores;
    for (const Layout layout :
         {Layout::packed32, Layout::i8, Layout::i32, Layout::f32, Layout::f64}) {
      stores += can_store(layout, c.block) ? '+' : '-';
    }
    EXPECT_EQ(stores, c.stores) << to_string(c.block.kind) << " " << c.block.lower << " .. "
                                << c.block.upper;
  }
}

TEST(Space, NamesKindsAndLayouts) {
  EXPECT_STREQ(to_string(BlockKind::permutation), "permutation");
  EXPECT_STREQ(to_string(BlockKind::category), "category");
  EXPECT_STREQ(to_string(Layout::packed32), "packed32");
  EXPECT_STREQ(to_string(Layout::f64), "f64");
}

}  // namespace
}  // namespace kiln::space_test
