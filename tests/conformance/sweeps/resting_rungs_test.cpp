// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// SweepArgs::only in every sweep that there is: slots of rungs that rest stay as they are, the
// others do what they would do if nobody rested.
#include <gtest/gtest.h>

#include "kiln/problems/pairwise_family.hpp"
#include "kiln/problems/potts.hpp"

#include "backends/backends.hpp"
#include "models/models_family.hpp"
#include "models/models_potts.hpp"
#include "models/small_models.hpp"

namespace kiln::test::resting_rungs_test {
namespace {

class RestingRungs : public DeviceTest {};
KILN_ON_EVERY_BACKEND(RestingRungs);

constexpr std::int64_t replicas = 70, rungs = 5;

struct Swept {
  std::vector<State> states;
  std::vector<double> energy;
  std::vector<std::uint64_t> accepted;
};

// Random states after `sweeps` sweeps; the last one only of the rungs whose flag is set.
Swept swept(Queue& queue, const Problem& problem, SweepRule rule, std::uint32_t sweeps,
            const std::vector<std::uint32_t>& active_rungs) {
  const Objective& objective = *problem.objective;
  ReplicaBatch batch(queue, objective.space(), objective.execution().layouts, {replicas, 1, 7});
  const auto bound = objective.bind(queue);
  bound->prepare(batch, queue);
  const DeviceArray<RunControl> control = upload_control(queue, {});
  const Block& block = objective.space().blocks().front();
  TestRandom random(3);
  std::vector<State> begin;
  for (std::int64_t r = 0; r < replicas; ++r) {
    std::vector<std::int8_t> spins;
    std::vector<std::int32_t> values;
    for (std::int64_t v = 0; v < block.count; ++v) {
      spins.push_back(random.unit() < 0.5 ? std::int8_t{-1} : std::int8_t{1});
      values.push_back(static_cast<std::int32_t>(random.between(0, 2)));
    }
    begin.push_back(block.kind == BlockKind::spin ? State{spins} : State{values});
  }
  batch.write_states(begin);
  std::vector<std::int32_t> rung_of;
  for (std::int64_t slot = 0; slot < batch.slots(); ++slot) {
    rung_of.push_back(static_cast<std::int32_t>(slot * 7 % rungs));
  }
  queue.upload(batch.rung_of().data, rung_of.data(), rung_of.size() * sizeof(std::int32_t));
  const DeviceArray<double> beta(queue, std::vector<double>{0, 0.1, 0.4, 0.9, 2});
  const DeviceArray<std::uint32_t> flags(queue, active_rungs);
  bound->as<Evaluates>()->evaluate({batch, batch.energy(), {}, control.data()}, queue);
  for (std::uint32_t s = 0; s < sweeps; ++s) {
    SweepArgs args{batch, beta.view(), control.data(), s};
    args.rule = rule;
    if (s + 1 == sweeps) args.active_rungs = flags.view();
    bound->as<Sweeps>()->metropolis_sweep(args, queue);
  }
  std::vector<std::int64_t> slots;
  for (std::int64_t r = 0; r < replicas; ++r) slots.push_back(r);
  return {batch.read_states(slots, false), batch.read_energies(false), batch.read_accepted()};
}

TEST_P(RestingRungs, StayAsTheyAreAndDisturbNobody) {
  const Problem problems[] = {
      make_ising(random_ising(120, 1, 3), "sparse"),
      make_ising(random_ising(50, 8, 3, 0.37), "reals"),
      make_ising(lattice({20, 16}, one_of({-0.83, 0.31, 1.2718281828}, 4), constant(0)), "lattice"),
      make_maxcut(random_graph(64, 12, 1), "dense"),
      make_potts(potts_of(random_ising(60, 2, 3), 3, constant(1)), "potts"),
      make_potts(potts_of(random_ising(60, 2, 3, 0.37), 3, constant(0)), "real potts"),
      make_pairwise_family(family_of(lattice({20, 16}, constant(1), constant(0)),
                                     lattice({20, 16}, constant(0.3), constant(-1))),
                           "lattice family"),
      make_pairwise_family(random_family(60, 0.37, 4, 0.6), "family")};
  const std::vector<std::uint32_t> active_rungs = {1, 0, 0, 1, 0};
  for (const Problem& problem : problems) {
    for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
      SCOPED_TRACE(problem.identity.name + (rule == SweepRule::metropolis ? "" : " heat bath"));
      const Swept before = swept(queue(), problem, rule, 2, {});
      const Swept all = swept(queue(), problem, rule, 3, {});
      const Swept some = swept(queue(), problem, rule, 3, active_rungs);
      std::size_t changed = 0;
      for (std::size_t r = 0; r < idx(replicas); ++r) {
        const Swept& expected = active_rungs[r * 7 % idx(rungs)] != 0 ? all : before;
        EXPECT_TRUE(some.states[r] == expected.states[r]) << r;
        EXPECT_EQ(bits_of({some.energy[r]}), bits_of({expected.energy[r]})) << r;
        EXPECT_EQ(some.accepted[r], expected.accepted[r]) << r;
        changed += some.states[r] == before.states[r] ? 0 : 1;
      }
      EXPECT_GT(changed, 10u);
      // A rung that rested goes on as if nothing had been.
      const Swept none = swept(queue(), problem, rule, 3, std::vector<std::uint32_t>(rungs, 0));
      EXPECT_TRUE(none.states == before.states);
    }
  }
}

}  // namespace
}  // namespace kiln::test::resting_rungs_test
