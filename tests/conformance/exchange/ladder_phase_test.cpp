// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_phase.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// The three kernels of a phase, in their order.
KILN_CONFORMANCE_CASE(LadderPhase, exact)

namespace kiln::test::ladder_phase_test {
namespace {

struct Case {
  std::int64_t rungs, ladders;
  PairMode mode = PairMode::even_odd;
  bool nonfinite = false;
  bool in_blocks = false;  // of 32 ladders

  std::int64_t rung_numbers() const { return rungs * (in_blocks ? ladders / 32 : ladders); }
};

std::vector<std::int32_t> numbers_of(const Case& c) {
  std::vector<std::int32_t> numbers(idx(c.rungs * c.ladders));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<double> betas_of(const Case& c) {
  std::vector<double> beta;
  for (std::int64_t i = 0; i < c.rung_numbers(); ++i) {
    beta.push_back(0.1 * std::pow(1.1, static_cast<double>(i % c.rungs)));
  }
  return beta;
}

std::vector<double> energies_of(const Case& c) {
  TestRandom random(static_cast<std::uint64_t>(c.rungs * 1000 + c.ladders));
  std::vector<double> energy;
  for (std::int64_t i = 0; i < c.rungs * c.ladders; ++i) {
    energy.push_back(std::floor(random.unit() * 40) - static_cast<double>(i % c.rungs));
    if (c.nonfinite && i % 5 == 0) energy.back() = i % 2 == 0 ? INFINITY : NAN;
  }
  return energy;
}

// All that a phase reads and writes, on a queue.
struct Tempering {
  Tempering(Queue& on, const Case& c) : queue(on), shape(c) { reset(control, RunControl{}); }

  template <class T>
  void reset(DeviceArray<T>& array, const T& value) {
    array = DeviceArray<T>(queue, std::vector<T>{value});
  }
  std::size_t size() const { return numbers.size(); }

  // New energies for every call, so that counts and best rungs change.
  void begin_call(std::uint64_t call) {
    for (std::size_t i = 0; i < size(); ++i) {
      energy[i] += static_cast<double>((i * 7 + call * 13) % 5) - 2;
    }
    energies = DeviceArray<double>(queue, energy);
    RunControl now;
    now.step = call;
    reset(control, now);
  }

  LadderPhase phase() {
    LadderPhase all;
    all.statistics = {energies.view(),  bests.view(), betas.view(),  slot_of.view(),
                      best_rung.view(), sums.view(),  shape.ladders, control.data()};
    all.statistics.cells = cells.view();
    all.statistics.in_blocks = shape.in_blocks;
    const SwapCounts counts = {{attempts.data(), shape.rungs - 1},
                               {accepted.data(), shape.rungs - 1},
                               {chance.data(), shape.rungs - 1},
                               totals.view()};
    all.swap = {energies.view(),
                betas.view(),
                rung_of.view(),
                slot_of.view(),
                states.view(),
                last_end.view(),
                round_trips.view(),
                counts,
                {keys.view(), replicas.view()},
                control.data(),
                shape.rungs,
                shape.mode,
                {}};
    if (shape.in_blocks) all.swap.blocks = {energies.view(), swapping.view(), partner.view()};
    all.update = {plan.view(),  betas.view(), sums.view(),    counts, barrier.view(),
                  slope.view(), fresh.view(), control.data(), 1,      cells.view()};
    all.record = {records.view(), {}, parts.view(), state.view(), waiting_calls};
    return all;
  }
  LadderFlush flush() {
    const LadderPhase all = phase();
    return {all.statistics, all.record};
  }

  Queue& queue;
  Case shape;
  std::vector<std::int32_t> numbers = numbers_of(shape);
  std::vector<double> energy = energies_of(shape);
  DeviceArray<double> energies;
  DeviceArray<double> betas{queue, betas_of(shape)};
  DeviceArray<double> bests{queue, std::vector<double>(numbers.size(), 2.0)};
  DeviceArray<std::int32_t> slot_of{queue, numbers}, rung_of{queue, numbers},
      best_rung{queue, numbers};
  DeviceArray<RungSums> sums{queue, std::vector<RungSums>(idx(shape.rungs))};
  DeviceArray<RungCell> cells{
      queue, std::vector<RungCell>(idx(shape.rungs* LadderStatistics::cells_of_rung))};
  DeviceArray<std::uint32_t> swapping{queue, std::vector<std::uint32_t>(idx(shape.rung_numbers()))};
  DeviceArray<std::int32_t> partner{queue, std::vector<std::int32_t>(idx(shape.rung_numbers()))};
  DeviceArray<SwapLadder> states{queue, std::vector<SwapLadder>(idx(shape.ladders))};
  DeviceArray<LadderEnd> last_end{queue, std::vector<LadderEnd>(numbers.size())};
  DeviceArray<std::uint32_t> round_trips{queue, std::vector<std::uint32_t>(numbers.size())};
  DeviceArray<std::uint64_t> attempts{queue, std::vector<std::uint64_t>(idx(shape.rungs))},
      accepted{queue, std::vector<std::uint64_t>(idx(shape.rungs))},
      chance{queue, std::vector<std::uint64_t>(idx(shape.rungs))},
      totals{queue, std::vector<std::uint64_t>(2)};
  DeviceArray<std::uint64_t> keys{queue, std::vector<std::uint64_t>(numbers.size(), 7)};
  DeviceArray<std::uint32_t> replicas{queue, std::vector<std::uint32_t>(numbers.size())};
  DeviceArray<LadderPlan> plan{queue, std::vector<LadderPlan>{{2, 3, 0, 1, 5}}};
  DeviceArray<double> barrier{queue, std::vector<double>(idx(shape.rungs))},
      slope{queue, std::vector<double>(idx(shape.rungs))},
      fresh{queue, std::vector<double>(idx(shape.rungs))};
  std::int64_t waiting_calls = 3;
  DeviceArray<double> records{queue, std::vector<double>(numbers.size() * idx(waiting_calls + 1))};
  DeviceArray<LadderStatistics::Part> parts{
      queue, std::vector<LadderStatistics::Part>(
                 idx(shape.rungs* waiting_calls* LadderRecord::parts_of_call))};
  DeviceArray<std::uint32_t> state{
      queue, std::vector<std::uint32_t>(idx(LadderRecord::state_size(shape.rungs)))};
  DeviceArray<RunControl> control;
};

template <class T>
void expect_same(const DeviceArray<T>& got, const DeviceArray<T>& expected, const char* what) {
  const std::vector<T> a = got.download(), b = expected.download();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]) << what << ' ' << i;
}

void expect_same(const ExpSum& got, const ExpSum& expected, std::size_t i) {
  EXPECT_EQ(bits_of({got.value, got.scale}), bits_of({expected.value, expected.scale})) << i;
}

void expect_same_sums(const Tempering& got, const Tempering& expected) {
  const std::vector<RungSums> a = got.sums.download(), b = expected.sums.download();
  for (std::size_t r = 0; r < a.size(); ++r) {
    EXPECT_EQ(a[r].count, b[r].count) << r;
    EXPECT_EQ(a[r].calls, b[r].calls) << r;
    EXPECT_EQ(bits_of({a[r].reference, a[r].sum, a[r].squares, a[r].best}),
              bits_of({b[r].reference, b[r].sum, b[r].squares, b[r].best}))
        << r;
    expect_same(a[r].forward, b[r].forward, r);
    expect_same(a[r].backward, b[r].backward, r);
  }
  const std::vector<RungCell> c = got.cells.download(), d = expected.cells.download();
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(c[i].count, d[i].count) << i;
    expect_same(c[i].forward, d[i].forward, i);
    expect_same(c[i].backward, d[i].backward, i);
  }
}

class LadderPhaseKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LadderPhaseKernel);

// The tickets of the record, which are zero between launches.
void expect_no_tickets(Tempering& got) {
  const std::vector<std::uint32_t> state = got.state.download();
  EXPECT_EQ(state[LadderRecord::ticket_at], 0u);
  for (std::int64_t r = 0; r < got.shape.rungs; ++r) {
    EXPECT_EQ(state[idx(LadderRecord::first_rung_at + r)], 0u) << r;
  }
}

// Fourteen calls: a round of three that moves temperatures, one of five, and the rest; three are
// recorded at a time, and added after every third call at the latest, or as `flush_every` says. The
// three kernels run on the CPU, one by one.
void check(Queue& queue, const Case& shape, std::uint64_t flush_every = 14) {
  SCOPED_TRACE(std::to_string(shape.rungs) + " rungs, " + std::to_string(shape.ladders) +
               " ladders");
  Queue& cpu = *open_device(Device::cpu).queue;
  Tempering got(queue, shape), expected(cpu, shape);
  for (std::uint64_t call = 0; call < 14; ++call) {
    got.begin_call(call);
    expected.begin_call(call);
    queue.launch(got.phase());
    const LadderPhase apart = expected.phase();
    cpu.launch(apart.statistics);
    cpu.launch(apart.swap);
    cpu.launch(apart.update);
    if ((call + 1) % flush_every == 0) {
      queue.launch(got.flush());
      expect_same_sums(got, expected);
    }
    expect_same(got.slot_of, expected.slot_of, "slot_of");
    expect_same(got.rung_of, expected.rung_of, "rung_of");
    expect_same(got.best_rung, expected.best_rung, "best_rung");
    expect_same(got.swapping, expected.swapping, "swapping");
    expect_same(got.partner, expected.partner, "partner");
    if (!shape.nonfinite) expect_same(got.energies, expected.energies, "energy");
    expect_same(got.betas, expected.betas, "beta");
    expect_same(got.attempts, expected.attempts, "attempts");
    expect_same(got.accepted, expected.accepted, "accepted");
    expect_same(got.chance, expected.chance, "chance");
    expect_same(got.totals, expected.totals, "totals");
    expect_same(got.round_trips, expected.round_trips, "round_trips");
    expect_no_tickets(got);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST_P(LadderPhaseKernel, GivesTheBitsOfItsThreeKernels) {
  for (const std::int64_t rungs : {1, 2, 3, 31, 32, 33, 128, 129}) {
    for (const std::int64_t ladders : {1, 2, 5, 16, 17, 31, 32, 33, 127, 128, 129, 300}) {
      check(queue(), {rungs, ladders});
    }
  }
}

TEST_P(LadderPhaseKernel, GivesThemWheneverWhatIsRecordedIsAdded) {
  for (const std::uint64_t every : {1, 2, 3, 4, 5, 7}) check(queue(), {9, 70}, every);
}

TEST_P(LadderPhaseKernel, GivesThemForManyLadders) {
  check(queue(), {1024, 3});
  check(queue(), {32, 1056});
  check(queue(), {7, 8192});
  check(queue(), {2, 8300});  // 130 blocks of 64 ladders
}

TEST_P(LadderPhaseKernel, GivesThemForBlocksOfLadders) {
  for (const std::int64_t rungs : {1, 2, 7, 31, 32, 33, 129, 1024}) {
    for (const std::int64_t ladders : {32, 96, 320}) {
      for (const PairMode mode : {PairMode::even_odd, PairMode::all_pairs}) {
        if (rungs * ladders <= 50'000) check(queue(), {rungs, ladders, mode, false, true});
      }
    }
  }
  check(queue(), {32, 1056, PairMode::even_odd, false, true});
  check(queue(), {16, 128, PairMode::random_adjacent, true, true});
}

TEST_P(LadderPhaseKernel, GivesThemInEveryModeAndForNonfiniteEnergies) {
  for (const PairMode mode :
       {PairMode::random_adjacent, PairMode::sequential, PairMode::all_pairs}) {
    check(queue(), {32, 300, mode});
    check(queue(), {9, 40, mode});
  }
  check(queue(), {100, 2000, PairMode::all_pairs});
  check(queue(), {16, 130, PairMode::even_odd, true});
}

// No replica has a finite energy, so every call lacks a reference.
TEST_P(LadderPhaseKernel, WaitsForReferencesAtEveryCall) {
  Case shape{4, 200};
  Tempering got(queue(), shape);
  for (double& e : got.energy) e = INFINITY;
  for (std::uint64_t call = 0; call < 20; ++call) {
    got.begin_call(call);
    queue().launch(got.phase());
    if (call % 3 == 2) queue().launch(got.flush());
  }
  queue().launch(got.flush());
  for (const RungSums& sums : got.sums.download()) {
    EXPECT_EQ(sums.count, 0u);
    EXPECT_EQ(sums.reference, 0.0);
  }
  expect_no_tickets(got);
}

TEST_P(LadderPhaseKernel, RestsWhenTheRunHasStopped) {
  Tempering got(queue(), {8, 64});
  got.begin_call(0);
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  got.reset(got.control, stopped);
  queue().launch(got.phase());
  EXPECT_EQ(got.slot_of.download(), got.numbers);
  EXPECT_EQ(got.sums.download().front().count, 0u);
  EXPECT_EQ(got.plan.download().front().calls, 0);
}

}  // namespace
}  // namespace kiln::test::ladder_phase_test
