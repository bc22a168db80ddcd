// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "kiln/backend.hpp"

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
  SweepInputs in;                           // its model is not read
  std::vector<double> parameter;            // [rungs], empty: that of the family
  std::vector<std::uint32_t> active_rungs;  // [rungs], empty: all
};

FamilySweep make_family_sweep(const PairwiseFamily& family, std::int64_t slots, SweepRule rule,
                              std::uint64_t seed) {
  FamilySweep sweep{family, make_sweep(problems::member_of(family, 1), slots, 2, seed), {}, {}};
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
  const DeviceArray<std::uint32_t> active(queue, sweep.active_rungs);
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
  if (!sweep.active_rungs.empty()) kernel.active_rungs = active.view();
  for (std::uint32_t s = 0; s < in.sweeps; ++s) {
    kernel.step_offset = s;
    queue.launch(kernel);
  }
  if (in.slots == 0) return {};
  const std::vector<double> no_energy(idx(in.slots), 0.0);
  return {unpack_spins(state.download(), in.slots), no_energy, accepted.download()};
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
  SweepOutputs out{in.spins, std::vector<double>(idx(in.slots), 0.0),
                   std::vector<std::uint64_t>(idx(in.slots), accepted_before)};
  for (std::int64_t slot = 0; slot < in.slots; ++slot) {
    const std::size_t rung = idx(in.rung[idx(slot)]);
    if (!sweep.active_rungs.empty() && sweep.active_rungs[rung] == 0) continue;
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

// A family and what its patterns of neighbours have in each variant of the kernel.
struct FamilyCase {
  const char* name;
  PairwiseFamily family;
};

std::vector<FamilyCase> family_cases() {
  const auto signs = one_of({-1, 1}, 1), numbers = one_of({-3, -1, 2, 1000}, 2);
  const auto none = constant(0);
  const auto nothing = [](std::int32_t n) {
    return isolated_spins(std::vector<double>(idx(n), 0));
  };
  return {
      {"torus with a field in B",
       family_of(lattice({10, 8}, signs, none), isolated_spins(std::vector<double>(80, 1.0)))},
      {"torus with fields",
       family_of(lattice({10, 8}, numbers, numbers), lattice({10, 8}, signs, numbers))},
      {"torus", family_of(lattice({10, 8}, signs, none), lattice({10, 8}, numbers, none))},
      {"couplings in B alone", family_of(nothing(80), lattice({10, 8}, signs, none))},
      {"cube", family_of(lattice({4, 5, 5}, numbers, none), lattice({4, 5, 5}, signs, none))},
      {"chain with fields", family_of(ring(41, numbers, numbers), ring(41, signs, signs))},
      {"six neighbours", family_of(star(6, 90, numbers), star(6, 90, signs))},
      {"seven neighbours", family_of(star(7, 90, numbers), star(7, 90, signs))},
      {"counts up to 127", family_of(star(63, 93, constant(2)), star(126, 30, constant(-1)))},
      {"counts beyond", family_of(star(64, 92, constant(2)), star(127, 29, constant(-1)))},
      {"counts with fields", random_family(90, 2, 8)},
      {"random", random_family(90, 1, 7)},
  };
}

void expect_in_all_shapes(Device device, const FamilySweep& sweep, const std::string& what) {
  const SweepOutputs expected = plain(sweep);
  std::vector<const char*> shapes{""};
  if (device != Device::cpu) {
    shapes = {"", "s8x1", "s8x16", "s8x7", "s8x16g", "s8x3g", "1x1", "1x8", "2x32", "1x4g"};
  }
  for (const char* shape : shapes) {
    const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", shape);
    const std::unique_ptr<Queue> fresh = open_backend(to_string(device)).backend->make_queue();
    EXPECT_EQ(first_difference(run(*fresh, sweep), expected), "") << what << ", shape " << shape;
  }
}

// All betas and lambdas, or one for all, as in an anneal.
TEST_P(PairwiseFamilySweepKernel, HasTheSameBitsForEveryLaunchShape) {
  for (const FamilyCase& each : family_cases()) {
    for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
      FamilySweep sweep = make_family_sweep(each.family, 32 * 9, rule, 40);
      for (const std::int64_t groups : {1, 9, 18}) {
        sweep.in.names = make_names(sweep.in.slots, groups, 41);
        expect_in_all_shapes(GetParam(), sweep, each.name);
      }
      sweep.in.names = make_names(sweep.in.slots, 1, 42);
      for (const double beta : {0.0, 0.4, infinity}) {
        sweep.in.beta.assign(sweep.in.beta.size(), beta);
        sweep.parameter.assign(sweep.parameter.size(), -0.75);
        expect_in_all_shapes(GetParam(), sweep, std::string(each.name) + ", one member");
      }
    }
  }
}

TEST_P(PairwiseFamilySweepKernel, LetsRungsRestInEveryShape) {
  for (const FamilyCase& each : family_cases()) {
    FamilySweep sweep = make_family_sweep(each.family, 32 * 3, SweepRule::metropolis, 43);
    for (std::size_t r = 0; r < sweep.in.beta.size(); ++r) {
      sweep.active_rungs.push_back(r % 3 == 1 ? 0u : 1u);
    }
    expect_in_all_shapes(GetParam(), sweep, each.name);
  }
}

// Replica 3 draws the word 2^32 - 1 for site 3 at step 5, see metropolis_sweep_slices_test.cpp.
TEST_P(PairwiseFamilySweepKernel, TakesTheLargestWord) {
  for (const FamilyCase& each : family_cases()) {
    for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
      FamilySweep sweep = make_family_sweep(each.family, 32, rule, 44);
      for (std::size_t slot = 0; slot < 32; ++slot) {
        sweep.in.names.key[slot] = 38521366;
        sweep.in.names.replica[slot] = static_cast<std::uint32_t>(slot);
      }
      sweep.in.control.step = 5;
      sweep.in.sweeps = 1;
      for (const double beta : {0.0, 40.0}) {
        sweep.in.beta.assign(sweep.in.beta.size(), beta);
        expect_in_all_shapes(GetParam(), sweep, each.name);
      }
    }
  }
}

// The beta at which `threshold` words accept a change.
double beta_of(std::uint64_t threshold, double delta, SweepRule rule) {
  const auto accepting = [&](double beta) {
    return rule == SweepRule::heat_bath ? exact::heat_bath_threshold(beta * delta)
                                        : exact::accept_threshold(beta * delta);
  };
  double low = 0, high = 23 / delta;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (accepting(middle) > threshold ? low : high) = middle;
  }
  return high;
}

// A word that equals the threshold is rejected, one below it is accepted.
TEST_P(PairwiseFamilySweepKernel, RejectsTheThresholdItself) {
  for (const FamilyCase& each : family_cases()) {
    for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
      FamilySweep sweep = make_family_sweep(each.family, 32, rule, 45);
      sweep.in.sweeps = 1;
      const std::int64_t slot = 5;
      const std::int32_t v = problems::plan_pairwise_family(each.family).variable[2];
      const double lambda = sweep.parameter[idx(sweep.in.rung[slot])];
      const std::vector<std::int8_t> s = spins_of(sweep.in.spins, 32, slot);
      const double local =
          field_of(each.family.base, s, v) + lambda * field_of(each.family.term, s, v);
      if (local == 0) continue;
      if (s[idx(v)] * local > 0) sweep.in.spins[idx(v * 32 + slot)] *= -1;  // so that it costs
      const std::uint32_t word = draw_word({sweep.in.names.key[slot], sweep.in.control.step,
                                            sweep.in.names.replica[slot], RngDomain::metropolis, 0},
                                           2);
      if (rule == SweepRule::heat_bath && word >= 0x7FFFFFFFu) continue;
      for (const std::uint32_t more : {0u, 1u}) {
        sweep.in.beta[idx(sweep.in.rung[slot])] =
            beta_of(std::uint64_t{word} + more, 2 * std::abs(local), rule);
        FamilySweep alike = sweep;
        alike.in.beta.assign(32, sweep.in.beta[idx(sweep.in.rung[slot])]);
        alike.parameter.assign(32, lambda);
        expect_in_all_shapes(GetParam(), sweep, each.name);
        expect_in_all_shapes(GetParam(), alike, each.name);
      }
    }
  }
}

TEST_P(PairwiseFamilySweepKernel, WorksWhereStatesDoNotFitIntoSharedMemory) {
  const PairwiseFamily family = family_of(ring(70000, one_of({-1, 2}, 3), constant(0)),
                                          ring(70000, constant(0.37), constant(0)));
  const FamilySweep sweep = make_family_sweep(family, 32, SweepRule::metropolis, 46);
  const SweepOutputs cpu = run(cpu_queue(), sweep);
  EXPECT_EQ(first_difference(run(queue(), sweep), cpu), "");
}

// Sizes beyond single precision, and betas of which it holds no product with them.
TEST_P(PairwiseFamilySweepKernel, OfRealsOfAnySizeHasTheBitsOfTheCpu) {
  for (const double size : {1e-42, 1e-24, 0.1, 1e24, 1e42}) {
    const auto numbers = one_of({-0.7 * size, 0.1 * size, 0.3 * size, 1.1 * size}, 47);
    const PairwiseFamily families[] = {
        family_of(lattice({10, 8}, numbers, constant(0)), lattice({10, 8}, numbers, numbers)),
        family_of(sparse(80, 9, numbers, numbers, 48), lattice({10, 8}, numbers, constant(0)))};
    for (const PairwiseFamily& family : families) {
      for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
        FamilySweep sweep = make_family_sweep(family, 64, rule, 49);
        for (std::size_t r = 0; r < sweep.parameter.size(); r += 3) sweep.parameter[r] = 1e-9;
        const SweepOutputs cpu = run(cpu_queue(), sweep);
        for (const char* shape : {"s8x2", "1x4"}) {
          const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", shape);
          const std::unique_ptr<Queue> fresh =
              open_backend(to_string(GetParam())).backend->make_queue();
          EXPECT_EQ(first_difference(run(*fresh, sweep), cpu), "") << size << ", " << shape;
        }
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
