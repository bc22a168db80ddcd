// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/cluster_move.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "models/models.hpp"
#include "models/models_sweep.hpp"

// Named draws; a connected component does not depend on the order in which it is found.
KILN_CONFORMANCE_CASE(ClusterMove, exact)

namespace kiln::test::cluster_move_test {
namespace {

struct Inputs {
  Ising model;
  std::int64_t rungs = 1, ladders = 2, slots = 32;
  std::vector<std::int8_t> spins;  // [variable][slot]
  std::vector<std::int32_t> slot_of;
  std::vector<std::uint32_t> open;
  std::vector<std::uint64_t> moves, sizes;
  HostNames names;
  RunControl control;
  std::uint64_t burn_in = 0;
  std::uint32_t interval = 1, sweeps_per_tick = 1;
  bool symmetric = false;
  bool in_blocks = false;  // of 32 ladders: slot_of is then for the tests alone

  std::size_t rung_numbers() const { return in_blocks ? slot_of.size() / 32 : slot_of.size(); }
};

// Replicas of a ladder stand at its rungs in reverse order.
Inputs make_inputs(Ising model, std::int64_t rungs, std::int64_t ladders, std::uint64_t seed) {
  TestRandom random(seed);
  Inputs in;
  in.rungs = rungs;
  in.ladders = ladders;
  in.slots = (rungs * ladders + 31) / 32 * 32;
  for (std::int64_t i = 0; i < model.n * in.slots; ++i) {
    in.spins.push_back(random.between(0, 1) == 0 ? std::int8_t{-1} : std::int8_t{1});
  }
  for (std::int64_t i = 0; i < rungs * ladders; ++i) {
    in.slot_of.push_back(static_cast<std::int32_t>(i - i % rungs + rungs - 1 - i % rungs));
  }
  in.open.assign(idx(rungs), 1);
  in.moves.assign(idx(rungs), 0);
  in.sizes.assign(idx(rungs), 0);
  in.control.step = 1;  // no tick before the first one
  in.names = make_names(in.slots, 1, seed);
  for (std::size_t s = 0; s < idx(rungs * ladders); ++s) in.names.key[s] += s / idx(rungs);
  in.model = std::move(model);
  return in;
}

// Blocks of 32 ladders: a word has one rung.
Inputs make_blocks(Ising model, std::int64_t rungs, std::int64_t blocks, std::uint64_t seed) {
  Inputs in = make_inputs(std::move(model), rungs, 32 * blocks, seed);
  in.in_blocks = true;
  for (std::int64_t i = 0; i < rungs * in.ladders; ++i) {
    const std::int64_t ladder = i / rungs, rung = i % rungs;
    in.slot_of[idx(i)] = static_cast<std::int32_t>((ladder / 32 * rungs + rung) * 32 + ladder % 32);
  }
  for (std::size_t s = 0; s < in.names.key.size(); ++s) {
    in.names.key[s] = seed + s / idx(32 * rungs);
  }
  return in;
}

struct Outputs {
  std::vector<std::int8_t> spins;
  std::vector<std::uint32_t> moved, open;
  std::vector<std::uint64_t> moves, sizes;
  friend bool operator==(const Outputs&, const Outputs&) = default;
};

Outputs run(Queue& queue, const Inputs& in) {
  const DeviceModel model(queue, problems::plan_pairwise(in.model));
  DeviceArray<std::uint32_t> state(queue, pack_spins(in.spins, in.slots));
  const DeviceArray<std::int32_t> slot_of(queue, in.slot_of);
  DeviceArray<std::uint32_t> moved(queue, std::vector<std::uint32_t>(in.rung_numbers(), 7u));
  DeviceArray<std::uint32_t> open(queue, in.open);
  DeviceArray<std::uint64_t> moves(queue, in.moves), sizes(queue, in.sizes);
  const DeviceNames names(queue, in.names);
  const DeviceArray<RunControl> control = upload_control(queue, in.control);
  queue.launch(ClusterMove{model.view(),
                           {state.data(), in.model.n, in.slots / 32, in.slots / 32},
                           slot_of.view(),
                           moved.view(),
                           open.view(),
                           moves.view(),
                           sizes.view(),
                           names.view(),
                           control.data(),
                           in.burn_in,
                           in.sweeps_per_tick,
                           in.interval,
                           in.symmetric,
                           in.in_blocks});
  return {unpack_spins(state.download(), in.slots), moved.download(), open.download(),
          moves.download(), sizes.download()};
}

std::vector<std::int8_t> replica(const Inputs& in, const std::vector<std::int8_t>& spins,
                                 std::int64_t ladder, std::int64_t rung) {
  return spins_of(spins, in.slots, in.slot_of[idx(ladder * in.rungs + rung)]);
}

std::vector<std::int32_t> flipped(const std::vector<std::int8_t>& before,
                                  const std::vector<std::int8_t>& after) {
  std::vector<std::int32_t> variables;
  for (std::size_t v = 0; v < before.size(); ++v) {
    if (before[v] != after[v]) variables.push_back(static_cast<std::int32_t>(v));
  }
  return variables;
}

// The component of a variable among those for which the product of the two replicas is the same.
std::vector<std::int32_t> component(const Ising& model, const std::vector<std::int8_t>& s,
                                    const std::vector<std::int8_t>& t, std::int32_t first) {
  const auto overlap = [&](std::int32_t v) { return s[idx(v)] * t[idx(v)]; };
  std::set<std::int32_t> found = {first};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Edge& e : model.couplings) {
      if (overlap(e.u) != overlap(first) || overlap(e.v) != overlap(first)) continue;
      if (found.contains(e.u) != found.contains(e.v)) {
        found.insert(e.u);
        found.insert(e.v);
        grew = true;
      }
    }
  }
  return {found.begin(), found.end()};
}

Ising torus_like(std::int32_t n, bool fields, std::uint64_t seed) {
  return sparse(n, 3, one_of({-1, 1}, seed), fields ? one_of({-2, 0, 1}, seed + 1) : constant(0),
                seed + 2);
}

class ClusterMoveKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ClusterMoveKernel);

TEST_P(ClusterMoveKernel, FlipsOneComponentInBothAndKeepsTheSumOfEnergies) {
  for (const bool fields : {false, true}) {
    for (const std::int32_t n : {5, 33, 120}) {
      Inputs in = make_inputs(torus_like(n, fields, idx(n)), 3, 21, 4);
      in.symmetric = !fields;
      const Outputs out = run(queue(), in);
      int unequal = 0;
      for (std::int64_t pair = 0; pair < 10; ++pair) {
        for (std::int64_t rung = 0; rung < 3; ++rung) {
          const auto s = replica(in, in.spins, 2 * pair, rung);
          const auto t = replica(in, in.spins, 2 * pair + 1, rung);
          const auto s2 = replica(in, out.spins, 2 * pair, rung);
          const auto t2 = replica(in, out.spins, 2 * pair + 1, rung);
          const std::vector<std::int32_t> cluster = flipped(s, s2);
          EXPECT_EQ(flipped(t, t2), cluster);
          const bool moved = out.moved[idx(2 * pair * 3 + rung)] != 0;
          EXPECT_EQ(moved, out.moved[idx((2 * pair + 1) * 3 + rung)] != 0);
          EXPECT_EQ(moved, !cluster.empty());
          if (cluster.empty()) continue;
          EXPECT_EQ(cluster, component(in.model, s, t, cluster.front()));
          if (fields) {
            EXPECT_NE(s[idx(cluster.front())], t[idx(cluster.front())]);
          }
          const double before = direct_energy(in.model, s), after = direct_energy(in.model, s2);
          EXPECT_EQ(before + direct_energy(in.model, t), after + direct_energy(in.model, t2));
          unequal += before != after ? 1 : 0;
        }
      }
      EXPECT_GT(unequal, 0);
      for (std::int64_t rung = 0; rung < 3; ++rung) {
        EXPECT_EQ(flipped(replica(in, in.spins, 20, rung), replica(in, out.spins, 20, rung)).size(),
                  0u)
            << "a ladder without partner";
        EXPECT_EQ(out.moved[idx(60 + rung)], 0u);
      }
    }
  }
}

// The site that a pair of a block draws is named by the key of the block and its first ladder.
TEST_P(ClusterMoveKernel, FlipsTheComponentOfItsDrawInBlocks) {
  for (const bool fields : {false, true}) {
    for (const std::int32_t n : {5, 33, 120, 700}) {
      Inputs in = make_blocks(torus_like(n, fields, idx(n)), 3, 3, 40);
      in.symmetric = !fields;
      in.open[1] = 0;
      in.control.step = 77;
      const Outputs out = run(queue(), in);
      const auto plan = problems::plan_pairwise(in.model);
      std::vector<std::uint64_t> moves(3, 0), sizes(3, 0);
      std::vector<std::uint32_t> moved(9, 0);
      for (std::int64_t ladder = 0; ladder < 96; ladder += 2) {
        for (std::int64_t rung = 0; rung < 3; ++rung) {
          const auto s = replica(in, in.spins, ladder, rung);
          const auto t = replica(in, in.spins, ladder + 1, rung);
          std::vector<std::int32_t> differing, agreeing;  // in the order of sites
          for (const std::int32_t v : plan.variable) {
            if (v >= 0) (s[idx(v)] != t[idx(v)] ? differing : agreeing).push_back(v);
          }
          const bool other = !fields && 2 * differing.size() > idx(n);
          const std::vector<std::int32_t>& all = other ? agreeing : differing;
          std::vector<std::int32_t> expected;
          if (rung != 1 && !all.empty()) {
            const DrawName name{40 + static_cast<std::uint64_t>(ladder / 32), 77,
                                static_cast<std::uint32_t>(ladder % 32), RngDomain::swap, 4};
            const std::uint32_t which = below(draw_word(name, static_cast<std::uint32_t>(rung)),
                                              static_cast<std::uint32_t>(all.size()));
            expected = component(in.model, s, t, all[which]);
            ++moves[idx(rung)];
            sizes[idx(rung)] += expected.size();
            if (expected.size() == idx(n)) expected.clear();
            if (!expected.empty()) moved[idx(ladder / 32 * 3 + rung)] = 1;
          }
          for (const std::int64_t l : {ladder, ladder + 1}) {
            ASSERT_EQ(flipped(replica(in, in.spins, l, rung), replica(in, out.spins, l, rung)),
                      expected)
                << n << " variables, ladder " << l << ", rung " << rung;
          }
        }
      }
      EXPECT_EQ(out.moves, moves);
      EXPECT_EQ(out.sizes, sizes);
      EXPECT_EQ(out.moved, moved);
    }
  }
}

// A pair that differs in two isolated variables: each is drawn about half the time.
TEST_P(ClusterMoveKernel, DrawsItsSeedFairly) {
  Inputs in = make_inputs(isolated_spins({0, 0, 0, 0, 0}), 1, 4096, 5);
  for (std::int64_t slot = 0; slot < in.slots; ++slot) {
    for (std::int64_t v = 0; v < 5; ++v) {
      in.spins[idx(v * in.slots + slot)] = slot % 2 == 0 && (v == 1 || v == 3) ? -1 : 1;
    }
  }
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.sizes[0], 2048u);
  int first = 0;
  for (std::int64_t pair = 0; pair < 2048; ++pair) {
    first += out.spins[idx(in.slots + 2 * pair)] == 1 ? 1 : 0;
  }
  EXPECT_NEAR(first, 1024, 4.5 * std::sqrt(512));
}

TEST_P(ClusterMoveKernel, LeavesEqualReplicasAndWholeModelsAlone) {
  Inputs in = make_inputs(ring(6, constant(-1), constant(0)), 1, 2, 6);
  in.spins.assign(in.spins.size(), 1);
  EXPECT_EQ(run(queue(), in).moves[0], 0u);
  for (std::int64_t v = 0; v < 6; ++v) in.spins[idx(v * in.slots)] = -1;
  const Outputs whole = run(queue(), in);
  EXPECT_EQ(whole.spins, in.spins);
  EXPECT_EQ(whole.sizes[0], 6u);
  EXPECT_EQ(whole.moved, (std::vector<std::uint32_t>{0, 0}));
  in.symmetric = true;  // all differ, so the set that agrees is taken: it is empty
  EXPECT_EQ(run(queue(), in).moves[0], 0u);
}

TEST_P(ClusterMoveKernel, ClosesRungsWhereClustersPercolate) {
  Inputs in = make_inputs(torus_like(40, false, 7), 4, 6, 7);
  in.burn_in = 2;
  in.moves = {100, 100, 31, 100};
  in.sizes = {1501, 1500, 1240, 1501};
  in.open[3] = 0;
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.open, (std::vector<std::uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(out.moves[0], 100u) << "a closed rung does not move";
  EXPECT_EQ(out.moves[1], 103u);
  in.control.step = 2;  // after the burn-in nothing is decided any more
  EXPECT_EQ(run(queue(), in).open, (std::vector<std::uint32_t>{1, 1, 1, 0}));
}

TEST_P(ClusterMoveKernel, MovesAfterEveryTickOfItsInterval) {
  Inputs in = make_inputs(torus_like(40, false, 8), 2, 4, 8);
  in.interval = 3;
  for (const std::uint64_t step : {0, 1, 2, 3, 4, 5, 6}) {
    in.control.step = step;
    const Outputs out = run(queue(), in);
    const bool due = step == 3 || step == 6;
    EXPECT_EQ(out.moves[0] > 0, due) << step;
    if (!due) {
      EXPECT_EQ(out.moved, std::vector<std::uint32_t>(8, 0u));
    }
  }
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), in).spins, in.spins);
}

// A tick of four sweeps from step 8 on, of which three were made: the move was made before them.
TEST_P(ClusterMoveKernel, MovesOnceInATickOfTwoParts) {
  Inputs in = make_inputs(torus_like(40, false, 8), 2, 4, 8);
  in.sweeps_per_tick = 4;
  in.interval = 2;
  in.control.step = 8;
  for (const std::uint64_t left : {0, 4}) {
    in.control.tick_sweeps = left;
    EXPECT_GT(run(queue(), in).moves[0], 0u) << left;
  }
  in.control.step_limit = 9;  // makes the first of its sweeps
  EXPECT_GT(run(queue(), in).moves[0], 0u);
  in.control.step_limit = 12;
  for (const std::uint64_t left : {1, 2, 3}) {
    in.control.step = 12 - left;
    in.control.tick_sweeps = left;
    EXPECT_EQ(run(queue(), in).moves[0], 0u) << left;
  }
}

TEST_P(ClusterMoveKernel, MatchesCpu) {
  for (const std::int32_t n : {1, 2, 31, 32, 33, 129, 1000, 5000}) {
    for (const bool fields : {false, true}) {
      for (const std::int64_t ladders : {1, 2, 9}) {
        Inputs in = make_inputs(torus_like(n, fields, idx(n)), 5, ladders, idx(n));
        in.symmetric = !fields;
        in.control.step = 0xFFFFFFFFu;
        const Outputs here = run(queue(), in), there = run(cpu_queue(), in);
        EXPECT_TRUE(here == there) << n << " variables, " << ladders << " ladders";
      }
      for (const std::int64_t blocks : {1, 3}) {  // five words each
        Inputs in = make_blocks(torus_like(n, fields, idx(n)), 5, blocks, idx(n));
        in.symmetric = !fields;
        const Outputs here = run(queue(), in), there = run(cpu_queue(), in);
        EXPECT_TRUE(here == there) << n << " variables, " << blocks << " blocks";
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::cluster_move_test
