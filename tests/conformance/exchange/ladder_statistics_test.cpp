// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Sums are formed in an order that the header fixes.
KILN_CONFORMANCE_CASE(LadderStatistics, exact)

namespace kiln::test::ladder_statistics_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Inputs {
  std::int64_t rungs = 1, ladders = 1;
  std::vector<double> energy, best_energy, beta;
  std::vector<std::int32_t> slot_of;
  RunControl control;
  double inverse_scale = 1;
  std::vector<double> parameter, term;  // empty: the coordinate is beta
};

struct Outputs {
  std::vector<RungSums> sums;
  std::vector<std::int32_t> best_rung;
  std::vector<RungCell> cells;
};

// Ladder g has its replicas in reverse order of the rungs.
Inputs make_inputs(std::int64_t rungs, std::int64_t ladders, std::uint64_t seed) {
  TestRandom random(seed);
  Inputs in;
  in.rungs = rungs;
  in.ladders = ladders;
  const std::size_t n = idx(rungs * ladders);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t r = i % idx(rungs);
    in.energy.push_back(random.unit() * 8 - 4);
    in.best_energy.push_back(random.unit() * 8 - 4);
    in.beta.push_back(0.2 + 0.1 * static_cast<double>(r * r));
    in.slot_of.push_back(static_cast<std::int32_t>(i - r + idx(rungs) - 1 - r));
  }
  return in;
}

Outputs run(Queue& queue, const Inputs& in, int calls = 1) {
  const DeviceArray<double> energy(queue, in.energy), best(queue, in.best_energy),
      beta(queue, in.beta), parameter(queue, in.parameter), term(queue, in.term);
  const DeviceArray<std::int32_t> slot_of(queue, in.slot_of);
  DeviceArray<std::int32_t> best_rung(queue, std::vector<std::int32_t>(in.energy.size(), -1));
  DeviceArray<RungSums> sums(queue, std::vector<RungSums>(idx(in.rungs)));
  DeviceArray<RungCell> cells(
      queue, std::vector<RungCell>(idx(in.rungs * LadderStatistics::cells_of_rung)));
  const DeviceArray<RunControl> control = upload_control(queue, in.control);
  for (int call = 0; call < calls; ++call) {
    queue.launch(LadderStatistics{energy.view(), best.view(), beta.view(), slot_of.view(),
                                  best_rung.view(), sums.view(), in.ladders, control.data(), 1,
                                  in.inverse_scale, parameter.view(), term.view(), cells.view()});
  }
  return {sums.download(), best_rung.download(), cells.download()};
}

void expect_same(const Outputs& got, const Outputs& expected) {
  EXPECT_EQ(got.best_rung, expected.best_rung);
  for (std::size_t r = 0; r < got.sums.size(); ++r) {
    const RungSums &a = got.sums[r], &b = expected.sums[r];
    EXPECT_EQ(a.count, b.count) << r;
    EXPECT_EQ(bits_of({a.reference, a.sum, a.squares, a.forward.value, a.forward.scale,
                       a.backward.value, a.backward.scale, a.best}),
              bits_of({b.reference, b.sum, b.squares, b.forward.value, b.forward.scale,
                       b.backward.value, b.backward.scale, b.best}))
        << r;
  }
  for (std::size_t i = 0; i < got.cells.size(); ++i) {
    const RungCell &a = got.cells[i], &b = expected.cells[i];
    EXPECT_EQ(a.count, b.count) << i;
    EXPECT_EQ(bits_of({a.forward.value, a.forward.scale, a.backward.value, a.backward.scale}),
              bits_of({b.forward.value, b.forward.scale, b.backward.value, b.backward.scale}))
        << i;
  }
}

class LadderStatisticsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LadderStatisticsKernel);

TEST_P(LadderStatisticsKernel, AddsUpWhatEachRungHolds) {
  Inputs in = make_inputs(2, 2, 1);
  in.beta = {1, 3, 1, 3};
  in.slot_of = {0, 1, 3, 2};  // the second ladder has swapped
  in.energy = {5, 2, 1, 9};
  in.best_energy = {5, 3, 1, 10};
  in.inverse_scale = 0.5;

  const Outputs out = run(queue(), in, 2);

  EXPECT_EQ(out.sums[0].reference, 5.0);
  EXPECT_EQ(out.sums[0].sum, 2 * (0 + 4.0));
  EXPECT_EQ(out.sums[0].squares, 2 * 16.0);
  EXPECT_NEAR(out.sums[0].forward.value, 2 * (1 + std::exp(-2.0)), 1e-14);
  EXPECT_EQ(out.sums[0].backward.value, 0.0);
  EXPECT_EQ(out.sums[0].best, 5.0);
  EXPECT_EQ(out.sums[0].count, 4u);
  EXPECT_EQ(out.sums[1].reference, 2.0);
  EXPECT_EQ(out.sums[1].sum, 2 * (0 - 1.0));
  EXPECT_EQ(out.sums[1].forward.value, 0.0);
  EXPECT_NEAR(out.sums[1].backward.value, 2 * (1 + std::exp(-0.5)), 1e-14);
  EXPECT_EQ(out.sums[1].best, 1.0);
  EXPECT_EQ(out.best_rung, (std::vector<std::int32_t>{-1, 1, -1, 0}));
}

// Over lambda the weights are those of the term, at the temperature of the rungs.
TEST_P(LadderStatisticsKernel, WeighsTheTermOfAFamily) {
  Inputs in = make_inputs(2, 2, 1);
  in.beta.assign(4, 0.5);
  in.parameter = {0.25, 1, 0.25, 1};
  in.slot_of = {0, 1, 2, 3};
  in.energy = {10, 20, 30, 40};
  in.term = {3, 5, 7, 6};
  in.inverse_scale = 2;
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.sums[0].reference, 10.0);
  EXPECT_EQ(out.sums[0].weighed_reference, 3.0);
  EXPECT_EQ(out.sums[0].sum, 20.0);
  EXPECT_NEAR(out.sums[0].forward.value, 1 + std::exp(-0.75 * 2), 1e-15);
  EXPECT_NEAR(out.sums[1].backward.value, 1 + std::exp(0.75 * 0.5), 1e-15);
  in.term[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(run(queue(), in).sums[0].count, 1u);
  EXPECT_EQ(run(queue(), in).sums[0].weighed_reference, 0.0);
}

TEST_P(LadderStatisticsKernel, LeavesOutWhatIsNotFinite) {
  Inputs in = make_inputs(1, 4, 2);
  in.energy = {infinity, std::numeric_limits<double>::quiet_NaN(), -infinity, 3};
  in.best_energy.assign(4, 100);
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.sums[0].count, 1u);
  EXPECT_EQ(out.sums[0].reference, 0.0);
  EXPECT_EQ(out.sums[0].sum, 3.0);
  EXPECT_EQ(out.sums[0].best, 3.0);
  EXPECT_EQ(out.best_rung, (std::vector<std::int32_t>{-1, -1, -1, 0}));
}

TEST_P(LadderStatisticsKernel, CutsInfiniteExponentsAndSkipsInfiniteGaps) {
  Inputs in = make_inputs(3, 1, 3);
  in.beta = {0, 1, infinity};
  in.slot_of = {0, 1, 2};
  in.energy = {0, 0, 0};
  EXPECT_EQ(run(queue(), in).sums[1].forward.value, 0.0);
  EXPECT_EQ(run(queue(), in).sums[2].backward.value, 0.0);
  in.ladders = 2;
  in.rungs = 3;
  in.beta = {0, 1, 2, 0, 1, 2};
  in.slot_of = {0, 1, 2, 3, 4, 5};
  in.energy = {0, 0, 0, -1e300, 0, 0};
  in.best_energy.assign(6, 0);
  const ExpSum huge = run(queue(), in).sums[0].forward;
  EXPECT_EQ(huge.value, 1.0) << "exp(1e300) beside exp(0)";
  EXPECT_NEAR(huge.scale, 5e299, 1e286);
}

// Exponents of thousands, in closed form: log sum exp by the largest term.
TEST_P(LadderStatisticsKernel, AddsExponentialsThatNoDoubleHolds) {
  Inputs in = make_inputs(2, 3, 1);
  in.beta = {0, 2, 0, 2, 0, 2};
  in.slot_of = {0, 1, 2, 3, 4, 5};
  // Exponents are those of energies relative to the first, forward -(V - V_0), backward V - V_0.
  for (const std::vector<double>& shift : {std::vector<double>{0, 1200, 1201.5},
                                           {0, 705, 702},
                                           {0, -5000, 3},
                                           {0, 350, 351},
                                           {0, -1e6, -1e6}}) {
    in.energy = {7 - shift[0], 7 + shift[0], 7 - shift[1],
                 7 + shift[1], 7 - shift[2], 7 + shift[2]};
    const double most = *std::max_element(shift.begin(), shift.end());
    double sum = 0;
    for (const double x : shift) sum += std::exp(x - most);
    const Outputs out = run(queue(), in);
    for (const ExpSum& found : {out.sums[0].forward, out.sums[1].backward}) {
      EXPECT_NEAR(std::log(found.value) + found.scale, most + std::log(sum), 1e-12 * (1 + most));
    }
  }
}

// Cells of ladders hold each ladder once, cells of calls each call once, and both add up.
TEST_P(LadderStatisticsKernel, DividesTheSumsAmongCells) {
  for (const std::int64_t ladders : {1, 7, 31, 32, 33, 300}) {
    const Inputs in = make_inputs(3, ladders, 9);
    for (const int calls : {1, 31, 32, 33, 64, 65, 200}) {
      const Outputs out = run(queue(), in, calls);
      int length = 1;
      while (calls > 32 * length) length *= 2;
      constexpr std::size_t used = 16;
      for (std::size_t r = 0; r < 3; ++r) {
        std::uint64_t count = 0;
        double forward = 0;
        for (std::size_t j = 0; j < 32; ++j) {
          const RungCell& cell = out.cells[32 * r + j];
          count += cell.count;
          forward += cell.forward.value;
          const std::size_t of_calls = idx(std::min<std::int64_t>(
              length, std::max<std::int64_t>(0, calls - length * static_cast<std::int64_t>(j))));
          if (ladders < 32) {
            EXPECT_EQ(cell.count, of_calls * idx(ladders)) << calls << " calls, cell " << j;
          } else {
            EXPECT_EQ(cell.count > 0, j < used) << ladders << " ladders, cell " << j;
          }
        }
        EXPECT_EQ(count, idx(ladders * calls));
        EXPECT_NEAR(forward, out.sums[r].forward.value, 1e-9 * (1 + forward));
      }
      if (ladders != 300) continue;
      double fourth = 0;  // ladders 6, 7, 38, 39, ...
      for (std::size_t g = 0; g < 300; ++g) {
        if (g % 32 / 2 != 3) continue;
        const double e = in.energy[idx(in.slot_of[3 * g])], e0 = in.energy[idx(in.slot_of[0])];
        fourth += calls * std::exp(-0.05 * (e - e0));
      }
      EXPECT_NEAR(out.cells[3].forward.value, fourth, 1e-9 * fourth);
    }
  }
}

TEST_P(LadderStatisticsKernel, DoesNothingOnceStopped) {
  Inputs in = make_inputs(3, 5, 4);
  in.control.stop = DeviceStop::target;
  for (const RungSums& sums : run(queue(), in).sums) EXPECT_EQ(sums.count, 0u);
}

TEST_P(LadderStatisticsKernel, MatchesCpu) {
  for (const std::int64_t ladders : {1, 2, 3, 31, 128, 255, 256, 257, 1000}) {
    for (const std::int64_t rungs : {1, 2, 7}) {
      SCOPED_TRACE(testing::Message() << ladders << " ladders, " << rungs << " rungs");
      Inputs in = make_inputs(rungs, ladders, idx(ladders));
      expect_same(run(queue(), in, 3), run(cpu_queue(), in, 3));
      in.term = in.best_energy;
      std::swap(in.parameter, in.beta);
      in.beta.assign(in.parameter.size(), 0.7);
      expect_same(run(queue(), in, 3), run(cpu_queue(), in, 3));
    }
  }
}

// The order of the header, written out: 256 lanes, then a tree.
TEST_P(LadderStatisticsKernel, AddsInTheOrderOfTheHeader) {
  const Inputs in = make_inputs(2, 700, 5);
  const Outputs out = run(queue(), in);
  for (std::size_t r = 0; r < 2; ++r) {
    const auto energy = [&](std::size_t g) { return in.energy[idx(in.slot_of[2 * g + r])]; };
    std::vector<double> lane(256, 0.0);
    for (std::size_t g = 0; g < 700; ++g) lane[g % 256] += energy(g) - energy(0);
    for (std::size_t half = 128; half > 0; half /= 2) {
      for (std::size_t t = 0; t < half; ++t) lane[t] += lane[t + half];
    }
    EXPECT_EQ(bits_of({out.sums[r].sum}), bits_of({lane[0]}));
  }
}

}  // namespace
}  // namespace kiln::test::ladder_statistics_test
