// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/record_draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Copies, and sums of each chain by itself.
KILN_CONFORMANCE_CASE(RecordDraws, exact)

namespace kiln::test::record_draws_test {
namespace {

struct Inputs {
  std::int64_t dimension = 2, chains = 33, pools = 1, pool = 0;
  std::int64_t warmup = 3, draws = 8, thin = 1, kept = 5;
  std::vector<std::int32_t> slot_of;
  std::int64_t slots() const { return (pools * chains + 31) / 32 * 32; }
};

struct Outputs {
  std::vector<double> mean, square, position, energy, hamiltonian, acceptance;
  std::vector<std::int32_t> leapfrogs, depth, divergent;
  std::vector<std::uint64_t> gradients, warmup_gradients, divergences;
  std::vector<double> last, h_mean, h_square, h_steps;
};

// What the chain in a slot is like after transition t.
double position_at(std::int64_t t, std::int64_t i, std::int64_t slot) {
  return std::sin(static_cast<double>(1 + t * 7 + i * 131 + slot * 17)) + 3;
}
double energy_at(std::int64_t t, std::int64_t slot) {
  return static_cast<double>(t * 100 + slot + (t * t + slot) % 7);
}
std::int32_t leapfrogs_at(std::int64_t t, std::int64_t slot) {
  return static_cast<std::int32_t>(1 + (t + slot) % 5);
}

Outputs run(Queue& queue, const Inputs& in, std::int64_t transitions) {
  const std::int64_t slots = in.slots(), d = in.dimension;
  const std::int64_t capacity = (in.draws + in.thin - 1) / in.thin, size = capacity * in.kept;
  const auto zeros = [&](std::int64_t n) { return std::vector<double>(idx(n), 0.0); };
  const std::vector<std::int32_t> whole(idx(size), 0);
  const std::vector<std::uint64_t> counts(idx(in.chains), 0);
  DeviceArray<double> mean(queue, zeros(2 * d * in.chains)),
      square(queue, zeros(2 * d * in.chains)), trace(queue, zeros(size * d)),
      trace_energy(queue, zeros(size)), trace_hamiltonian(queue, zeros(size)),
      trace_acceptance(queue, zeros(size));
  DeviceArray<double> last(queue, zeros(in.kept)), h_mean(queue, zeros(in.kept)),
      h_square(queue, zeros(in.kept)), h_steps(queue, zeros(in.kept));
  DeviceArray<std::int32_t> trace_leapfrogs(queue, whole), trace_depth(queue, whole),
      trace_divergent(queue, whole), slot_of(queue, in.slot_of);
  DeviceArray<std::uint64_t> gradients(queue, counts), warmup_gradients(queue, counts),
      divergences(queue, counts);
  for (std::int64_t t = 0; t < transitions; ++t) {
    std::vector<double> x, energy, hamiltonian, acceptance;
    std::vector<std::int32_t> leapfrogs, depth, divergent;
    for (std::int64_t i = 0; i < d; ++i) {
      for (std::int64_t s = 0; s < slots; ++s) x.push_back(position_at(t, i, s));
    }
    for (std::int64_t s = 0; s < slots; ++s) {
      energy.push_back(energy_at(t, s));
      hamiltonian.push_back(energy_at(t, s) + 0.5);
      acceptance.push_back(static_cast<double>(s % 8) / 8);
      leapfrogs.push_back(leapfrogs_at(t, s));
      depth.push_back(static_cast<std::int32_t>(s % 3));
      divergent.push_back((s + t) % 4 == 0 ? 1 : 0);
    }
    DeviceArray<double> position(queue, x), e(queue, energy), h(queue, hamiltonian),
        a(queue, acceptance);
    DeviceArray<std::int32_t> l(queue, leapfrogs), dep(queue, depth), div(queue, divergent);
    RunControl now;
    now.step = static_cast<std::uint64_t>(t);
    DeviceArray<RunControl> control = upload_control(queue, now);
    RecordDraws kernel;
    kernel.pools = {slot_of.view(), in.pools, in.chains};
    kernel.pool = in.pool;
    kernel.warmup = static_cast<std::uint64_t>(in.warmup);
    kernel.half = static_cast<std::uint64_t>(in.draws / 2);
    kernel.dimension = d;
    kernel.position = {position.data(), d, slots, slots};
    kernel.energy = e.view();
    kernel.statistics.hamiltonian = h.view();
    kernel.statistics.acceptance = a.view();
    kernel.statistics.leapfrogs = l.view();
    kernel.statistics.depth = dep.view();
    kernel.statistics.divergent = div.view();
    kernel.moments = {mean.view(), square.view()};
    kernel.trace = {in.kept,
                    capacity,
                    in.thin,
                    trace.view(),
                    trace_energy.view(),
                    trace_hamiltonian.view(),
                    trace_acceptance.view(),
                    trace_leapfrogs.view(),
                    trace_depth.view(),
                    trace_divergent.view()};
    kernel.hamiltonians = {last.view(), h_mean.view(), h_square.view(), h_steps.view()};
    kernel.gradients = gradients.view();
    kernel.warmup_gradients = warmup_gradients.view();
    kernel.divergences = divergences.view();
    kernel.control = control.data();
    queue.launch(kernel);
    queue.wait();
  }
  return {mean.download(),
          square.download(),
          trace.download(),
          trace_energy.download(),
          trace_hamiltonian.download(),
          trace_acceptance.download(),
          trace_leapfrogs.download(),
          trace_depth.download(),
          trace_divergent.download(),
          gradients.download(),
          warmup_gradients.download(),
          divergences.download(),
          last.download(),
          h_mean.download(),
          h_square.download(),
          h_steps.download()};
}

void expect_same(const Outputs& a, const Outputs& b) {
  EXPECT_EQ(bits_of(a.mean), bits_of(b.mean));
  EXPECT_EQ(bits_of(a.square), bits_of(b.square));
  EXPECT_EQ(a.position, b.position);
  EXPECT_EQ(a.energy, b.energy);
  EXPECT_EQ(a.hamiltonian, b.hamiltonian);
  EXPECT_EQ(a.acceptance, b.acceptance);
  EXPECT_EQ(a.leapfrogs, b.leapfrogs);
  EXPECT_EQ(a.depth, b.depth);
  EXPECT_EQ(a.divergent, b.divergent);
  EXPECT_EQ(a.gradients, b.gradients);
  EXPECT_EQ(a.warmup_gradients, b.warmup_gradients);
  EXPECT_EQ(a.divergences, b.divergences);
  EXPECT_EQ(a.last, b.last);
  EXPECT_EQ(bits_of(a.h_mean), bits_of(b.h_mean));
  EXPECT_EQ(bits_of(a.h_square), bits_of(b.h_square));
  EXPECT_EQ(bits_of(a.h_steps), bits_of(b.h_steps));
}

class RecordDrawsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(RecordDrawsKernel);

TEST_P(RecordDrawsKernel, HasTheBitsOfTheCpuForEverySize) {
  for (const std::int64_t chains : {0, 1, 31, 32, 33, 300}) {
    Inputs in;
    in.chains = chains;
    in.kept = std::min<std::int64_t>(chains, 5);
    expect_same(run(queue(), in, 11), run(cpu_queue(), in, 11));
  }
}

TEST_P(RecordDrawsKernel, KeepsTheDrawsAfterTheWarmupAndCountsAll) {
  Inputs in;
  in.thin = 3;
  in.draws = 10;
  const Outputs out = run(queue(), in, 20);  // more than there is room for
  for (std::int64_t k = 0; k < 4; ++k) {
    const std::int64_t t = in.warmup + 3 * k;
    for (std::int64_t c = 0; c < in.kept; ++c) {
      EXPECT_EQ(out.energy[idx(k * in.kept + c)], energy_at(t, c));
      EXPECT_EQ(out.leapfrogs[idx(k * in.kept + c)], leapfrogs_at(t, c));
      for (std::int64_t i = 0; i < in.dimension; ++i) {
        EXPECT_EQ(out.position[idx((k * in.dimension + i) * in.kept + c)], position_at(t, i, c));
      }
    }
  }
  std::uint64_t before = 0, after = 0;
  for (std::int64_t t = 0; t < 20; ++t) {
    (t < in.warmup ? before : after) += static_cast<std::uint64_t>(leapfrogs_at(t, 4));
  }
  EXPECT_EQ(out.warmup_gradients[4], before);
  EXPECT_EQ(out.gradients[4], after);
}

TEST_P(RecordDrawsKernel, HasTheMomentsOfBothHalves) {
  Inputs in;
  const Outputs out = run(queue(), in, in.warmup + in.draws);
  for (std::int64_t half = 0; half < 2; ++half) {
    for (std::int64_t i = 0; i < in.dimension; ++i) {
      for (std::int64_t c = 0; c < in.chains; ++c) {
        double mean = 0, square = 0;
        for (std::int64_t k = 0; k < 4; ++k) {
          mean += position_at(in.warmup + 4 * half + k, i, c) / 4;
        }
        for (std::int64_t k = 0; k < 4; ++k) {
          square += std::pow(position_at(in.warmup + 4 * half + k, i, c) - mean, 2);
        }
        const std::size_t at = idx((half * in.dimension + i) * in.chains + c);
        EXPECT_NEAR(out.mean[at], mean, 1e-14);
        EXPECT_NEAR(out.square[at], square, 1e-13);
      }
    }
  }
}

// Of all draws, however many of them are kept.
TEST_P(RecordDrawsKernel, FollowsTheHamiltonianFromDrawToDraw) {
  Inputs in;
  in.thin = 3;
  in.draws = 10;
  const Outputs out = run(queue(), in, in.warmup + in.draws);
  for (std::int64_t c = 0; c < in.kept; ++c) {
    double mean = 0, square = 0, steps = 0;
    for (std::int64_t t = in.warmup; t < in.warmup + in.draws; ++t) {
      mean += (energy_at(t, c) + 0.5) / 10;
    }
    for (std::int64_t t = in.warmup; t < in.warmup + in.draws; ++t) {
      square += std::pow(energy_at(t, c) + 0.5 - mean, 2);
      if (t > in.warmup) steps += std::pow(energy_at(t, c) - energy_at(t - 1, c), 2);
    }
    EXPECT_NEAR(out.h_mean[idx(c)], mean, 1e-12 * mean);
    EXPECT_NEAR(out.h_square[idx(c)], square, 1e-12 * square);
    EXPECT_EQ(out.h_steps[idx(c)], steps);
  }
}

TEST_P(RecordDrawsKernel, RecordsTheChainsOfItsPoolWhereverTheyAre) {
  Inputs in;
  in.pools = 2;
  in.pool = 1;
  in.slot_of.resize(idx(in.pools * in.chains));
  std::iota(in.slot_of.rbegin(), in.slot_of.rend(), 0);
  const Outputs out = run(queue(), in, in.warmup + 1);
  for (std::int64_t c = 0; c < in.kept; ++c) {
    EXPECT_EQ(out.energy[idx(c)], energy_at(in.warmup, in.slot_of[idx(2 * c + 1)]));
  }
  expect_same(out, run(cpu_queue(), in, in.warmup + 1));
}

}  // namespace
}  // namespace kiln::test::record_draws_test
