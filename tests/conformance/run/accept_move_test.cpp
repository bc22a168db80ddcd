// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/accept_move.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/device/exact_math.hpp"

#include "backends/backends.hpp"
#include "backends/backends_moves.hpp"
#include "backends/conformance_case.hpp"

// Named draws and exact arithmetic.
KILN_CONFORMANCE_CASE(AcceptMove, exact)

namespace kiln::test::accept_move_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class AcceptMoveKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(AcceptMoveKernel);

const BlockShape spins{BlockKind::spin, Layout::i8, 3, 32, -1, 1};

TEST_P(AcceptMoveKernel, TakesWhatIsNoWorseAtAnyTemperature) {
  for (const double beta : {0.0, 1.0, infinity}) {
    MoveInputs inputs = make_move(spins, 1);
    inputs.beta = {beta};
    for (std::size_t slot = 0; slot < 16; ++slot) inputs.trial[slot] = -2;

    const MoveState out = propose_and_accept(queue(), inputs);

    EXPECT_EQ(out.values, propose(queue(), inputs).values);
    EXPECT_EQ(out.energy, inputs.trial);
    EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(32, 6));
    EXPECT_EQ(out.not_finite, std::vector<std::uint64_t>(32, 6));
  }
}

TEST_P(AcceptMoveKernel, TakesUphillMovesAtBetaZeroAndNeverAtBetaInfinity) {
  MoveInputs inputs = make_move(spins, 1);
  inputs.trial.assign(32, 1e-3);
  inputs.beta = {0};
  EXPECT_EQ(propose_and_accept(queue(), inputs).energy, inputs.trial);
  inputs.beta = {infinity};
  const MoveState out = propose_and_accept(queue(), inputs);
  EXPECT_EQ(out.energy, inputs.state.energy);
  EXPECT_EQ(out.values, inputs.state.values);
  EXPECT_EQ(out.accepted, inputs.state.accepted);
}

TEST_P(AcceptMoveKernel, TakesBackRejectedMovesOfEveryKind) {
  for (BlockShape shape : move_shapes()) {
    for (const std::int64_t variables : {1, 2, 33, 100}) {
      shape.variables = variables;
      shape.slots = 96;
      MoveInputs inputs = make_move(shape, 3);
      inputs.variable = variables / 2;
      inputs.beta = {infinity};
      inputs.trial.assign(96, 1);
      EXPECT_EQ(propose_and_accept(queue(), inputs).values, inputs.state.values)
          << to_string(shape.kind) << " in " << to_string(shape.layout) << ", " << variables;
    }
  }
}

struct TrialCase {
  double current;
  double trial;
  bool taken;
  bool counted;
};

TEST_P(AcceptMoveKernel, CountsTrialsThatAreNotFiniteAndNeverTakesThem) {
  for (const TrialCase& c : {TrialCase{0, not_a_number, false, true},
                             {0, infinity, false, true},
                             {0, -infinity, false, true},
                             {infinity, infinity, false, true},
                             {not_a_number, not_a_number, false, true},
                             {infinity, 1e300, true, false},
                             {not_a_number, 5, true, false}}) {
    MoveInputs inputs = make_move(spins, 1);
    inputs.beta = {0};
    inputs.state.energy.assign(32, c.current);
    inputs.trial.assign(32, c.trial);

    const MoveState out = propose_and_accept(queue(), inputs);

    const double energy = c.taken ? c.trial : c.current;
    EXPECT_EQ(bits_of(out.energy), bits_of(std::vector<double>(32, energy)));
    EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(32, c.taken ? 6 : 5)) << c.trial;
    EXPECT_EQ(out.not_finite, std::vector<std::uint64_t>(32, c.counted ? 7 : 6)) << c.trial;
    EXPECT_EQ(out.values == inputs.state.values, !c.taken) << c.trial;
  }
}

// One rung a slot, betas and steps uphill of all sizes, against the rule written out.
TEST_P(AcceptMoveKernel, MatchesTheDefinition) {
  for (const std::int64_t slots : {32, 96, 288}) {
    BlockShape shape = spins;
    shape.slots = slots;
    MoveInputs inputs = make_move(shape, slots / 32);
    TestRandom random(idx(slots));
    inputs.beta.clear();
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      inputs.rung[idx(slot)] = static_cast<std::int32_t>(slots - 1 - slot);
      inputs.beta.push_back(std::ldexp(random.unit(), static_cast<int>(random.between(-9, 9))));
      inputs.state.energy[idx(slot)] = 10 * random.unit();
      inputs.trial[idx(slot)] = 12 * random.unit();
    }
    inputs.inverse_scale = 0.7;
    inputs.attempt = 9;
    inputs.offset = 3;
    inputs.control.step = 1ull << 33;

    const MoveState out = propose_and_accept(queue(), inputs);

    for (std::size_t slot = 0; slot < idx(slots); ++slot) {
      const double delta = inputs.trial[slot] - inputs.state.energy[slot];
      const double beta = inputs.beta[idx(inputs.rung[slot])] * 0.7;
      const std::uint32_t word = draw_word({inputs.names.key[slot], (1ull << 33) + 3,
                                            inputs.names.replica[slot], RngDomain::accept, 0},
                                           9);
      const bool takes = delta <= 0 || word < exact::accept_threshold(beta * delta);
      EXPECT_EQ(out.energy[slot], takes ? inputs.trial[slot] : inputs.state.energy[slot]) << slot;
      EXPECT_EQ(out.values[slot], takes ? -inputs.state.values[slot] : inputs.state.values[slot]);
      EXPECT_EQ(out.accepted[slot], takes ? 6u : 5u) << slot;
    }
  }
}

TEST_P(AcceptMoveKernel, TakesBackAReversalByReversingItAgain) {
  MoveInputs inputs = make_move({BlockKind::permutation, Layout::i32, 6, 32, 0, 0}, 1);
  for (std::size_t i = 0; i < 192; ++i) inputs.state.values[i] = static_cast<double>(i / 32);
  inputs.state.first.assign(32, 1);
  inputs.state.second.assign(32, 4);
  inputs.trial.assign(32, 1);
  inputs.beta = {infinity};

  const MoveState out = accept(queue(), inputs);

  for (std::size_t v = 0; v < 6; ++v) {
    EXPECT_EQ(out.values[v * 32], (std::vector<double>{0, 4, 3, 2, 1, 5})[v]);
  }
}

TEST_P(AcceptMoveKernel, DoesNothingOnceStoppedOrBeyondTheLimit) {
  MoveInputs inputs = make_move(spins, 1);
  inputs.trial.assign(32, -1);
  inputs.control.stop = DeviceStop::step_limit;
  EXPECT_EQ(accept(queue(), inputs), inputs.state);
  inputs.control.stop = DeviceStop::none;
  inputs.control.step_limit = inputs.control.step;
  EXPECT_EQ(accept(queue(), inputs), inputs.state);
}

}  // namespace
}  // namespace kiln::test::accept_move_test
