// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// metropolis_sweep of dense models with kept fields, by warps and by a block: sizes around those of
// a stretch and of a warp, fields that 16 bits just hold, fields that leave 16 bits before and in a
// sweep, words and temperatures at the ends of their ranges.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "kiln/backend.hpp"

#include "backends/backends.hpp"
#include "models/models_sweep.hpp"

namespace kiln::test::metropolis_sweep_dense_test {
namespace {

struct DenseCase {
  std::string name;
  std::function<SweepInputs()> inputs;
};
void PrintTo(const DenseCase& c, std::ostream* out) { *out << c.name; }

constexpr double infinity = std::numeric_limits<double>::infinity();

// Three sweeps; before the second and the third somebody else changes the states.
SweepInputs kept(SweepInputs inputs, bool replaced = false) {
  inputs.kept_fields = true;
  inputs.sweeps = 3;
  if (replaced) {
    inputs.replacement = make_sweep(inputs.model, inputs.slots, 1, 99).spins;
  }
  return inputs;
}

SweepInputs with_beta(SweepInputs inputs, double beta) {
  inputs.beta.assign(inputs.beta.size(), beta);
  return inputs;
}

SweepInputs ring_of(std::int32_t n, double largest = 127) {
  return kept(
      make_sweep(ring(n, one_of({-largest, -3, 0, 1, largest}, idx(n)), one_of({-2, 0, 5}, 22)), 32,
                 1, idx(n)));
}

SweepInputs random_weights(std::int32_t n, double largest, std::int64_t slots = 32) {
  return make_sweep(dense(n, one_of({-largest, -1, 0, 2, largest}, 31), one_of({-7, 0, 1000}, 32)),
                    slots, 2, 33);
}

// All couplings alike: fields grow to (n - 1) * weight where the spins agree.
SweepInputs alike(std::int32_t n, double weight, double beta) {
  return kept(with_beta(make_sweep(dense(n, constant(weight), constant(1)), 64, 1, 34), beta));
}

// All spins agree with a random pattern in the end. In the state of all spins up, from which fields
// are first computed, and in a random one they are small.
SweepInputs with_pattern(std::int32_t n, double weight, double beta) {
  Ising model = dense(n, constant(weight), constant(1));
  TestRandom random(35);
  std::vector<double> pattern;
  for (std::int32_t v = 0; v < n; ++v) pattern.push_back(random.between(0, 1) == 0 ? -1 : 1);
  for (Edge& e : model.couplings) e.weight *= -pattern[idx(e.u)] * pattern[idx(e.v)];
  SweepInputs inputs = kept(with_beta(make_sweep(std::move(model), 64, 1, 36), beta));
  inputs.sweeps = 6;
  return inputs;
}

// At beta = 0 all spins flip, from up to down: the rows of a whole stretch have one sign.
SweepInputs all_flip(std::int32_t n, double weight) {
  SweepInputs inputs = alike(n, weight, 0);
  inputs.spins.assign(inputs.spins.size(), std::int8_t{1});
  return inputs;
}

// A key under which replica 3 draws the word 2^32 - 1 for site 3 at step 5. With spin 3 up or down
// a flip lowers or raises the energy.
SweepInputs largest_word(SweepInputs inputs, double beta, std::int8_t spin) {
  inputs.spins[idx(3 * inputs.slots + 3)] = spin;
  for (std::size_t slot = 0; slot < 32; ++slot) {
    inputs.names.key[slot] = 38521366;
    inputs.names.replica[slot] = static_cast<std::uint32_t>(slot);
  }
  return kept(with_beta(std::move(inputs), beta));
}

constexpr double ends_of_beta[] = {0.0, 1e-300, 1e-12, 1e-5, 0.01, 30.0, infinity};

// Couplings of 1 and -1 between all spins, so that a GPU may keep fields in planes.
SweepInputs signs(std::int32_t n, double field, std::int64_t slots = 32) {
  return make_sweep(dense(n, one_of({-1, 1}, 41), one_of({-field, 0, field}, 42)), slots, 2, 43);
}

std::vector<DenseCase> sign_cases() {
  std::vector<DenseCase> all;
  // Around the sizes of a stretch, of a word of a warp, and of a warp.
  for (const std::int32_t n : {448, 449, 639, 640, 641, 1022, 1024, 1025, 1500}) {
    all.push_back({"signs_" + std::to_string(n), [n] { return kept(signs(n, 3)); }});
  }
  all.push_back({"signs_without_fields", [] { return kept(signs(700, 0, 96)); }});
  all.push_back({"signs_replaced", [] { return kept(signs(1100, 1, 96), true); }});
  // 12 planes end with h + sum J = 4094, 15 with 16383; the largest field is that of all spins up.
  for (const double field : {3495.0, 3496.0, 15784.0, 15785.0}) {
    all.push_back({"signs_end_" + std::to_string(static_cast<int>(field)), [field] {
                     SweepInputs inputs =
                         make_sweep(dense(600, constant(1), constant(field)), 32, 1, 44);
                     inputs.spins.assign(inputs.spins.size(), std::int8_t{1});
                     return kept(with_beta(std::move(inputs), 0.0003));
                   }});
  }
  for (const double beta : {0.0, 1e-5, 0.01, 0.1, infinity}) {
    all.push_back({"signs_at_" + std::to_string(all.size()),
                   [beta] { return kept(with_beta(signs(700, 2), beta)); }});
  }
  // All spins agree with a random pattern in the end; then a field is n.
  all.push_back({"signs_agree", [] { return with_pattern(1300, 1, 0.01); }});
  for (const double beta : ends_of_beta) {
    for (const std::int8_t spin : {std::int8_t{-1}, std::int8_t{1}}) {
      all.push_back({"signs_largest_word_" + std::to_string(all.size()),
                     [=] { return largest_word(signs(448, 1), beta, spin); }});
    }
  }
  for (const double weight : {-1.0, 1.0}) {
    all.push_back(
        {"signs_flip_" + std::to_string(all.size()), [weight] { return all_flip(1100, weight); }});
  }
  return all;
}

std::vector<DenseCase> cases() {
  std::vector<DenseCase> all = sign_cases();
  for (const std::int32_t n :
       {1, 4, 127, 128, 129, 511, 512, 513, 1025, 2047, 2561, 3001, 4096, 4097, 8200}) {
    all.push_back({"ring_" + std::to_string(n), [n] { return ring_of(n); }});
  }
  // Weights of 16 bits.
  for (const std::int32_t n : {1, 4, 129, 511, 1025, 2047, 2048, 2049, 4097, 8192, 8200}) {
    all.push_back({"wide_ring_" + std::to_string(n), [n] { return ring_of(n, 32767); }});
  }
  // Twice a field is just below 2^24.
  for (const double beta : {0.0, 1e-8, 1e-7, 1e-5, infinity}) {
    all.push_back({"largest_fields_" + std::to_string(all.size()),
                   [beta] { return with_pattern(256, 32767, beta); }});
  }
  all.push_back({"all_flip_far", [] { return all_flip(256, -32767); }});
  all.push_back({"wide_replaced", [] { return kept(random_weights(300, 1000, 96), true); }});
  for (const double largest : {1.0, 90.0, 127.0, 128.0, 9000.0, 32767.0, 32768.0}) {
    all.push_back({"weights_" + std::to_string(static_cast<int>(largest)),
                   [largest] { return kept(random_weights(700, largest)); }});
  }
  all.push_back({"replaced_states", [] { return kept(random_weights(300, 100, 96), true); }});
  // Narrow up to 16383; beyond that fields are looked after.
  all.push_back({"narrow_end", [] { return alike(130, 126, 0.001); }});
  all.push_back({"narrow_left", [] { return alike(140, -127, 0.001); }});
  // Beyond 49213 a block takes over.
  for (const double beta : {1e-5, 1.5e-5, 2e-5, 1e-4, infinity}) {
    all.push_back({"grows_too_large_" + std::to_string(all.size()),
                   [beta] { return with_pattern(700, 127, beta); }});
  }
  all.push_back({"is_too_large", [] { return alike(450, -127, infinity); }});
  all.push_back({"stays_small", [] { return alike(450, 127, 0.0005); }});
  for (const double weight : {-1.0, 1.0, 2.0}) {
    all.push_back(
        {"all_flip_" + std::to_string(all.size()), [weight] { return all_flip(300, weight); }});
  }
  for (const double beta : ends_of_beta) {
    for (const std::int8_t spin : {std::int8_t{-1}, std::int8_t{1}}) {
      for (const double largest : {90.0, 9000.0}) {
        all.push_back({"largest_word_" + std::to_string(all.size()),
                       [=] { return largest_word(random_weights(140, largest), beta, spin); }});
      }
    }
  }
  return all;
}

// Models whose plan takes long are swept once, in the shape that the backend chooses.
TEST(MetropolisSweepSigns, MatchTheDefinitionInLargeModels) {
  skip_without(Device::cuda);
  if (testing::Test::IsSkipped() || testing::Test::HasFatalFailure()) return;
  // Two and four words of a lane, with 12 and 15 planes, and two warps.
  for (const auto& [n, field] : {std::pair(2047, 1.0), {3001, 1.0}, {3001, 5000.0}, {4097, 1.0}}) {
    SweepInputs given = kept(signs(n, field));
    given.sweeps = 2;
    given.in_row = true;
    EXPECT_EQ(
        first_difference(run_sweeps(*open_device(Device::cuda).queue, given), plain_sweeps(given)),
        "")
        << n << " " << field;
  }
}

// Several sweeps by one launch, each at another beta; the limit of the run cuts the row off.
TEST(MetropolisSweepSigns, HaveTheSameBitsInARow) {
  skip_without(Device::cuda);
  if (testing::Test::IsSkipped() || testing::Test::HasFatalFailure()) return;
  SweepInputs given = kept(signs(600, 1, 64));
  given.in_row = true;
  given.beta_stride = static_cast<std::int64_t>(given.beta.size());
  const std::vector<double> first = given.beta;
  for (const double factor : {1.5, 0.0}) {
    for (const double beta : first) given.beta.push_back(factor > 0 ? factor * beta : 0.05);
  }
  for (const std::uint64_t limit : {5, 6, 7, 99}) {
    given.control.step_limit = limit;
    const SweepOutputs expected = plain_sweeps(given);
    for (const char* shape : {"", "v2x1", "w1x4", "b"}) {
      const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", shape);
      const std::unique_ptr<Queue> fresh = open_backend("cuda").backend->make_queue();
      EXPECT_EQ(first_difference(run_sweeps(*fresh, given), expected), "") << limit << shape;
    }
  }
}

class MetropolisSweepDense : public testing::TestWithParam<DenseCase> {
 protected:
  void SetUp() override { skip_without(Device::cuda); }
};
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisSweepDense, testing::ValuesIn(cases()),
                         [](const auto& made) { return made.param.name; });

TEST_P(MetropolisSweepDense, HasTheSameBitsInEveryShape) {
  SweepInputs given = GetParam().inputs();
  for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
    given.rule = rule;
    const SweepOutputs expected = plain_sweeps(given);
    for (const char* shape : {"", "b", "w1x1", "w1x4", "w1x16", "w2x1", "w4x1", "v1x1", "v1x4",
                              "v1x16", "v2x1", "v4x1"}) {
      const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", shape);
      const std::unique_ptr<Queue> fresh = open_backend("cuda").backend->make_queue();
      EXPECT_EQ(first_difference(run_sweeps(*fresh, given), expected), "") << shape;
    }
  }
}

}  // namespace
}  // namespace kiln::test::metropolis_sweep_dense_test
