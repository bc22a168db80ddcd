// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// metropolis_sweep on random and on planted cases, bit for bit against the definition, on every
// backend and in every variant of it.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>

#include "kiln/backend.hpp"

#include "backends/backends.hpp"
#include "backends/cpu_queue.hpp"
#include "kernels/isa.hpp"
#include "models/models_sweep.hpp"

namespace kiln::test::metropolis_sweep_cases_test {
namespace {

struct SweepCase {
  std::string name;
  std::function<SweepInputs()> inputs;
};
void PrintTo(const SweepCase& c, std::ostream* out) { *out << c.name; }

WeightSource integers(std::int64_t size, std::uint64_t seed) {
  return [size, random = std::make_shared<TestRandom>(seed)] {
    return static_cast<double>(random->between(-size, size));
  };
}

WeightSource reals(double size, std::uint64_t seed) {
  return [size, random = std::make_shared<TestRandom>(seed)] {
    return size * (2 * random->unit() - 1);
  };
}

SweepInputs sparse_case(std::int32_t n, std::int64_t slots, std::int64_t groups,
                        const WeightSource& weight) {
  return make_sweep(sparse(n, 4, weight, integers(1, 9), 10 + idx(n)), slots, groups, idx(n));
}

// The largest |h| + sum |J| that 16-bit sums hold, and one more.
SweepInputs int16_case(double field) {
  return make_sweep(ring(40, constant(8191), constant(field)), 64, 1, 11);
}

SweepInputs with_step(std::uint64_t step, std::uint32_t sweeps) {
  SweepInputs inputs = sparse_case(33, 64, 2, integers(3, 1));
  inputs.control.step = step;
  inputs.sweeps = sweeps;
  return inputs;
}

SweepInputs strided() {
  SweepInputs inputs = sparse_case(100, 64, 1, integers(3, 2));
  inputs.extra_stride = 1;
  return inputs;
}

SweepInputs scaled() {
  SweepInputs inputs = sparse_case(100, 32, 1, integers(9, 3));
  inputs.inverse_scale = 0.3;
  return inputs;
}

SweepInputs with_large_names() {
  SweepInputs inputs = sparse_case(33, 32, 1, integers(3, 4));
  for (std::uint32_t& replica : inputs.names.replica) replica += 0xFFFFFFE0u;
  return inputs;
}

// Energy changes so small or so large that they leave the range of single precision.
SweepInputs real_case(double size, double beta) {
  SweepInputs inputs = make_sweep(sparse(40, 4, reals(size, 5), reals(size, 6), 7), 32, 1, 8);
  inputs.beta.assign(32, beta);
  return inputs;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<SweepCase> integer_cases() {
  return {
      {"one_spin", [] { return make_sweep(isolated_spins({3}), 32, 1, 1); }},
      {"two_spins", [] { return make_sweep(ring(2, constant(1), constant(1)), 64, 2, 2); }},
      {"n31",
       [] {
         return sparse_case(31, 32, 1, one_of({-1, 1}, 1));
       }},
      {"n32_seven_groups",
       [] {
         return sparse_case(32, 224, 7, one_of({-1, 1}, 2));
       }},
      {"n33", [] { return sparse_case(33, 96, 1, integers(5, 3)); }},
      {"n100_groups_of_9", [] { return sparse_case(100, 288, 32, integers(7, 4)); }},
      {"n257", [] { return sparse_case(257, 128, 4, integers(2, 5)); }},
      {"int8_sums_end", [] { return make_sweep(star(127, 0, constant(1)), 64, 1, 3); }},
      {"int8_sums_left", [] { return make_sweep(star(128, 0, constant(1)), 64, 1, 4); }},
      {"star_600_isolated",
       [] {
         return make_sweep(star(600, 5, one_of({-1, 1}, 6)), 64, 1, 5);
       }},
      {"star_600_same", [] { return make_sweep(star(600, 2, constant(-1)), 96, 1, 6); }},
      {"fields_only", [] { return make_sweep(sparse(67, 0, {}, integers(9, 7), 1), 64, 2, 7); }},
      {"zero_weights", [] { return make_sweep(ring(30, constant(0), constant(0)), 64, 1, 8); }},
      {"int16_sums_end", [] { return int16_case(1); }},
      {"int16_sums_left", [] { return int16_case(2); }},
      {"medium_2_to_22",
       [] {
         return make_sweep(ring(64, one_of({-0x1p22, 0x1p22}, 8), constant(0)), 64, 1, 9);
       }},
      {"medium_left",
       [] {
         return make_sweep(ring(64, one_of({-0x1p22, 0x1p22}, 9), constant(1)), 64, 1, 10);
       }},
      {"medium_small_total", [] { return make_sweep(star(9, 60, constant(4000)), 64, 1, 11); }},
      {"integers_2_to_40", [] { return sparse_case(90, 64, 1, integers(1ll << 40, 10)); }},
      {"dense_integers_33",
       [] { return make_sweep(dense(33, integers(4, 13), integers(4, 14)), 64, 2, 12); }},
      {"dense_integers_600",
       [] { return make_sweep(dense(600, integers(3, 23), integers(4, 24)), 32, 1, 18); }},
      {"dense_medium_30",
       [] { return make_sweep(dense(30, integers(9999, 15), integers(4, 16)), 64, 1, 13); }},
      {"dense_1_flip_57",
       [] { return make_sweep(dense(57, constant(1), constant(0)), 32, 1, 15); }},
  };
}

std::vector<SweepCase> real_cases() {
  return {
      {"reals", [] { return sparse_case(100, 96, 3, reals(1, 11)); }},
      {"reals_mixed_sizes",
       [] {
         return sparse_case(100, 64, 1, one_of({1e-9, 1.0, -1e9, 0.1}, 12));
       }},
      {"dense_reals_41",
       [] { return make_sweep(dense(41, reals(1, 17), reals(1, 18)), 64, 1, 14); }},
      {"tiny_reals_greedy", [] { return real_case(1e-32, infinity); }},
      {"subnormal_reals", [] { return real_case(1e-42, 1e42); }},
      {"huge_reals_hot", [] { return real_case(1e39, 0); }},
      {"huge_reals", [] { return real_case(1e42, 1e-42); }},
  };
}

// Steps, names, strides, scales and sizes.
std::vector<SweepCase> odd_cases() {
  return {
      {"step_crosses_2_to_32", [] { return with_step(0xFFFFFFFEull, 4); }},
      {"step_above_2_to_32", [] { return with_step((0x1234ull << 32) + 77, 2); }},
      {"step_2_to_48", [] { return with_step((1ull << 48) - 1, 2); }},
      {"strided", strided},
      {"inverse_scale", scaled},
      {"large_replica_numbers", with_large_names},
      {"more_attempts_than_a_flush",
       [] { return make_sweep(ring(20000, constant(8191), constant(1)), 32, 1, 16); }},
      {"larger_than_shared_memory",
       [] {
         return make_sweep(ring(70000, one_of({-1, 1}, 19), constant(0)), 32, 1, 17);
       }},
  };
}

// Every kind of model and arithmetic by the other rule.
std::vector<SweepCase> heat_bath_cases() {
  std::vector<SweepCase> all = integer_cases();
  for (const auto& more : {real_cases(), odd_cases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  for (SweepCase& c : all) {
    c.name += "_heat_bath";
    c.inputs = [metropolis = c.inputs] {
      SweepInputs inputs = metropolis();
      inputs.rule = SweepRule::heat_bath;
      return inputs;
    };
  }
  return all;
}

std::vector<SweepCase> cases() {
  std::vector<SweepCase> all = integer_cases();
  for (const auto& more : {real_cases(), odd_cases(), heat_bath_cases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

class MetropolisSweepCases : public testing::TestWithParam<std::tuple<Device, SweepCase>> {
 protected:
  void SetUp() override { skip_without(std::get<0>(GetParam())); }
  Queue& queue() const { return *open_device(std::get<0>(GetParam())).queue; }
  SweepInputs inputs() const { return std::get<1>(GetParam()).inputs(); }
};

std::string name_of(const testing::TestParamInfo<std::tuple<Device, SweepCase>>& info) {
  return std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Cpu, MetropolisSweepCases,
                         testing::Combine(testing::Values(Device::cpu), testing::ValuesIn(cases())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisSweepCases,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(cases())),
                         name_of);

TEST_P(MetropolisSweepCases, MatchesTheDefinition) {
  const SweepInputs given = inputs();

  const SweepOutputs out = run_sweeps(queue(), given);

  EXPECT_EQ(first_difference(out, plain_sweeps(given)), "");
}

// Integral models: what the sweep adds to an energy is what the energy changed by.
TEST_P(MetropolisSweepCases, KeepsIntegerEnergiesExact) {
  const SweepInputs given = inputs();
  if (!problems::plan_pairwise(given.model).integral) return;

  const SweepOutputs out = run_sweeps(queue(), given);

  for (std::int64_t slot = 0; slot < given.slots; ++slot) {
    const double before = direct_energy(given.model, spins_of(given.spins, given.slots, slot));
    const double after = direct_energy(given.model, spins_of(out.spins, given.slots, slot));
    EXPECT_EQ(out.energy[idx(slot)], energy_before + after - before) << slot;
  }
}

struct Variant {
  const char* variable;
  const char* value;
};

// The variants that a backend chooses among by processor and shape; none may change a bit.
std::vector<Variant> variants_of(Device device) {
  if (device == Device::cpu) {
    return {{"KILN_CPU_ISA", "baseline"}, {"KILN_CPU_ISA", "avx2"}, {"KILN_CPU_ISA", ""}};
  }
  std::vector<Variant> shapes;
  for (const char* shape : {"1x1", "1x4", "1x16", "2x1", "2x8", "1x2g", "2x4g", "2x3g", "s8x1",
                            "s8x16", "s4x3", "s2x8", "s2x1", "s8x4g"}) {
    shapes.push_back({"KILN_CUDA_SWEEP_SHAPE", shape});
  }
  return shapes;
}

// A queue of the CUDA backend reads its variables when it is made.
std::unique_ptr<Queue> queue_in_this_environment(Device device) {
  return open_backend(to_string(device)).backend->make_queue();
}

TEST_P(MetropolisSweepCases, HasTheSameBitsInEveryVariant) {
  const SweepInputs given = inputs();
  const SweepOutputs plain = run_sweeps(queue(), given);
  for (const Variant& variant : variants_of(std::get<0>(GetParam()))) {
    // Words of a strided batch are not aligned for loads of several at a time.
    if (given.extra_stride > 0 && std::string(variant.value).ends_with("g")) continue;
    const ScopedEnvironment chosen(variant.variable, variant.value);
    const std::unique_ptr<Queue> fresh = queue_in_this_environment(std::get<0>(GetParam()));
    EXPECT_EQ(first_difference(run_sweeps(*fresh, given), plain), "")
        << variant.variable << "=" << variant.value;
  }
}

// Several sweeps by one launch, at one beta and each at another beta; the limit of the
// run cuts the row off.
TEST_P(MetropolisSweepCases, HasTheSameBitsInARow) {
  SweepInputs given = inputs();
  given.sweeps = 3;
  given.in_row = true;
  EXPECT_EQ(first_difference(run_sweeps(queue(), given), plain_sweeps(given)), "");
  given.beta_stride = static_cast<std::int64_t>(given.beta.size());
  const std::vector<double> first = given.beta;
  for (const double factor : {1.5, 0.0}) {
    for (const double beta : first) given.beta.push_back(factor > 0 ? factor * beta : 0.25);
  }
  EXPECT_EQ(first_difference(run_sweeps(queue(), given), plain_sweeps(given)), "");
  given.control.step_limit = given.control.step + 2;
  EXPECT_EQ(first_difference(run_sweeps(queue(), given), plain_sweeps(given)), "");
}

// Local fields that are kept from sweep to sweep, and brought up to date where somebody else
// changed the states in between. Backends may do without them; the bits are the same.
TEST_P(MetropolisSweepCases, HasTheSameBitsWithKeptFields) {
  SweepInputs given = inputs();
  if (!DeviceDense::fits(problems::plan_pairwise(given.model), 2500)) return;
  given.kept_fields = true;
  given.sweeps = 3;
  EXPECT_EQ(first_difference(run_sweeps(queue(), given), plain_sweeps(given)), "");
  given.replacement = make_sweep(given.model, given.slots, 1, 99).spins;
  EXPECT_EQ(first_difference(run_sweeps(queue(), given), plain_sweeps(given)), "");
}

// One, two, four and eight quads a thread, 64 to 512 threads a replica.
TEST(MetropolisSweepKeptFields, DoNotDependOnTheNumberOfSites) {
  skip_without(Device::cuda);
  if (testing::Test::IsSkipped() || testing::Test::HasFatalFailure()) return;
  Queue& queue = *open_device(Device::cuda).queue;
  for (const std::int32_t n : {4, 255, 257, 513, 1025, 2049, 4097, 8200, 8400}) {
    SweepInputs given = make_sweep(ring(n, one_of({-1, 1}, 21), integers(1, 22)), 32, 1, idx(n));
    given.kept_fields = true;
    EXPECT_EQ(first_difference(run_sweeps(queue, given), plain_sweeps(given)), "") << n;
    given.rule = SweepRule::heat_bath;
    EXPECT_EQ(first_difference(run_sweeps(queue, given), plain_sweeps(given)), "") << n;
  }
}

// Shapes with several words a block divide the words of the batch: 1, 2, 3, 4, 6, 12 words.
TEST(MetropolisSweepShapes, DoNotDependOnTheNumberOfWords) {
  skip_without(Device::cuda);
  if (testing::Test::IsSkipped() || testing::Test::HasFatalFailure()) return;
  for (const std::int64_t slots : {32, 64, 96, 128, 192, 384}) {
    const SweepInputs given = sparse_case(100, slots, 2, integers(3, 20));
    const SweepOutputs expected = plain_sweeps(given);
    for (const Variant& variant : variants_of(Device::cuda)) {
      const ScopedEnvironment chosen(variant.variable, variant.value);
      const std::unique_ptr<Queue> fresh = queue_in_this_environment(Device::cuda);
      EXPECT_EQ(first_difference(run_sweeps(*fresh, given), expected), "")
          << slots << " slots, " << variant.value;
    }
  }
}

// On the CPU a task has 1, 2, 4, 8 or 16 words, the last task of a launch may have fewer.
TEST(MetropolisSweepTasks, DoNotDependOnTheNumberOfWords) {
  for (const std::int64_t words : {1, 2, 3, 5, 8, 13, 16, 17, 35}) {
    for (const std::int64_t groups : {std::int64_t{1}, words, 4 * words}) {
      const SweepInputs given = sparse_case(200, 32 * words, groups, one_of({-1, 1}, 20));
      const SweepOutputs expected = plain_sweeps(given);
      for (const Variant& variant : variants_of(Device::cpu)) {
        const ScopedEnvironment chosen(variant.variable, variant.value);
        for (const int threads : {1, 2, 3}) {
          const std::unique_ptr<Queue> queue = cpu_queue(threads);
          EXPECT_EQ(first_difference(run_sweeps(*queue, given), expected), "")
              << words << " words, " << groups << " groups, " << threads << " threads, "
              << variant.value;
        }
      }
    }
  }
}

// With weights that need double precision a task has one word or four.
TEST(MetropolisSweepTasks, ShareRowsOfRealWeights) {
  for (const std::int64_t words : {1, 3, 4, 7, 8, 13}) {
    for (const WeightSource& weight : {reals(1, 20), integers(std::int64_t{1} << 40, 21)}) {
      const SweepInputs given = sparse_case(200, 32 * words, words, weight);
      const SweepOutputs expected = plain_sweeps(given);
      for (const Variant& variant : variants_of(Device::cpu)) {
        const ScopedEnvironment chosen(variant.variable, variant.value);
        for (const int threads : {1, 2}) {
          EXPECT_EQ(first_difference(run_sweeps(*cpu_queue(threads), given), expected), "")
              << words << " words, " << threads << " threads, " << variant.value;
        }
      }
    }
  }
}

// Thresholds of one temperature come from a table of 32 or 64 steps, where that holds all steps
// that can be accepted: from temperatures at which it does not to the coldest.
TEST(MetropolisSweepTasks, DoNotDependOnTheTableOfThresholds) {
  for (const double beta :
       {0.0, 1e-9, 0.05, 0.17, 0.18, 0.19, 0.3, 0.36, 0.4, 1.0, 3.0, 11.6, 25.0, infinity}) {
    for (const std::int64_t size : {1, 9, 40}) {
      SweepInputs given = sparse_case(900, 64, 1, integers(size, 31));
      given.beta.assign(given.beta.size(), beta);
      EXPECT_EQ(first_difference(run_sweeps(*cpu_queue(), given), plain_sweeps(given)), "")
          << "beta " << beta << ", weights up to " << size;
    }
  }
}

#if defined(KILN_X86_64) && KILN_X86_64
// Otherwise the comparison of variants would compare a variant with itself.
TEST(CpuVariants, AreChosenByTheEnvironment) {
  const ScopedEnvironment chosen("KILN_CPU_ISA", "baseline");
  EXPECT_STREQ(cpu::isa_name(), "SSE2");
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  const ScopedEnvironment wider("KILN_CPU_ISA", "avx2");
  EXPECT_STREQ(cpu::isa_name(), "AVX2");
}
#endif

}  // namespace
}  // namespace kiln::test::metropolis_sweep_cases_test
