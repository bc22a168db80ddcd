// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/recombination/cluster_crossover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "models/models.hpp"
#include "models/models_sweep.hpp"

// No draws, and sums of integers; a connected component does not depend on the order in which it is
// found.
KILN_CONFORMANCE_CASE(ClusterCrossover, exact)

namespace kiln::test::cluster_crossover_test {
namespace {

using Spins = std::vector<std::int8_t>;

struct Inputs {
  Ising model;
  std::int64_t groups = 1, group_size = 2, slots = 32, distance = 1;
  Spins spins, best;  // [variable][slot]; no best: pairs of slots
  std::vector<std::uint32_t> active;
  std::vector<Cooling> cooling;
  bool symmetric = false;
  RunControl control;
};

Spins random_spins(std::int64_t n, TestRandom& random) {
  Spins spins;
  for (std::int64_t i = 0; i < n; ++i) spins.push_back(random.between(0, 1) == 0 ? -1 : 1);
  return spins;
}

Inputs make_inputs(Ising model, std::int64_t groups, std::int64_t group_size, std::uint64_t seed,
                   bool with_best = false) {
  TestRandom random(seed);
  Inputs in;
  in.groups = groups;
  in.group_size = group_size;
  in.slots = (groups * group_size + 31) / 32 * 32;
  in.spins = random_spins(model.n * in.slots, random);
  if (with_best) in.best = random_spins(model.n * in.slots, random);
  in.symmetric = std::ranges::all_of(model.fields, [](double h) { return h == 0; });
  in.model = std::move(model);
  return in;
}

struct Outputs {
  Spins spins, best;
  std::vector<double> energy;
  friend bool operator==(const Outputs&, const Outputs&) = default;
};

std::vector<double> energies_of(const Inputs& in, const Spins& spins) {
  std::vector<double> energies;
  for (std::int64_t slot = 0; slot < in.slots; ++slot) {
    energies.push_back(direct_energy(in.model, spins_of(spins, in.slots, slot)));
  }
  return energies;
}

Outputs run(Queue& queue, const Inputs& in) {
  const DeviceModel model(queue, problems::plan_pairwise(in.model));
  const std::int64_t words = in.slots / 32;
  DeviceArray<std::uint32_t> state(queue, pack_spins(in.spins, in.slots));
  DeviceArray<std::uint32_t> best(queue, pack_spins(in.best, in.slots));
  DeviceArray<double> energy(queue, energies_of(in, in.spins));
  const DeviceArray<std::uint32_t> active(queue, in.active);
  const DeviceArray<Cooling> cooling(queue, in.cooling);
  const DeviceArray<RunControl> control = upload_control(queue, in.control);
  ClusterCrossover kernel;
  kernel.model = model.view();
  const std::int64_t columns = 2 * std::int64_t{kernel.model.n_sites};
  DeviceArray<std::int32_t> room(queue, ClusterCrossover::teams * columns);
  kernel.state = {state.data(), in.model.n, words, words};
  if (!in.best.empty()) kernel.best = {best.data(), in.model.n, words, words};
  kernel.energy = energy.view();
  kernel.active_groups = active.view();
  kernel.cooling = cooling.view();
  kernel.groups = in.groups;
  kernel.group_size = in.group_size;
  kernel.distance = in.distance;
  kernel.room = {room.data(), ClusterCrossover::teams, columns, columns};
  kernel.symmetric = in.symmetric;
  kernel.control = control.data();
  queue.launch(kernel);
  return {unpack_spins(state.download(), in.slots), unpack_spins(best.download(), in.slots),
          energy.download()};
}

// The components of the variables at which two states differ, or of the others if those are fewer
// and the model has no fields.
std::vector<std::vector<std::int32_t>> clusters_of(const Inputs& in, const Spins& s,
                                                   const Spins& t) {
  std::vector<std::int32_t> label(idx(in.model.n), -1);
  std::int32_t differing = 0;
  for (std::int32_t v = 0; v < in.model.n; ++v) differing += s[idx(v)] != t[idx(v)] ? 1 : 0;
  const bool agreeing = in.symmetric && 2 * differing > in.model.n;
  for (std::int32_t v = 0; v < in.model.n; ++v) {
    if ((s[idx(v)] != t[idx(v)]) != agreeing) label[idx(v)] = v;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Edge& e : in.model.couplings) {
      std::int32_t &a = label[idx(e.u)], &b = label[idx(e.v)];
      if (a < 0 || b < 0 || a == b) continue;
      a = b = std::min(a, b);
      changed = true;
    }
  }
  std::vector<std::vector<std::int32_t>> clusters;
  for (std::int32_t first = 0; first < in.model.n; ++first) {
    std::vector<std::int32_t> members;
    for (std::int32_t v = first; v < in.model.n; ++v) {
      if (label[idx(v)] == first) members.push_back(v);
    }
    if (!members.empty()) clusters.push_back(members);
  }
  return clusters;
}

Spins flipped(Spins s, const std::vector<std::int32_t>& variables) {
  for (const std::int32_t v : variables) s[idx(v)] = static_cast<std::int8_t>(-s[idx(v)]);
  return s;
}

// The least energy of all states that take each cluster from s or from t.
double best_by_enumeration(const Inputs& in, const Spins& s,
                           const std::vector<std::vector<std::int32_t>>& clusters) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t choice = 0; choice < (std::size_t{1} << clusters.size()); ++choice) {
    Spins mixed = s;
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      if ((choice >> c & 1) != 0) mixed = flipped(mixed, clusters[c]);
    }
    least = std::min(least, direct_energy(in.model, mixed));
  }
  return least;
}

Ising torus_like(std::int32_t n, bool fields, std::uint64_t seed) {
  return sparse(n, 3, one_of({-3, -1, 1}, seed),
                fields ? one_of({-2, 0, 1}, seed + 1) : constant(0), seed + 2);
}

class ClusterCrossoverKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ClusterCrossoverKernel);

TEST_P(ClusterCrossoverKernel, GivesBothTheBestOfAllChoicesOfClusters) {
  int better_than_both = 0, of_many = 0;
  for (const bool fields : {false, true}) {
    for (const std::int32_t n : {4, 17, 30}) {
      const Inputs in = make_inputs(torus_like(n, fields, idx(n)), 1, 40, 4);
      const Outputs out = run(queue(), in);
      EXPECT_EQ(out.energy, energies_of(in, out.spins));
      for (std::int64_t slot = 0; slot < in.group_size; slot += 2) {
        const Spins s = spins_of(in.spins, in.slots, slot),
                    t = spins_of(in.spins, in.slots, slot + 1);
        const auto clusters = clusters_of(in, s, t);
        ASSERT_LE(clusters.size(), 12u);
        const double least = best_by_enumeration(in, s, clusters);
        EXPECT_EQ(out.energy[idx(slot)], least);
        EXPECT_EQ(out.energy[idx(slot + 1)], least);
        better_than_both +=
            least < direct_energy(in.model, s) && least < direct_energy(in.model, t);
        of_many += clusters.size() > 2;
        Spins s2 = s, t2 = t;
        for (const auto& cluster : clusters) {
          const double change =
              direct_energy(in.model, flipped(s, cluster)) - direct_energy(in.model, s);
          if (change < 0) s2 = flipped(s2, cluster);
          if (change > 0) t2 = flipped(t2, cluster);
        }
        EXPECT_EQ(spins_of(out.spins, in.slots, slot), s2);
        EXPECT_EQ(spins_of(out.spins, in.slots, slot + 1), t2);
      }
    }
  }
  EXPECT_GT(better_than_both, 20);
  EXPECT_GT(of_many, 20);
}

TEST_P(ClusterCrossoverKernel, TakesFromTheBestStateAndLeavesItAlone) {
  for (const bool fields : {false, true}) {
    const Inputs in = make_inputs(torus_like(25, fields, 3), 1, 33, 5, true);
    const Outputs out = run(queue(), in);
    EXPECT_EQ(out.best, in.best);
    EXPECT_EQ(out.energy, energies_of(in, out.spins));
    for (std::int64_t slot = 0; slot < 33; ++slot) {
      const Spins s = spins_of(in.spins, in.slots, slot), t = spins_of(in.best, in.slots, slot);
      EXPECT_EQ(out.energy[idx(slot)], best_by_enumeration(in, s, clusters_of(in, s, t)));
      EXPECT_LE(out.energy[idx(slot)], direct_energy(in.model, t));
    }
    for (std::int64_t slot = 33; slot < in.slots; ++slot) {
      EXPECT_EQ(spins_of(out.spins, in.slots, slot), spins_of(in.spins, in.slots, slot));
    }
  }
}

// Two spins of a pair would lower the energy of s, but they are one cluster that raises it.
TEST_P(ClusterCrossoverKernel, NeverSplitsACluster) {
  Inputs in = make_inputs(ring(4, constant(-1), constant(0)), 1, 2, 6);
  in.symmetric = false;
  in.spins.assign(in.spins.size(), 1);
  for (const std::int64_t v : {1, 2}) in.spins[idx(v * in.slots + 1)] = -1;
  const Outputs out = run(queue(), in);
  EXPECT_EQ(out.energy[0], -4);
  EXPECT_EQ(out.energy[1], -4);
  EXPECT_EQ(spins_of(out.spins, in.slots, 1), Spins(4, 1));
}

TEST_P(ClusterCrossoverKernel, PairsReplicasOfAGroupAtADistance) {
  Inputs in = make_inputs(isolated_spins({1}), 3, 5, 7);
  in.active = {1, 0, 1};
  // Spin -1 is the better one: a slot has it afterwards if it or its partner had it.
  for (const std::int64_t distance : {1, 2, 4}) {
    in.distance = distance;
    for (std::int64_t one = 0; one < 15; ++one) {
      in.spins.assign(in.spins.size(), 1);
      in.spins[idx(one)] = -1;
      Spins expected = in.spins;
      const std::int64_t place = one % 5, other = place ^ distance;
      if (one / 5 != 1 && other < 5) expected[idx(one - place + other)] = -1;
      EXPECT_EQ(run(queue(), in).spins, expected) << distance << ", slot " << one;
    }
  }
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), in).spins, in.spins);
}

TEST_P(ClusterCrossoverKernel, DoublesTheDistanceFromRoundToRound) {
  Inputs in = make_inputs(isolated_spins({1}), 1, 6, 8);
  in.cooling.resize(1);
  in.spins.assign(in.spins.size(), 1);
  in.spins[0] = -1;
  for (const std::int64_t round : {0, 1, 2, 3, 4, 5}) {
    in.cooling[0].round = round;
    Spins expected = in.spins;
    expected[std::size_t{1} << (round % 3)] = -1;
    EXPECT_EQ(run(queue(), in).spins, expected) << round;
  }
}

TEST_P(ClusterCrossoverKernel, MatchesCpu) {
  for (const std::int32_t n : {1, 2, 31, 32, 33, 129, 1000, 12288, 12300, 20000}) {
    for (const bool fields : {false, true}) {
      for (const bool best : {false, true}) {
        const Inputs in =
            make_inputs(torus_like(n, fields, idx(n)), 2, n > 1000 ? 4 : 301, idx(n), best);
        EXPECT_TRUE(run(queue(), in) == run(cpu_queue(), in)) << n << " variables";
      }
    }
  }
  // Hubs, and clusters of nearly all sites.
  const Inputs in = make_inputs(star(700, 9, one_of({-1, 1}, 9)), 1, 64, 9);
  EXPECT_TRUE(run(queue(), in) == run(cpu_queue(), in));
  const Inputs dense_model =
      make_inputs(sparse(900, 30, one_of({-2, 5}, 9), constant(1), 9), 1, 64, 9);
  EXPECT_TRUE(run(queue(), dense_model) == run(cpu_queue(), dense_model));
}

}  // namespace
}  // namespace kiln::test::cluster_crossover_test
