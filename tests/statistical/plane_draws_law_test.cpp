// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Words by planes and shared words are independent and uniform, and sweeps that use them have the
// Boltzmann law. Faults are planted: a plane that is used twice, groups that share a key, replicas
// that share their low bits, ties that are decided wrongly, replicas with shared noise that count
// as independent.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/shared_draws.hpp"

#include "backends/backends.hpp"
#include "chi_square.hpp"
#include "small_systems.hpp"

namespace kiln::test::plane_draws_law_test {
namespace {

// A draw of one replica: the key of its group, its number, a sweep and a site.
struct Place {
  std::uint64_t key = 0x1234567890ABCDEFull;
  std::uint32_t replica = 0;
  std::uint64_t step = 0;
  std::uint32_t site = 0;
};
using Draw = std::function<std::uint32_t(const Place&)>;

DrawName name_of(const Place& at) {
  return {at.key, at.step, at.replica, RngDomain::metropolis, 0};
}
std::uint32_t kiln_word(const Place& at) { return draw_word_by_planes(name_of(at), at.site); }

constexpr std::uint32_t replicas = 64, sites = 64;
constexpr std::uint64_t steps = 64;

void for_each_place(const std::function<void(const Place&)>& visit) {
  Place at;
  for (at.step = 0xFFFFFFE0ull; at.step < 0xFFFFFFE0ull + steps; ++at.step) {  // crosses 2^32
    for (at.site = 0; at.site < sites; ++at.site) {
      for (at.replica = 0; at.replica < replicas; ++at.replica) visit(at);
    }
  }
}
constexpr double places = static_cast<double>(replicas) * sites * static_cast<double>(steps);

// The standard scores of the agreement of each pair of bits of two words, [32][32]; one word: its
// own pairs.
using Scores = std::array<std::array<double, 32>, 32>;

Scores scores_of(const Draw& draw, const std::function<Place(Place)>& other) {
  std::array<std::array<std::int32_t, 32>, 32> unequal{};
  for_each_place([&](const Place& at) {
    const std::uint32_t one = draw(at), two = draw(other(at));
    for (int shift = 0; shift < 32; ++shift) {
      const std::uint32_t differ = one ^ std::rotr(two, shift);
      auto& row = unequal[static_cast<std::size_t>(shift)];
      for (std::size_t bit = 0; bit < 32; ++bit) row[bit] += differ >> bit & 1u;
    }
  });
  Scores scores{};
  for (std::size_t shift = 0; shift < 32; ++shift) {
    for (std::size_t bit = 0; bit < 32; ++bit) {
      scores[shift][bit] = (2.0 * unequal[shift][bit] - places) / std::sqrt(places);
    }
  }
  return scores;
}

// The largest size; within a word a bit agrees with itself.
double largest(const Scores& scores, bool within) {
  double most = 0;
  for (std::size_t shift = within ? 1 : 0; shift < 32; ++shift) {
    for (const double score : scores[shift]) most = std::max(most, std::abs(score));
  }
  return most;
}

struct Lag {
  const char* name;
  std::function<Place(Place)> other;
};

// Which other word of a place is compared, bit by bit, all 32 x 32 pairs.
std::vector<Lag> lags() {
  const auto moved = [](std::uint32_t replica, std::uint64_t step, std::uint32_t site) {
    return [=](Place at) {
      at.replica += replica, at.step += step, at.site += site;
      return at;
    };
  };
  return {{"the next replica", moved(1, 0, 0)},
          {"the same bit of the next word", moved(32, 0, 0)},
          {"31 replicas on", moved(31, 0, 0)},
          {"the next site", moved(0, 0, 1)},
          {"four sites on", moved(0, 0, 4)},
          {"the next sweep", moved(0, 1, 0)},
          {"two sweeps on", moved(0, 2, 0)},
          {"the next sweep and site", moved(0, 1, 1)},
          {"another key",
           [](Place at) {
             at.key += 1;
             return at;
           }},
          {"the word by words' names", [](Place at) {
             at.replica += 32 * 1000;
             return at;
           }}};
}

// 2^18 places. Ten times 1024 pairs and 992 within a word, scores below 6: false alarm 2e-5.
constexpr double tolerance = 6;

TEST(PlaneDraws, AreIndependentWithinAWordOverTimeAndBetweenReplicas) {
  EXPECT_LT(largest(scores_of(kiln_word, [](Place at) { return at; }), true), tolerance);
  for (const Lag& lag : lags()) {
    EXPECT_LT(largest(scores_of(kiln_word, lag.other), false), tolerance) << lag.name;
  }
}

// The word that replicas 32 k .. 32 k + 31 share, by k.
std::uint32_t shared_number(Place at) {
  at.replica *= 32;
  return draw_named(DrawNaming::shared, name_of(at), at.site);
}

TEST(SharedDraws, AreIndependentWithinANumberOverTimeAndBetweenWordsOfReplicas) {
  EXPECT_LT(largest(scores_of(shared_number, [](Place at) { return at; }), true), tolerance);
  for (const Lag& lag : lags()) {
    EXPECT_LT(largest(scores_of(shared_number, lag.other), false), tolerance) << lag.name;
  }
}

TEST(SharedDraws, AreThoseOf32Replicas) {
  Place at;
  for (at.site = 0; at.site < 9; ++at.site) {
    at.replica = 32;
    const std::uint32_t first = draw_named(DrawNaming::shared, name_of(at), at.site);
    for (; at.replica < 64; ++at.replica) {
      EXPECT_EQ(draw_named(DrawNaming::shared, name_of(at), at.site), first);
    }
    EXPECT_NE(draw_named(DrawNaming::shared, name_of(at), at.site), first);
  }
}

// Each bit is fair: 32 scores.
TEST(PlaneDraws, AreUniform) {
  std::array<double, 32> sums{};
  std::vector<std::int64_t> bytes(256, 0);
  for_each_place([&](const Place& at) {
    const std::uint32_t word = kiln_word(at);
    ++bytes[word >> 24];
    for (std::size_t bit = 0; bit < 32; ++bit) sums[bit] += (word >> bit & 1u) != 0 ? 1 : -1;
  });
  for (const double sum : sums) EXPECT_LT(std::abs(sum) / std::sqrt(places), 5);
  EXPECT_GT(chi_square_test(bytes, std::vector<double>(256, 1.0 / 256)).p, 1e-4);
}

// Negative controls: each fault is far outside of the tolerance.
TEST(PlaneDraws, SeeAPlaneThatIsUsedTwice) {
  const Draw draw = [](const Place& at) {
    const std::uint32_t word = kiln_word(at);
    return (word & ~(1u << 29)) | (word >> 26 & 1u) << 29;
  };
  EXPECT_GT(largest(scores_of(draw, [](Place at) { return at; }), true), 100);
}

TEST(PlaneDraws, SeeAKeyThatGroupsShare) {
  const Draw draw = [](Place at) {
    at.key = 0x1234567890ABCDEFull;
    return kiln_word(at);
  };
  const Lag other_key = lags()[8];
  EXPECT_GT(largest(scores_of(draw, other_key.other), false), 100);
}

TEST(PlaneDraws, SeeWordsOfReplicasThatShareTheirPlanes) {
  const Draw draw = [](Place at) {
    at.replica %= 32;
    return kiln_word(at);
  };
  EXPECT_GT(largest(scores_of(draw, lags()[1].other), false), 100);
}

TEST(PlaneDraws, SeeLowBitsThatReplicasShare) {
  const Draw draw = [](const Place& at) {
    Place first = at;
    first.replica = at.replica / 32 * 32;
    return (kiln_word(at) & ~rest_mask) | (kiln_word(first) & rest_mask);
  };
  EXPECT_GT(largest(scores_of(draw, lags()[0].other), false), 100);
}

TEST(PlaneDraws, SeePlanesThatDoNotChangeWithTheSweep) {
  const Draw draw = [](Place at) {
    at.step = 1;
    return kiln_word(at);
  };
  EXPECT_GT(largest(scores_of(draw, lags()[5].other), false), 100);
}

constexpr std::int64_t samples = 65536;
constexpr std::uint32_t sweeps = 120;

// Even degrees in fields, which make sums odd.
Ising in_fields() {
  Ising model = even_degrees();
  model.fields = {1, -1, 1, 0, 2, -1, 0, 1, -3};
  return model;
}

const SmallSystem systems[] = {
    {"odd_degrees", odd_degrees, 8, {0.2, 0.6, 1.1}},
    {"even_degrees", even_degrees, 8, {0.15, 0.3, 0.5}},
    {"in_fields", in_fields, 8, {0.15, 0.3, 0.5}},
    {"mixed_integers", mixed_integers, 8, {0.12, 0.3, 0.55}},
};

std::vector<double> boltzmann(const Ising& model, double beta) {
  std::vector<double> weights;
  for (std::size_t state = 0; state < small_states; ++state) {
    weights.push_back(std::exp(-beta * direct_energy(model, spins_of_state(state))));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

SweepInputs sampling(const SmallSystem& system, double beta, std::uint64_t seed,
                     std::int64_t states = samples) {
  SweepInputs inputs;
  inputs.model = repeated(system.model(), system.copies);
  inputs.slots = states / system.copies / 32 * 32;
  TestRandom random(seed);
  const auto cells = static_cast<std::size_t>(inputs.model.n) * idx(inputs.slots);
  for (std::size_t i = 0; i < cells; ++i) {
    inputs.spins.push_back(random.between(0, 1) == 0 ? std::int8_t{-1} : std::int8_t{1});
  }
  inputs.beta = {beta};
  inputs.rung.assign(idx(inputs.slots), 0);
  inputs.names = make_names(inputs.slots, 4, seed + 1000);
  inputs.naming = DrawNaming::planes;
  inputs.sweeps = sweeps;
  return inputs;
}

// Of all slots, or of one replica of each word.
std::vector<std::int64_t> histogram(const SweepOutputs& out, const SweepInputs& inputs,
                                    bool one_of_each_word = false) {
  const std::size_t slots = idx(inputs.slots);
  std::vector<std::int64_t> counts(small_states, 0);
  for (std::size_t copy = 0; copy < idx(inputs.model.n / small_spins); ++copy) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (one_of_each_word && slot % 32 != slot / 32 % 32) continue;
      std::size_t state = 0;
      for (std::size_t v = 0; v < idx(small_spins); ++v) {
        if (out.spins[(copy * idx(small_spins) + v) * slots + slot] < 0) state |= 1u << v;
      }
      ++counts[state];
    }
  }
  return counts;
}

class PlaneSweeps : public testing::TestWithParam<std::tuple<Device, SmallSystem>> {
 protected:
  void SetUp() override { skip_without(std::get<0>(GetParam())); }
  Queue& queue() const { return *open_device(std::get<0>(GetParam())).queue; }
  SmallSystem system() const { return std::get<1>(GetParam()); }
};

std::string name_of_case(const testing::TestParamInfo<std::tuple<Device, SmallSystem>>& info) {
  return std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Cpu, PlaneSweeps,
                         testing::Combine(testing::Values(Device::cpu), testing::ValuesIn(systems)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Cuda, PlaneSweeps,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(systems)),
                         name_of_case);

// Pearson's chi-square over 512 states: 60 tests at p > 1e-4 and one set of bits on both backends.
TEST_P(PlaneSweeps, HaveTheBoltzmannLaw) {
  for (const double beta : system().betas) {
    const std::vector<double> exact = boltzmann(system().model(), beta);
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      const SweepInputs inputs = sampling(system(), beta, seed);
      const ChiSquare test = chi_square_test(histogram(run_sweeps(queue(), inputs), inputs), exact);
      EXPECT_GT(test.p, 1e-4) << "beta " << beta << ", seed " << seed << ", chi-square "
                              << test.value;
    }
    const SweepInputs wrong = sampling(system(), beta * 1.1, 1);
    EXPECT_LT(chi_square_test(histogram(run_sweeps(queue(), wrong), wrong), exact).p, 1e-6);
  }
}

// With shared noise each replica has the law, and so have replicas of different words together. The
// replicas of a word depend on each other: counts of all of them spread more than a test of
// independent states allows, which it sees.
TEST_P(PlaneSweeps, HaveTheBoltzmannLawInEachReplicaWithSharedNoise) {
  SmallSystem many = system();
  many.copies = 64;
  for (const double beta : many.betas) {
    const std::vector<double> exact = boltzmann(many.model(), beta);
    for (const std::uint64_t seed : {1, 2}) {
      SweepInputs inputs = sampling(many, beta, seed, 8 * samples);
      inputs.naming = DrawNaming::shared;
      const SweepOutputs out = run_sweeps(queue(), inputs);
      const ChiSquare test = chi_square_test(histogram(out, inputs, true), exact);
      EXPECT_GT(test.p, 1e-4) << "beta " << beta << ", seed " << seed << ", chi-square "
                              << test.value;
      EXPECT_LT(chi_square_test(histogram(out, inputs), exact).p, 1e-6) << beta;
    }
    SweepInputs wrong = sampling(many, beta * 1.3, 1, 8 * samples);
    wrong.naming = DrawNaming::shared;
    EXPECT_LT(chi_square_test(histogram(run_sweeps(queue(), wrong), wrong, true), exact).p, 1e-6);
  }
}

// Spins against their fields: one attempt of dE = 2 each. The acceptance is that of the whole word;
// ties that are all rejected, or all accepted, are seen. 2^22 attempts.
TEST(PlaneSweepTies, AreDecidedByTheLowBits) {
  constexpr std::int64_t slots = 4096;
  constexpr std::size_t n = 1024;
  for (const double high : {94.0, 23.0, 4.0}) {
    const double beta = -std::log((high + 0.5) / 256) / 2;  // half of the ties
    SweepInputs inputs;
    inputs.model = isolated_spins(std::vector<double>(n, 1.0));
    inputs.slots = slots;
    inputs.spins.assign(n * slots, -1);
    inputs.beta = {beta};
    inputs.rung.assign(slots, 0);
    inputs.names = make_names(slots, 4, 9);
    inputs.naming = DrawNaming::planes;
    const SweepOutputs out = run_sweeps(*open_device(Device::cpu).queue, inputs);
    const auto flips = std::count(out.spins.begin(), out.spins.end(), std::int8_t{1});
    ASSERT_EQ(exact::accept_threshold(2 * beta) >> 24, static_cast<std::uint64_t>(high));
    const auto trials = static_cast<std::int64_t>(n) * slots;
    EXPECT_GT(binomial_p_value(flips, trials, std::exp(-2 * beta)), 1e-4) << beta;
    EXPECT_LT(binomial_p_value(flips, trials, high / 256), 1e-6) << beta << ": all ties rejected";
    EXPECT_LT(binomial_p_value(flips, trials, (high + 1) / 256), 1e-6) << beta << ": accepted";
  }
}

}  // namespace
}  // namespace kiln::test::plane_draws_law_test
