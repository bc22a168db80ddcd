// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "models/models_family.hpp"
#include "models/models_sweep.hpp"
#include "pairwise/pairwise_family_objective.hpp"

// Decisions are made in exact arithmetic; sums in the order of the row.
KILN_CONFORMANCE_CASE(PairwiseFamilySweep, exact)

namespace kiln::test::pairwise_family_sweep_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class PairwiseFamilySweepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PairwiseFamilySweepKernel);

struct FamilySweep {
  PairwiseFamily family;
  SweepInputs in;                 // its model is not read
  std::vector<double> parameter;  // [rungs], empty: that of the family
};

FamilySweep make_family_sweep(const PairwiseFamily& family, std::int64_t slots, SweepRule rule,
                              std::uint64_t seed) {
  FamilySweep sweep{family, make_sweep(problems::member_of(family, 1), slots, 2, seed), {}};
  const std::vector<double> lambdas = {0, 0.25, 1, -1.5, 3};
  for (std::size_t r = 0; r < sweep.in.beta.size(); ++r) {
    sweep.parameter.push_back(lambdas[r % lambdas.size()]);
  }
  sweep.in.rule = rule;
  sweep.in.sweeps = 2;
  sweep.in.control.step = 0xFFFFFFFFu;
  return sweep;
}

SweepOutputs run(Queue& queue, const FamilySweep& sweep) {
  const SweepInputs& in = sweep.in;
  const problems::BoundPairwiseFamilyModel model(problems::plan_pairwise_family(sweep.family),
                                                 queue);
  const auto packed = in.slots > 0 ? pack_spins(in.spins, in.slots) : std::vector<std::uint32_t>{};
  DeviceArray<std::uint32_t> state(queue, packed);
  DeviceArray<std::uint64_t> accepted(queue,
                                      std::vector<std::uint64_t>(idx(in.slots), accepted_before));
  const DeviceArray<double> beta(queue, in.beta), parameter(queue, sweep.parameter);
  const DeviceArray<std::int32_t> rung(queue, in.rung);
  const DeviceNames names(queue, in.names);
  const DeviceArray<RunControl> control = upload_control(queue, in.control);
  PairwiseFamilySweep kernel;
  kernel.model = model.view();
  kernel.rule = in.rule;
  kernel.state = {state.data(), sweep.family.base.n, in.slots / 32, in.slots / 32};
  if (in.count_accepted) kernel.accepted = accepted.view();
  kernel.beta = beta.view();
  if (!sweep.parameter.empty()) kernel.parameter = parameter.view();
  kernel.rung_of = rung.view();
  kernel.draw_ids = names.view();
  kernel.inverse_scale = in.inverse_scale;
  kernel.control = control.data();
  for (std::uint32_t s = 0; s < in.sweeps; ++s) {
    kernel.step_offset = s;
    queue.launch(kernel);
  }
  if (in.slots == 0) return {};
  return {unpack_spins(state.download(), in.slots), {}, accepted.download()};
}

double field_of(const Ising& model, const std::vector<std::int8_t>& s, std::int32_t v) {
  double field = model.fields[idx(v)];
  for (const Edge& e : model.couplings) {
    if (e.u == v) field += e.weight * s[idx(e.v)];
    if (e.v == v) field += e.weight * s[idx(e.u)];
  }
  return field;
}

// From the definition, one replica, one site, one word at a time. Integers only: the order of sums
// is not that of the kernel.
SweepOutputs plain(const FamilySweep& sweep) {
  const SweepInputs& in = sweep.in;
  const problems::PairwiseFamilyPlan plan = problems::plan_pairwise_family(sweep.family);
  SweepOutputs out{in.spins, {}, std::vector<std::uint64_t>(idx(in.slots), accepted_before)};
  for (std::int64_t slot = 0; slot < in.slots; ++slot) {
    const std::size_t rung = idx(in.rung[idx(slot)]);
    const double beta = in.beta[rung] * in.inverse_scale;
    const double lambda = sweep.parameter.empty() ? sweep.family.target : sweep.parameter[rung];
    std::vector<std::int8_t> s = spins_of(in.spins, in.slots, slot);
    for (std::uint32_t k = 0; k < in.sweeps; ++k) {
      for (std::size_t site = 0; site < plan.variable.size(); ++site) {
        const std::int32_t v = plan.variable[site];
        if (v < 0) continue;
        const double local =
            field_of(sweep.family.base, s, v) + lambda * field_of(sweep.family.term, s, v);
        const double delta = -2 * s[idx(v)] * local;
        const DrawName name{in.names.key[idx(slot)], in.control.step + k,
                            in.names.replica[idx(slot)], RngDomain::metropolis, 0};
        const std::uint32_t word = draw_word(name, static_cast<std::uint32_t>(site));
        const bool flips = in.rule == SweepRule::heat_bath
                               ? exact::accept_heat_bath(beta, delta, word)
                               : exact::accept(beta, delta, word);
        if (!flips) continue;
        s[idx(v)] = static_cast<std::int8_t>(-s[idx(v)]);
        ++out.accepted[idx(slot)];
      }
    }
    for (std::int32_t v = 0; v < sweep.family.base.n; ++v) {
      out.spins[idx(v * in.slots + slot)] = s[idx(v)];
    }
  }
  return out;
}

TEST_P(PairwiseFamilySweepKernel, IsTheDefinition) {
  for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
    for (const std::int32_t n : {1, 4, 33, 90}) {
      for (const std::int64_t slots : {32, 64, 160}) {
        const FamilySweep sweep =
            make_family_sweep(random_family(n, 1, idx(n)), slots, rule, idx(n + slots));
        const SweepOutputs out = run(queue(), sweep), expected = plain(sweep);
        ASSERT_EQ(out.spins, expected.spins) << n << " spins, " << slots << " slots";
        ASSERT_EQ(out.accepted, expected.accepted) << n << " spins, " << slots << " slots";
      }
    }
  }
}

TEST_P(PairwiseFamilySweepKernel, OfADenseModelIsTheDefinition) {
  const auto weights = one_of({-2, -1, 1, 3}, 8);
  const FamilySweep sweep =
      make_family_sweep(family_of(dense(24, weights, weights), ring(24, weights, weights)), 64,
                        SweepRule::metropolis, 5);
  const SweepOutputs out = run(queue(), sweep), expected = plain(sweep);
  EXPECT_EQ(out.spins, expected.spins);
  EXPECT_EQ(out.accepted, expected.accepted);
}

TEST_P(PairwiseFamilySweepKernel, OfRealsHasTheBitsOfTheCpu) {
  for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
    FamilySweep sweep = make_family_sweep(random_family(300, 0.37, 9), 96, rule, 9);
    sweep.in.sweeps = 6;
    sweep.in.inverse_scale = 0.7;
    const SweepOutputs out = run(queue(), sweep), cpu = run(cpu_queue(), sweep);
    EXPECT_EQ(out.spins, cpu.spins);
    EXPECT_EQ(out.accepted, cpu.accepted);
    EXPECT_NE(out.spins, sweep.in.spins);
  }
}

// With lambda = 0 the family is its first model, and a sweep of that has the same bits where the
// sites have the same order.
TEST_P(PairwiseFamilySweepKernel, IsASweepOfTheFirstModelAtLambdaZero) {
  const Ising model = ring(40, one_of({-1, 2}, 3), constant(1));
  Ising nothing;
  nothing.n = 40;
  FamilySweep sweep = make_family_sweep(family_of(model, nothing), 64, SweepRule::metropolis, 4);
  sweep.in.model = model;
  const SweepOutputs out = run(queue(), sweep), expected = run_sweeps(queue(), sweep.in);
  EXPECT_EQ(out.spins, expected.spins);
  EXPECT_EQ(out.accepted, expected.accepted);
}

TEST_P(PairwiseFamilySweepKernel, TakesTheLambdaOfTheProblemWhereNoneIsGiven) {
  FamilySweep sweep =
      make_family_sweep(random_family(50, 1, 3, 0.25), 32, SweepRule::metropolis, 4);
  sweep.parameter.assign(sweep.parameter.size(), 0.25);
  const SweepOutputs given = run(queue(), sweep);
  sweep.parameter.clear();
  EXPECT_EQ(run(queue(), sweep).spins, given.spins);
  sweep.in.count_accepted = false;
  const SweepOutputs uncounted = run(queue(), sweep);
  EXPECT_EQ(uncounted.spins, given.spins);
  EXPECT_EQ(uncounted.accepted, std::vector<std::uint64_t>(32, accepted_before));
}

TEST_P(PairwiseFamilySweepKernel, DescendsAtInfiniteBeta) {
  FamilySweep sweep = make_family_sweep(random_family(60, 1, 3), 32, SweepRule::metropolis, 4);
  sweep.in.beta.assign(sweep.in.beta.size(), infinity);
  sweep.parameter.assign(sweep.parameter.size(), 1.0);
  const SweepOutputs out = run(queue(), sweep);
  const Ising member = problems::member_of(sweep.family, 1);
  for (std::int64_t slot = 0; slot < 32; ++slot) {
    EXPECT_LT(direct_energy(member, spins_of(out.spins, 32, slot)),
              direct_energy(member, spins_of(sweep.in.spins, 32, slot)));
  }
}

TEST_P(PairwiseFamilySweepKernel, DoesNothingOnceStoppedAndTakesAnEmptyBatch) {
  FamilySweep sweep = make_family_sweep(random_family(20, 1, 3), 32, SweepRule::metropolis, 4);
  sweep.in.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), sweep).spins, sweep.in.spins);
  sweep.in.control = {};
  EXPECT_NE(run(queue(), sweep).spins, sweep.in.spins);
  const FamilySweep none = make_family_sweep(random_family(20, 1, 3), 0, SweepRule::metropolis, 4);
  EXPECT_TRUE(run(queue(), none).spins.empty());
}

}  // namespace
}  // namespace kiln::test::pairwise_family_sweep_test
