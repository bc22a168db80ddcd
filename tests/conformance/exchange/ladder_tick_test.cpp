// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_tick.hpp"

#include <gtest/gtest.h>

#include <string>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "ladder_ticks.hpp"

// The four kernels of a tick, in their order.
KILN_CONFORMANCE_CASE(LadderTick, exact)

namespace kiln::test::ladder_ticks {
namespace {

class LadderTickKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LadderTickKernel);

TEST_P(LadderTickKernel, GivesTheBitsOfItsPartsForAllSums) {
  for (const Ising& model : models()) {
    for (const std::int64_t rungs : {2, 4, 6, 8, 16, 32}) check(queue(), {model, rungs, 2});
  }
}

TEST_P(LadderTickKernel, GivesThemForManyBlocks) {
  const Ising model = sparse(64, 4, one_of({-1, 1}, 20), constant(0), 21);
  for (const std::int64_t blocks : {1, 3, 33, 70}) check(queue(), {model, 8, blocks}, 12);
  for (const std::int64_t blocks : {33, 40}) check(queue(), {model, 32, blocks}, 10);
}

TEST_P(LadderTickKernel, GivesThemForTicksOfSeveralSweeps) {
  const Ising model = sparse(64, 5, one_of({-1, 1}, 22), one_of({-1, 0}, 23), 24);
  for (const std::uint32_t sweeps : {2u, 5u}) {
    Case shape{model, 8, 2, sweeps};
    check(queue(), shape);
    shape.cadence.interval = 3;
    check(queue(), shape);
    shape.control.step = 3;  // in the middle of a tick
    shape.control.tick_sweeps = sweeps - 1;
    check(queue(), shape);
    shape.control.step_limit = 17;
    check(queue(), shape);
  }
}

TEST_P(LadderTickKernel, KeepsTheBestOfWhatCameBefore) {
  for (const Ising& model : models()) {
    Case shape{model, 8, 2};
    shape.best_first = true;
    check(queue(), shape, 20);
  }
}

TEST_P(LadderTickKernel, StopsAtItsTargetOrWhereItIsHeld) {
  Case shape{ring(24, constant(-1), constant(0)), 8, 2};
  shape.control.has_target = 1;
  shape.control.target = -20;
  for (const bool held : {false, true}) shape.held = held, check(queue(), shape, 60);
}

// Other pairs, other cadences and odd ladders are made by the parts.
TEST_P(LadderTickKernel, GivesThemWhereTicksAreNotOneLaunch) {
  const Ising model = sparse(64, 5, one_of({-1, 1}, 25), constant(0), 26);
  for (const std::int64_t rungs : {1, 3, 7}) check(queue(), {model, rungs, 2}, 5);
  for (const PairMode mode :
       {PairMode::random_adjacent, PairMode::sequential, PairMode::all_pairs}) {
    check(queue(), {model, 8, 2, 1, mode});
  }
  Case shape{model, 8, 2};
  shape.cadence.kind = CadenceKind::stochastic;
  shape.cadence.probability = 0.5;
  check(queue(), shape);
}

TEST_P(LadderTickKernel, IsOneLaunchOfADevice) {
  if (!queue().can_capture()) GTEST_SKIP() << "launches of a CPU are no nodes";
  for (const Ising& model : models()) {
    for (const std::int64_t rungs : {2, 4, 8}) {
      Ticking data(queue(), {model, rungs, 2});
      queue().launch(data.tick());  // loads the kernel
      queue().begin_capture();
      queue().launch(data.tick());
      EXPECT_EQ(queue().end_capture()->nodes(), 1) << model.n << " variables";
    }
  }
}

}  // namespace
}  // namespace kiln::test::ladder_ticks
