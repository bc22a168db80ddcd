// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "backends/conformance_case.hpp"
#include "backends/cpu_queue.hpp"
#include "oscillators.hpp"

// Single roundings in a fixed order; forces are integers, or sums in the order of the row.
KILN_CONFORMANCE_CASE(BifurcationSteps, exact)

namespace kiln::test::bifurcation_steps_test {
namespace {

class BifurcationStepsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BifurcationStepsKernel);

constexpr BifurcationVariant variants[] = {BifurcationVariant::discrete,
                                           BifurcationVariant::heated_discrete,
                                           BifurcationVariant::ballistic};

std::int64_t site_of(const Ising& model, std::int32_t variable) {
  const problems::PairwisePlan plan = problems::plan_pairwise(model);
  return std::ranges::find(plan.variable, variable) - plan.variable.begin();
}

// Two spins with J = 2 and h_0 = 1, all slots alike: numbers that single precision holds.
struct TwoSpins {
  OscillatorInputs in;
  std::int64_t first, second;

  TwoSpins() {
    Ising model{2, {1, 0}, {{0, 1, 2}}};
    first = site_of(model, 0);
    second = site_of(model, 1);
    in = random_oscillators(model, 32, 1, 1);
    in.rounds = {4, 4};
    in.tuning = {{0.125F, 0.5F, 1}};
  }
  void put(std::int64_t site, float x, float y) {
    for (std::int64_t slot = 0; slot < 32; ++slot) {
      in.position[idx(site * 32 + slot)] = x;
      in.momentum[idx(site * 32 + slot)] = y;
    }
  }
  static Oscillator at(const OscillatorOutputs& out, std::int64_t site) {
    return {out.position[idx(site * 32 + 5)], out.momentum[idx(site * 32 + 5)]};
  }
};

// d = 0.5 (1 - 1/4) = 0.375. F_0 = 1 + 2 (-1) = -1, F_1 = 2.
// y_0 = 0.25 - (-0.125 + 0.1875) = 0.1875, x_0 = 0.5 + 0.09375.
// y_1 = 0 - (0.25 - 0.09375) = -0.15625, x_1 = -0.25 - 0.078125.
TEST_P(BifurcationStepsKernel, MakesAStepThatWasComputedByHand) {
  TwoSpins two;
  two.put(two.first, 0.5F, 0.25F);
  two.put(two.second, -0.25F, 0);
  const OscillatorOutputs out = run_steps(queue(), two.in);
  EXPECT_EQ(TwoSpins::at(out, two.first).position, 0.59375F);
  EXPECT_EQ(TwoSpins::at(out, two.first).momentum, 0.1875F);
  EXPECT_EQ(TwoSpins::at(out, two.second).position, -0.328125F);
  EXPECT_EQ(TwoSpins::at(out, two.second).momentum, -0.15625F);

  two.in.tuning[0].gain = 1.5F;  // heats momenta: y_0 = 0.28125
  const OscillatorOutputs heated = run_steps(queue(), two.in);
  EXPECT_EQ(TwoSpins::at(heated, two.first).position, 0.640625F);
  EXPECT_EQ(TwoSpins::at(heated, two.first).momentum, 0.28125F);
}

// 127 * 0.5 = 63.5 is shown as 64, the even one, and -31.75 as -32.
// F_0 = 127 - 64 = 63, F_1 = 128: with c = 1/1024 y_0 = 0.25 - (63/1024 + 0.1875).
TEST_P(BifurcationStepsKernel, RoundsThePositionsThatTheBallisticVariantShows) {
  TwoSpins two;
  two.put(two.first, 0.5F, 0.25F);
  two.put(two.second, -0.25F, 0);
  two.in.variant = BifurcationVariant::ballistic;
  two.in.tuning[0].force = 1 / 1024.0F;
  const OscillatorOutputs out = run_steps(queue(), two.in);
  EXPECT_EQ(TwoSpins::at(out, two.first).momentum, 0.0625F - 63 / 1024.0F);
  EXPECT_EQ(TwoSpins::at(out, two.second).momentum, 0.09375F - 128 / 1024.0F);
}

TEST_P(BifurcationStepsKernel, StopsAtTheWalls) {
  TwoSpins two;
  two.put(two.first, 0.75F, 2);
  two.put(two.second, -0.75F, -2);
  const OscillatorOutputs out = run_steps(queue(), two.in);
  EXPECT_EQ(TwoSpins::at(out, two.first).position, 1.0F);
  EXPECT_EQ(TwoSpins::at(out, two.first).momentum, 0.0F);
  EXPECT_EQ(TwoSpins::at(out, two.second).position, -1.0F);
  EXPECT_EQ(TwoSpins::at(out, two.second).momentum, 0.0F);
}

struct ModelCase {
  std::string name;
  Ising model;
  bool matrix = false;
  std::int32_t unit = 1;  ///< of the matrix
};

std::vector<ModelCase> model_cases() {
  const auto small = one_of({-3, -2, -1, 1, 2, 3}, 1), bytes = one_of({-127, 5, 126, 127}, 2);
  const auto real = one_of({-0.7, 0.3, 1e-3, 2.5}, 3), large = one_of({-1e15, 3e14, 7}, 4);
  const auto even = one_of({-254, 10, 252, 254}, 8);
  return {{"dense in rows", dense(37, small, small)},
          {"dense matrix", dense(37, small, constant(0)), true},
          {"dense matrix of large bytes", dense(70, bytes, small), true},
          {"dense matrix of even couplings", dense(70, even, small), true, 2},
          {"matrix of a sparse model", sparse(50, 4, bytes, small, 5), true},
          {"sparse", sparse(61, 5, small, small, 6)},
          {"a hub", star(40, 3, small)},
          {"real weights", sparse(45, 6, real, real, 7)},
          {"dense real weights", dense(30, real, real)},
          {"integers beyond 2^53 as sums", dense(20, large, large)},
          {"fields alone", isolated_spins({1, -2, 0, 3, 5})}};
}

// Constants of three groups, for forces of the size of the model.
std::vector<BifurcationTuning> tunings(const Ising& model) {
  double largest = 1e-9;
  for (const Edge& e : model.couplings) largest = std::max(largest, std::abs(e.weight));
  const auto c = static_cast<float>(0.2 / largest);
  return {{c, 1, 1}, {0.5F * c, 0.75F, 1.06F}, {2 * c, 0.6F, 1}};
}

TEST_P(BifurcationStepsKernel, HasTheBitsOfThePlainLoops) {
  for (const ModelCase& one : model_cases()) {
    for (const BifurcationVariant variant : variants) {
      for (const std::int64_t slots : {32, 64, 96}) {
        SCOPED_TRACE(one.name + ", variant " + std::to_string(static_cast<int>(variant)) + ", " +
                     std::to_string(slots) + " slots");
        OscillatorInputs in = random_oscillators(one.model, slots, 3, 9);
        in.variant = variant;
        in.with_matrix = one.matrix;
        in.matrix_unit = one.unit;
        in.tuning = tunings(one.model);
        if (variant == BifurcationVariant::ballistic) {
          for (BifurcationTuning& own : in.tuning) own.force /= 127;
        }
        in.rounds = {30, 60};  // the second round is longer
        in.steps = 50;
        in.of_launch = 7;
        const OscillatorOutputs expected = plain_steps(in);
        ASSERT_EQ(run_steps(queue(), in), expected);
        in.of_launch = 50;
        ASSERT_EQ(run_steps(queue(), in), expected);
        in.tuning[1].force *= -1;
        ASSERT_NE(run_steps(queue(), in), expected) << "a wrong sign must show";
      }
    }
  }
}

TEST_P(BifurcationStepsKernel, LeavesOutStepsBeyondTheLimit) {
  OscillatorInputs in = random_oscillators(dense(9, one_of({-1, 1}, 1), constant(0)), 32, 1, 3);
  in.steps = in.of_launch = 20;
  in.control.step = 40;
  in.control.step_limit = 53;
  OscillatorInputs shorter = in;
  shorter.steps = 13;
  EXPECT_EQ(run_steps(queue(), in), plain_steps(shorter));
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(run_steps(queue(), in), (OscillatorOutputs{in.position, in.momentum}));
}

// The radians by which the first oscillator of two moves on in a step, from its zero crossings.
double angle_of(Queue& queue, OscillatorInputs in, std::int64_t first, int steps) {
  in.steps = 1;
  double last = in.position[idx(first * 32)], begin = -1, end = -1;
  int crossings = -1;
  for (int s = 0; s < steps; ++s) {
    const OscillatorOutputs out = run_steps(queue, in);
    ++in.control.step;
    in.position = out.position;
    in.momentum = out.momentum;
    const double now = in.position[idx(first * 32)];
    if ((now > 0) != (last > 0)) {
      const double at = s + last / (last - now);
      if (begin < 0) begin = at;
      end = at;
      ++crossings;
    }
    last = now;
  }
  return std::numbers::pi * crossings / (end - begin);
}

// While the pump hardly changes, two coupled oscillators whose positions are equal move like one of
// frequency w^2 = 1 - p + c0 J, and opposite ones with - c0 J. Steps of this rule are those of the
// difference equation x'' = -w^2 x, with cos(angle) = 1 - (w dt)^2 / 2. A dt or a c0 that is wrong
// by a factor of two changes the angle by 4 % at least.
TEST_P(BifurcationStepsKernel, OscillatesWithTheFrequencyOfTheLinearEquations) {
  constexpr double dt = 0.25, c0 = 0.25, coupling = 1;
  for (const double pump : {0.0, 0.5}) {
    for (const double sign : {1.0, -1.0}) {
      TwoSpins two;
      two.in = random_oscillators(Ising{2, {0, 0}, {{0, 1, coupling}}}, 32, 1, 1);
      two.in.variant = BifurcationVariant::ballistic;
      two.in.tuning = {{static_cast<float>(dt * c0 / 127), static_cast<float>(dt), 1}};
      two.in.rounds = {std::int64_t{1} << 40, std::int64_t{1} << 40};
      two.in.control.step = static_cast<std::uint64_t>(pump * 0x1p40);
      two.put(two.first, 0.7F, 0);
      two.put(two.second, static_cast<float>(0.7 * sign), 0);
      const double square = 1 - pump + sign * c0 * coupling;
      const double expected = std::acos(1 - square * dt * dt / 2);
      EXPECT_NEAR(angle_of(queue(), two.in, two.first, 500), expected, 0.01 * expected)
          << "p = " << pump << ", sign " << sign;
    }
  }
}

// Another number of threads gives tasks of another width, and another instruction set another
// product.
TEST(BifurcationStepsOnCpu, HasTheSameBitsForAnyThreadsAndInstructions) {
  for (const ModelCase& one : model_cases()) {
    for (const BifurcationVariant variant : variants) {
      OscillatorInputs in = random_oscillators(one.model, 128, 3, 4);
      in.variant = variant;
      in.with_matrix = one.matrix;
      in.matrix_unit = one.unit;
      in.tuning = tunings(one.model);
      in.steps = in.of_launch = 12;
      const OscillatorOutputs expected = plain_steps(in);
      for (const int threads : {1, 2, 3, 4}) {
        ASSERT_EQ(run_steps(*cpu_queue(threads), in), expected) << one.name << threads;
      }
      for (const char* isa : {"baseline", "avx2"}) {
        const ScopedEnvironment chosen("KILN_CPU_ISA", isa);
        ASSERT_EQ(run_steps(*cpu_queue(2), in), expected) << one.name << isa;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::bifurcation_steps_test
