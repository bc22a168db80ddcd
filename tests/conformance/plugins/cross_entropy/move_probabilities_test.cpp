// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cross_entropy_kernels.hpp"

namespace kiln::test::cross_entropy_kernels::move_test {
namespace {

using ce::MoveProbabilities;
using ce::Population;

struct Move {
  BlockShape shape;
  std::int64_t populations = 1;
  std::int64_t first_variable = 0, variables = 0;  // of the space, which may be larger
  std::vector<double> values;                      // [variable][slot]
  std::vector<std::uint32_t> elite;
  std::vector<Population> now;
  std::vector<double> probability;
  double smoothing = 0.7, floor = 0.01, converged = 0.05;
  std::int64_t reference = -1;
};

Move move_of(const BlockShape& shape, std::int64_t populations, std::uint64_t seed) {
  Move move;
  move.shape = shape;
  move.populations = populations;
  move.first_variable = 3;
  move.variables = shape.variables + 5;
  move.values = random_values(shape, seed);
  TestRandom random(seed + 1);
  move.now.resize(idx(populations));
  for (std::int64_t word = 0; word < shape.slots / 32; ++word) {
    move.elite.push_back(static_cast<std::uint32_t>(random.word() & random.word()));
  }
  for (std::int64_t p = 0; p < populations; ++p) {
    for (std::int64_t i = 0; i < shape.slots / populations; ++i) {
      move.now[idx(p)].elite += bit_at(move.elite, p * (shape.slots / populations) + i) ? 1 : 0;
    }
  }
  for (std::int64_t i = 0; i < populations * move.variables; ++i) {
    move.probability.push_back(0.01 + 0.98 * random.unit());
  }
  return move;
}

void run(Queue& queue, Move& move, const RunControl& at = {}) {
  DeviceBlock block(queue, move.shape, move.values);
  const DeviceArray<std::uint32_t> elite(queue, move.elite);
  DeviceArray<Population> now(queue, move.now);
  DeviceArray<double> probability(queue, move.probability);
  const DeviceArray<RunControl> control = upload_control(queue, at);
  MoveProbabilities kernel;
  kernel.block = block.view();
  kernel.first_variable = move.first_variable;
  kernel.elite = elite.view();
  kernel.populations = now.view();
  kernel.probability = {probability.data(), move.populations, move.variables, move.variables};
  kernel.population_words = move.shape.slots / 32 / move.populations;
  kernel.smoothing = move.smoothing;
  kernel.floor = move.floor;
  kernel.converged = move.converged;
  kernel.reference = move.reference;
  kernel.control = control.data();
  launch(kernel, queue);
  move.now = now.download();
  move.probability = probability.download();
}

/// The same from the canonical values, in plain loops.
void expect_moved(const Move& before, const Move& after) {
  const std::int64_t slots = before.shape.slots, size = slots / before.populations;
  const double one = before.shape.kind == BlockKind::spin ? -1 : 1;
  for (std::int64_t p = 0; p < before.populations; ++p) {
    bool open = false;
    for (std::int64_t v = 0; v < before.variables; ++v) {
      const std::size_t at = idx(p * before.variables + v);
      const std::int64_t own = v - before.first_variable;
      if (own < 0 || own >= before.shape.variables) {
        EXPECT_EQ(after.probability[at], before.probability[at]) << "of another block";
        continue;
      }
      double ones = 0, all = 0;
      for (std::int64_t slot = p * size; slot < (p + 1) * size; ++slot) {
        if (!bit_at(before.elite, slot)) continue;
        const bool flipped =
            before.reference >= 0 && before.values[idx(before.reference * slots + slot)] == one;
        ones += (before.values[idx(own * slots + slot)] == one) != flipped ? 1 : 0;
        ++all;
      }
      double q = before.probability[at];
      if (all > 0) {
        q = (1 - before.smoothing) * q + before.smoothing * ones / all;
        q = std::clamp(q, before.floor, 1 - before.floor);
      }
      EXPECT_NEAR(after.probability[at], q, 1e-15) << "variable " << own;
      open = open || (q > before.converged && q < 1 - before.converged);
    }
    EXPECT_EQ(after.now[idx(p)].open, open ? 1u : 0u);
  }
}

class CrossEntropyMoveProbabilities : public DeviceTest {};
KILN_ON_EVERY_BACKEND(CrossEntropyMoveProbabilities);

TEST_P(CrossEntropyMoveProbabilities, MovesThemTowardsTheElite) {
  for (const BlockShape& shape : shapes()) {
    for (const std::int64_t populations : {1, 3}) {
      for (const std::int64_t reference : {-1, 2}) {
        SCOPED_TRACE(std::to_string(shape.variables) + ", " + std::to_string(populations));
        Move before = move_of(shape, populations, 5);
        before.reference = reference;
        Move after = before, there = before;
        run(queue(), after);
        expect_moved(before, after);
        run(cpu_queue(), there);
        EXPECT_EQ(test::bits_of(after.probability), test::bits_of(there.probability));
      }
    }
  }
}

// An elite of equal states: the probabilities reach the floor and the top, and are closed.
TEST_P(CrossEntropyMoveProbabilities, EndAtTheFloor) {
  Move move = move_of(shapes().front(), 1, 6);
  const auto slots = idx(move.shape.slots);
  for (std::size_t i = 0; i < move.values.size(); ++i) {
    move.values[i] = i / slots % 2 == 0 ? -1 : 1;
  }
  for (int round = 0; round < 12; ++round) {
    const Move before = move;
    move.now[0].open = 0;
    run(queue(), move);
    Move expected = before;
    expected.now[0].open = 0;
    expect_moved(expected, move);
  }
  EXPECT_EQ(move.now[0].open, 0u);
  EXPECT_EQ(move.probability[3], 1 - move.floor);
  EXPECT_EQ(move.probability[4], move.floor);
}

TEST_P(CrossEntropyMoveProbabilities, StayWhereTheEliteIsEmpty) {
  Move move = move_of(shapes().front(), 1, 7);
  move.elite.assign(move.elite.size(), 0u);
  move.now[0].elite = 0;
  const Move before = move;
  run(queue(), move);
  expect_moved(before, move);
}

TEST_P(CrossEntropyMoveProbabilities, BeginAnewAtOneHalf) {
  Move move = move_of(shapes().front(), 1, 8);
  move.reference = 2;
  move.now[0].begins = 1;
  run(queue(), move);
  for (std::int64_t v = 0; v < move.shape.variables; ++v) {
    EXPECT_EQ(move.probability[idx(3 + v)], v == 2 ? move.floor : 0.5);
  }
  EXPECT_EQ(move.now[0].open, 1u);
}

TEST_P(CrossEntropyMoveProbabilities, DoNothingInARunThatHasStopped) {
  Move move = move_of(shapes().front(), 1, 9);
  const Move before = move;
  run(queue(), move, stopped());
  EXPECT_EQ(move.probability, before.probability);
}

}  // namespace
}  // namespace kiln::test::cross_entropy_kernels::move_test
