// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_flush.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// A ring of recorded energies against one ladder_statistics for each call, on the CPU.
KILN_CONFORMANCE_CASE(LadderFlush, exact)

namespace kiln::test::ladder_flush_test {
namespace {

struct Case {
  std::int64_t rungs, ladders, waiting, next;
  bool nonfinite = false;
};
constexpr std::int64_t max_waiting = 5;

// Energy of a call, a rung and a ladder. Without a finite one in the first calls of rung 0 a
// reference comes late.
double energy_of(const Case& c, std::int64_t call, std::int64_t rung, std::int64_t ladder) {
  if (c.nonfinite && ((rung == 0 && call < 2) || (ladder + call) % 7 == 3)) {
    return ladder % 2 == 0 ? INFINITY : NAN;
  }
  return 0.25 * static_cast<double>((ladder * 37 + rung * 11 + call * 101) % 257) - 30;
}

// The sums after all calls that wait.
struct Sums {
  std::vector<RungSums> sums;
  std::vector<RungCell> cells;
};

struct Arrays {
  Arrays(Queue& on, const Case& c) : queue(on), shape(c) {}

  LadderStatistics statistics() {
    LadderStatistics kernel{energy.view(),    best.view(), beta.view(),   slot_of.view(),
                            best_rung.view(), sums.view(), shape.ladders, control.data()};
    kernel.cells = cells.view();
    return kernel;
  }
  Sums download() { return {sums.download(), cells.download()}; }
  static std::size_t n(const Case& c) { return idx(c.rungs * c.ladders); }

  std::vector<double> betas() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < n(shape); ++i) {
      all.push_back(0.1 * static_cast<double>(i % idx(shape.rungs)));
    }
    return all;
  }
  std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> all(n(shape));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  Queue& queue;
  Case shape;
  DeviceArray<double> energy{queue, std::vector<double>(n(shape))};
  DeviceArray<double> best{queue, std::vector<double>(n(shape), -100.0)};
  DeviceArray<double> beta{queue, betas()};
  DeviceArray<std::int32_t> slot_of{queue, numbers()}, best_rung{queue, numbers()};
  DeviceArray<RungSums> sums{queue, std::vector<RungSums>(idx(shape.rungs))};
  DeviceArray<RungCell> cells{
      queue, std::vector<RungCell>(idx(shape.rungs* LadderStatistics::cells_of_rung))};
  DeviceArray<RunControl> control{queue, std::vector<RunControl>{RunControl{}}};
};

Sums call_by_call(Queue& cpu, const Case& c) {
  Arrays arrays(cpu, c);
  for (std::int64_t call = 0; call < c.waiting; ++call) {
    std::vector<double> energy(Arrays::n(c));
    for (std::int64_t i = 0; i < c.rungs * c.ladders; ++i) {
      energy[idx(i)] = energy_of(c, call, i % c.rungs, i / c.rungs);
    }
    arrays.energy.upload(energy);
    cpu.launch(arrays.statistics());
  }
  return arrays.download();
}

Sums from_record(Queue& queue, const Case& c) {
  Arrays arrays(queue, c);
  constexpr std::int64_t places = max_waiting + 1;
  std::vector<double> ring(Arrays::n(c) * idx(places), 1e6);  // what does not wait
  for (std::int64_t call = 0; call < c.waiting; ++call) {
    const std::int64_t place = (c.next + places - c.waiting + call) % places;
    for (std::int64_t i = 0; i < c.rungs * c.ladders; ++i) {
      ring[idx(place * c.rungs * c.ladders + i)] = energy_of(c, call, i / c.ladders, i % c.ladders);
    }
  }
  std::vector<std::uint32_t> state(idx(LadderRecord::state_size(c.rungs)));
  state[LadderRecord::next_at] = static_cast<std::uint32_t>(c.next);
  state[LadderRecord::waiting_at] = static_cast<std::uint32_t>(c.waiting);
  DeviceArray<double> energy(queue, ring);
  DeviceArray<LadderStatistics::Part> parts(
      queue, std::vector<LadderStatistics::Part>(
                 idx(c.rungs * max_waiting * LadderRecord::parts_of_call)));
  DeviceArray<std::uint32_t> states(queue, state);
  const LadderFlush flush{arrays.statistics(),
                          {energy.view(), {}, parts.view(), states.view(), max_waiting}};
  queue.launch(flush);
  queue.launch(flush);  // nothing waits any more
  EXPECT_EQ(states.download()[LadderRecord::next_at], c.next);
  EXPECT_EQ(states.download()[LadderRecord::waiting_at], 0u);
  return arrays.download();
}

void expect_same(const ExpSum& a, const ExpSum& b) {
  EXPECT_EQ(bits_of({a.value, a.scale}), bits_of({b.value, b.scale}));
}

class LadderFlushKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LadderFlushKernel);

void check(Queue& queue, const Case& c) {
  SCOPED_TRACE(std::to_string(c.rungs) + " rungs, " + std::to_string(c.ladders) + " ladders, " +
               std::to_string(c.waiting) + " calls wait, next " + std::to_string(c.next));
  const Sums got = from_record(queue, c);
  const Sums expected = call_by_call(*open_device(Device::cpu).queue, c);
  for (std::size_t r = 0; r < expected.sums.size(); ++r) {
    const RungSums &a = got.sums[r], &b = expected.sums[r];
    EXPECT_EQ(a.count, b.count) << r;
    EXPECT_EQ(a.calls, b.calls) << r;
    EXPECT_EQ(bits_of({a.reference, a.sum, a.squares, a.best}),
              bits_of({b.reference, b.sum, b.squares, b.best}))
        << r;
    expect_same(a.forward, b.forward);
    expect_same(a.backward, b.backward);
  }
  for (std::size_t i = 0; i < expected.cells.size(); ++i) {
    EXPECT_EQ(got.cells[i].count, expected.cells[i].count) << i;
    expect_same(got.cells[i].forward, expected.cells[i].forward);
    expect_same(got.cells[i].backward, expected.cells[i].backward);
  }
}

TEST_P(LadderFlushKernel, AddsWhatWaitsInOrder) {
  for (const std::int64_t ladders : {1, 31, 32, 255, 256, 257, 700}) {
    for (const std::int64_t waiting : {0, 1, 4, 5}) {
      for (const std::int64_t next : {0, 3, 5}) check(queue(), {5, ladders, waiting, next});
    }
  }
  check(queue(), {200, 40, 5, 2});
}

TEST_P(LadderFlushKernel, FindsReferencesThatComeLate) {
  for (const std::int64_t ladders : {3, 64, 300}) {
    for (const std::int64_t waiting : {1, 2, 3, 5}) check(queue(), {4, ladders, waiting, 1, true});
  }
}

}  // namespace
}  // namespace kiln::test::ladder_flush_test
