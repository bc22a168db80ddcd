// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/fusion/fuse.hpp"
#include "kiln/kernel_set.hpp"

namespace kiln::test::check_accesses_test {

#define KILN_TEST_ACCESS_KERNELS(KERNEL) \
  KERNEL(Move) KERNEL(Mean) KERNEL(Turn) KERNEL(Count) KERNEL(Draw) KERNEL(Name)
KILN_COMPONENT(AccessComponent, "test_accesses", KILN_TEST_ACCESS_KERNELS)

struct Move {
  static constexpr const char* name = "move";
  SlotColumn<double, "position"> position;
  void operator()(Slot) const {}
};
struct Mean {
  static constexpr const char* name = "mean";
  SharedColumn<const double, "table"> table;
  SlotColumn<double, "mean"> mean;
  void operator()(Slot) const {}
};
struct Count {
  static constexpr const char* name = "count";
  SlotColumn<std::int64_t, "count"> count;
  void operator()(Slot) const {}
};
struct Draw {
  static constexpr const char* name = "draw";
  DrawIds ids;
  void operator()(Slot) const {}
};
struct Name {
  static constexpr const char* name = "name";
  SlotColumn<std::uint64_t, "key"> key;
  void operator()(Slot) const {}
};
struct Turn {
  static constexpr const char* name = "turn";
  SlotState<"state"> state;
  void operator()(Slot) const {}
};

namespace {

constexpr std::int64_t slots = 64;

struct Arrays {
  std::vector<double> a = std::vector<double>(8 * slots), b = std::vector<double>(8 * slots);

  View2<double> rows(std::int64_t first, std::int64_t count) {
    return {a.data() + first * slots, count, slots, slots};
  }
};

// The text of a refusal, or "".
template <class... Stages>
std::string refusal(const std::string& code, const Stages&... stages) {
  try {
    const auto fused = fuse(stages...);
    EXPECT_EQ(fused.slots, slots);
    return "";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), code);
    return std::string(error.what());
  }
}

TEST(CheckAccesses, RefusesToReadAnySlotOfWhatAStageWrites) {
  Arrays arrays;
  const Move move{arrays.rows(0, 3)};
  const Mean apart{View1<const double>(arrays.a.data() + 3 * slots, slots),
                   View1<double>(arrays.b.data(), slots)};
  EXPECT_EQ(refusal("", move, apart), "");
  Mean sees = apart;
  sees.table = View1<const double>(arrays.a.data() + 2 * slots + 5, slots);
  for (const std::string& text :
       {refusal("fuse.overlap", move, sees), refusal("fuse.overlap", sees, move)}) {
    EXPECT_NE(text.find("stage 'mean' reads any slot of 'table'"), std::string::npos) << text;
    EXPECT_NE(text.find("stage 'move' writes 'position'"), std::string::npos) << text;
    EXPECT_NE(text.find("in one launch no slot waits for the others"), std::string::npos) << text;
    EXPECT_NE(text.find("launch these stages one by one"), std::string::npos) << text;
  }
  // A stage that reads any slot of what it writes is refused alone.
  Mean itself = apart;
  itself.mean = View1<double>(arrays.a.data() + 3 * slots, slots);
  EXPECT_NE(refusal("fuse.overlap", itself), "");
  // One value is enough, and none is none.
  sees.table = View1<const double>(arrays.a.data() + 3 * slots - 1, 1);
  EXPECT_NE(refusal("fuse.overlap", move, sees), "");
  sees.table = View1<const double>(arrays.a.data() + 3 * slots - 1, 0);
  EXPECT_EQ(refusal("", move, sees), "");
}

TEST(CheckAccesses, TakesColumnsThatGiveASlotTheSameValues) {
  Arrays arrays;
  const Move all{arrays.rows(0, 4)}, row{arrays.rows(2, 1)}, rows{arrays.rows(1, 2)};
  EXPECT_EQ(refusal("", all, row, rows, all), "");
  Move one_later = row;
  one_later.position = View1<double>(arrays.a.data() + 2 * slots + 1, slots);
  const std::string text = refusal("fuse.overlap", all, one_later);
  EXPECT_NE(text.find("the same values for a slot in both, or separate memory"), std::string::npos)
      << text;
  Move wider = row;  // slot s has another value in the second row
  wider.position = View2<double>{arrays.a.data(), 2, slots, slots + 1};
  EXPECT_NE(refusal("fuse.overlap", all, wider), "");
  // Halves of the rows of one matrix have no value in common.
  Move left, right;
  left.position = View2<double>{arrays.a.data(), 4, slots, 2 * slots};
  right.position = View2<double>{arrays.a.data() + slots, 4, slots, 2 * slots};
  EXPECT_EQ(refusal("", left, right), "");
  right.position = View2<double>{arrays.a.data() + slots - 1, 4, slots, 2 * slots};
  EXPECT_NE(refusal("fuse.overlap", left, right), "");
  right.position = View2<double>{arrays.a.data() + slots + 1, 3, slots, 2 * slots};
  EXPECT_NE(refusal("fuse.overlap", left, right), "") << "the last column is in the next row";
}

TEST(CheckAccesses, RefusesStagesOfDifferentSlots) {
  Arrays arrays;
  Move fewer{arrays.rows(0, 1)};
  fewer.position = View2<double>{arrays.a.data(), 3, 32, slots};
  const std::string text = refusal("fuse.slots", Move{arrays.rows(1, 1)}, fewer);
  EXPECT_NE(text.find("stage 'move' writes 'position' of 64 slots"), std::string::npos) << text;
  EXPECT_NE(text.find("of 32 slots"), std::string::npos) << text;
}

TEST(CheckAccesses, KnowsTheMemoryOfStates) {
  Arrays arrays;
  StateBlock block;
  block.data = arrays.a.data();
  block.variables = 4;
  block.slots = slots;
  block.layout = Layout::f64;
  block.kind = BlockKind::real;
  EXPECT_EQ(refusal("", Turn{block}, Move{arrays.rows(3, 1)}), "");
  EXPECT_EQ(refusal("", Turn{block}, Move{arrays.rows(4, 1)}), "");
  block.layout = Layout::i8;  // slot s has byte s, and the column has eight from byte 8 s
  EXPECT_NE(refusal("fuse.overlap", Turn{block}, Move{arrays.rows(0, 1)}), "");
  EXPECT_EQ(refusal("", Turn{block}, Move{arrays.rows(1, 1)}), "");
  block.box = arrays.a.data() + slots;
  EXPECT_NE(refusal("fuse.overlap", Turn{block}, Move{arrays.rows(1, 1)}), "");
  block.layout = Layout::packed32;
  const std::string text = refusal("kernel.packed", Turn{block});
  EXPECT_NE(text.find("32 replicas share a word"), std::string::npos) << text;
}

TEST(CheckAccesses, RefusesToWriteTheControlBlock) {
  const auto reads = [](const void* memory) {
    return StageAccess{"guard", "control block", Reach::reads_shared, memory, 1, 1, 0, 64};
  };
  std::vector<double> values(slots);
  const StageAccess writes{"move", "position", Reach::writes_slot, values.data(),
                           1,      slots,      slots * 8,          8};
  EXPECT_THROW(check_accesses({writes, reads(values.data() + 3)}), InvalidArgument);
  EXPECT_EQ(check_accesses({writes, reads(&values)}), slots);
  EXPECT_THROW(check_accesses({reads(&values)}), InvalidArgument) << "no column of slots";
}

// A compiler may move a load of one type before a store of another: the slot would not see itself.
TEST(CheckAccesses, RefusesOtherTypesInTheSameMemory) {
  Arrays arrays;
  Mean as_numbers{View1<const double>(arrays.b.data(), slots),
                  View1<double>(arrays.a.data(), slots)};
  const Count count{View1<std::int64_t>(reinterpret_cast<std::int64_t*>(arrays.a.data()), slots)};
  EXPECT_NE(refusal("fuse.overlap", as_numbers, count), "");
  as_numbers.mean = View1<double>(arrays.a.data() + slots, slots);
  EXPECT_EQ(refusal("", as_numbers, count), "");
}

TEST(CheckAccesses, RefusesRowsThatOverlap) {
  Arrays arrays;
  double* const a = arrays.a.data();
  const Mean reads{View1<const double>(arrays.b.data(), slots), View1<double>(a + 1, slots)};
  // A single row has no stride, whatever it is said to be.
  EXPECT_NE(refusal("fuse.overlap", Move{View2<double>{a, 1, slots, 1}}, reads), "");
  for (const std::int64_t stride : {std::int64_t{1}, std::int64_t{0}, slots - 1, -slots}) {
    const std::string text =
        refusal("fuse.stride", Move{View2<double>{a + 2 * slots, 3, slots, stride}});
    EXPECT_NE(text.find("whose rows of 64 values begin " + std::to_string(stride)),
              std::string::npos)
        << text;
  }
}

// A body reads them at any place.
TEST(CheckAccesses, RefusesToWriteNamesOfDraws) {
  std::vector<std::uint64_t> keys(slots);
  std::vector<std::uint32_t> replicas(slots);
  Draw draw;
  draw.ids.key = View1<const std::uint64_t>(keys.data(), slots);
  draw.ids.replica = View1<const std::uint32_t>(replicas.data(), slots);
  Name name{View1<std::uint64_t>(keys.data(), slots)};
  EXPECT_NE(refusal("fuse.overlap", draw, name), "");
  std::vector<std::uint64_t> others(slots);
  name.key = View1<std::uint64_t>(others.data(), slots);
  EXPECT_EQ(refusal("", draw, name), "");
}

}  // namespace
}  // namespace kiln::test::check_accesses_test
