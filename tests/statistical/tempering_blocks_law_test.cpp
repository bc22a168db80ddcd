// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Tempering by blocks of 32 ladders leaves the Boltzmann law of each rung alone, and blocks are
// independent. Eight copies of small systems, whose energies are enumerated: chi-square of the
// final states of 4096 ladders, then mean energies and log Z of whole runs.
//
// Bound p > 1e-3 for 24 tests; seeds are fixed, so that a pass stays a pass. Planted mistakes: two
// blocks share a key, masks are shifted by one replica, energies stay where they were. The kernels
// have no switch for them: they are handed wrong keys, masks and energies.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "kiln/engine.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/kernels/exchange/word_swap.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/kernels/sweeps/pairwise_energy.hpp"

#include "chi_square.hpp"
#include "small_systems.hpp"
#include "tempering_fixtures.hpp"

namespace kiln::test::tempering_blocks_law_test {
namespace {

class TemperingBlocksLaw : public DeviceTest {};
KILN_ON_EVERY_BACKEND(TemperingBlocksLaw);

struct System {
  const char* name;
  Ising (*model)();
  std::vector<double> betas;  // gaps so wide that replicas at a wrong rung are seen
};
const System systems[] = {{"odd degrees", odd_degrees, {0.1, 0.3, 0.6, 1.1}},
                          {"even degrees", even_degrees, {0.05, 0.15, 0.3, 0.5}},
                          {"fields", mixed_integers, {0.05, 0.12, 0.22, 0.4}}};
constexpr std::int64_t rungs = 4;
constexpr std::int32_t copies = 8;

// The number of states at each energy of all copies together.
std::map<double, double> density_of_states(const Ising& model) {
  std::map<double, double> one, all{{0.0, 1.0}};
  for (std::size_t state = 0; state < small_states; ++state) {
    one[direct_energy(model, spins_of_state(state))] += 1;
  }
  for (std::int32_t copy = 0; copy < copies; ++copy) {
    std::map<double, double> more;
    for (const auto& [e, n] : all) {
      for (const auto& [e_one, n_one] : one) more[e + e_one] += n * n_one;
    }
    all = std::move(more);
  }
  return all;
}

double partition_sum(const std::map<double, double>& states, double beta) {
  double sum = 0;
  for (const auto& [e, n] : states) sum += n * std::exp(-beta * e);
  return sum;
}

enum class Mistake { none, shared_key, shifted_mask, energy_not_moved };

constexpr std::int64_t blocks = 128;
constexpr std::uint64_t rounds = 60;

/// The true energies of the final states, [slots].
class Tempering {
 public:
  Tempering(Queue& on, const System& of, std::uint64_t seed, Mistake made)
      : queue_(on),
        model_(on, problems::plan_pairwise(repeated(of.model(), copies))),
        mistake_(made),
        beta_(on, betas_of_numbers(of.betas)) {
    HostNames names = make_names(slots_, blocks, seed);
    if (made == Mistake::shared_key) {
      for (std::int64_t slot = 0; slot < slots_; ++slot) {
        const std::int64_t block = slot / (32 * rungs) / 2 * 2;
        names.key[idx(slot)] = names.key[idx(block * 32 * rungs)];
      }
    }
    key_ = DeviceArray<std::uint64_t>(on, names.key);
    replica_ = DeviceArray<std::uint32_t>(on, names.replica);
    std::vector<std::uint32_t> words(idx(variables_ * numbers_));
    for (std::int64_t block = 0; block < blocks; ++block) {  // by the key of the block
      TestRandom random(names.key[idx(block * 32 * rungs)]);
      for (std::int64_t v = 0; v < variables_; ++v) {
        for (std::int64_t r = 0; r < rungs; ++r) {
          words[idx(v * numbers_ + block * rungs + r)] =
              static_cast<std::uint32_t>(random.word() >> 32);
        }
      }
    }
    state_ = DeviceArray<std::uint32_t>(on, words);
  }

  std::vector<double> energies() {
    evaluate();
    for (std::uint64_t round = 0; round < rounds; ++round) play(round);
    tracked_ = energy_.download();
    evaluate();
    return energy_.download();
  }
  /// The energies that the sweeps and swaps have kept, [slots].
  const std::vector<double>& tracked() const { return tracked_; }

 private:
  static std::vector<std::int32_t> numbers_of_slots() {
    std::vector<std::int32_t> numbers;
    for (std::int64_t slot = 0; slot < slots_; ++slot) {
      numbers.push_back(static_cast<std::int32_t>(slot / 32));
    }
    return numbers;
  }
  static std::vector<double> betas_of_numbers(const std::vector<double>& betas) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < numbers_; ++i) all.push_back(betas[idx(i % rungs)]);
    return all;
  }
  View2<std::uint32_t> spins() { return {state_.data(), variables_, numbers_, numbers_}; }
  void evaluate() {
    queue_.launch(PairwiseEnergy{model_.view(),
                                 {state_.data(), variables_, numbers_, numbers_},
                                 energy_.view(),
                                 rung_of_.view(),
                                 {},
                                 nullptr});
  }
  void play(std::uint64_t round) {
    RunControl now;
    now.step = round;
    const DeviceArray<RunControl> control = upload_control(queue_, now);
    const DrawIds names{{key_.data(), slots_}, {replica_.data(), slots_}};
    MetropolisSweep sweep{model_.view(), spins(), energy_.view(), {}, beta_.view(), rung_of_.view(),
                          names,         1,       control.data(), 0};
    sweep.naming = DrawNaming::planes;
    queue_.launch(sweep);
    ReplicaSwap swap;
    swap.energy = {energy_.data(), slots_};
    swap.beta = beta_.view();
    swap.ladders = ladders_.view();
    swap.last_end = last_end_.view();
    swap.round_trips = trips_.view();
    swap.counts = {{attempts_.data(), rungs - 1},
                   {accepted_.data(), rungs - 1},
                   {chance_.data(), rungs - 1},
                   totals_.view()};
    swap.draw_ids = names;
    swap.control = control.data();
    swap.rungs = rungs;
    DeviceArray<double> others(queue_, energy_.download());
    const bool stay = mistake_ == Mistake::energy_not_moved;
    swap.blocks = {stay ? others.view() : energy_.view(), swapping_.view(), {}};
    queue_.launch(swap);
    if (mistake_ == Mistake::shifted_mask) {
      std::vector<std::uint32_t> masks = swapping_.download();
      for (std::uint32_t& mask : masks) mask = std::rotl(mask, 1);
      swapping_ = DeviceArray<std::uint32_t>(queue_, masks);
    }
    queue_.launch(WordSwap{spins(), {swapping_.data(), numbers_}, {}, rungs, control.data(), 1});
  }

  static constexpr std::int64_t numbers_ = blocks * rungs, slots_ = 32 * numbers_;
  static constexpr std::int64_t variables_ = small_spins * copies;
  Queue& queue_;
  DeviceModel model_;
  Mistake mistake_;
  std::vector<double> tracked_;
  DeviceArray<double> beta_;
  DeviceArray<std::uint64_t> key_;
  DeviceArray<std::uint32_t> replica_, state_;
  DeviceArray<double> energy_{queue_, slots_};
  DeviceArray<std::int32_t> rung_of_{queue_, numbers_of_slots()};
  DeviceArray<SwapLadder> ladders_{queue_, std::vector<SwapLadder>(32 * blocks)};
  DeviceArray<LadderEnd> last_end_{queue_, std::vector<LadderEnd>(slots_)};
  DeviceArray<std::uint32_t> trips_{queue_, std::vector<std::uint32_t>(slots_)};
  DeviceArray<std::uint32_t> swapping_{queue_, std::vector<std::uint32_t>(numbers_)};
  DeviceArray<std::uint64_t> attempts_{queue_, std::vector<std::uint64_t>(rungs)},
      accepted_{queue_, std::vector<std::uint64_t>(rungs)},
      chance_{queue_, std::vector<std::uint64_t>(rungs)},
      totals_{queue_, std::vector<std::uint64_t>(2)};
};

// Of the energies at a rung.
ChiSquare test_of(const std::vector<double>& energies, std::int64_t rung, double beta,
                  const std::map<double, double>& states) {
  std::map<double, std::int64_t> found;
  for (std::size_t slot = 0; slot < energies.size(); ++slot) {
    if (slot / 32 % idx(rungs) == idx(rung)) ++found[energies[slot]];
  }
  const double sum = partition_sum(states, beta);
  std::vector<std::int64_t> counts;
  std::vector<double> law;
  for (const auto& [energy, n] : states) {
    counts.push_back(found.contains(energy) ? found.at(energy) : 0);
    law.push_back(n * std::exp(-beta * energy) / sum);
  }
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 32 * blocks);
  return chi_square_test(counts, law);
}

TEST_P(TemperingBlocksLaw, IsBoltzmannOnEachRung) {
  for (const System& system : systems) {
    const std::map<double, double> states = density_of_states(system.model());
    for (const std::uint64_t seed : {1, 2}) {
      Tempering tempering(queue(), system, seed, Mistake::none);
      const std::vector<double> energies = tempering.energies();
      EXPECT_EQ(tempering.tracked(), energies);
      for (std::int64_t rung = 0; rung < rungs; ++rung) {
        const ChiSquare test = test_of(energies, rung, system.betas[idx(rung)], states);
        EXPECT_GT(test.p, 1e-3) << system.name << ", seed " << seed << ", rung " << rung
                                << ", chi-square " << test.value << " of " << test.degrees;
        EXPECT_GE(test.degrees, 4);
      }
    }
  }
}

// Energies that stay are seen by their values: the law at each rung hardly suffers, because sweeps
// lead back to it.
TEST_P(TemperingBlocksLaw, SeesMasksAndEnergiesThatDoNotBelongTogether) {
  for (const System& system : systems) {
    for (const Mistake mistake : {Mistake::shifted_mask, Mistake::energy_not_moved}) {
      Tempering tempering(queue(), system, 1, mistake);
      const std::vector<double> energies = tempering.energies();
      std::size_t wrong = 0;
      for (std::size_t slot = 0; slot < energies.size(); ++slot) {
        wrong += tempering.tracked()[slot] != energies[slot] ? 1 : 0;
      }
      EXPECT_GT(wrong, energies.size() / 2) << system.name;
      if (mistake == Mistake::energy_not_moved) continue;
      const std::map<double, double> states = density_of_states(system.model());
      double least = 1;
      for (std::int64_t rung = 0; rung < rungs; ++rung) {
        least = std::min(least, test_of(energies, rung, system.betas[idx(rung)], states).p);
      }
      EXPECT_LT(least, 1e-6) << system.name;
    }
  }
}

// The correlation of the energies at a middle rung between blocks 2 k and 2 k + 1, lane by lane.
double correlation_of_blocks(const std::vector<double>& energies) {
  constexpr std::size_t rung = 2, of_block = 32 * rungs;
  double xy = 0, xx = 0, yy = 0, mean = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      mean += energies[block * of_block + rung * 32 + lane] / (32 * blocks);
    }
  }
  for (std::size_t block = 0; block < blocks; block += 2) {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const double x = energies[block * of_block + rung * 32 + lane] - mean;
      const double y = energies[(block + 1) * of_block + rung * 32 + lane] - mean;
      xy += x * y;
      xx += x * x;
      yy += y * y;
    }
  }
  return xy / std::sqrt(xx * yy);
}

// 2048 pairs: the deviation of a correlation of independent numbers is 1 / sqrt(2048).
TEST_P(TemperingBlocksLaw, HasIndependentBlocks) {
  const System& system = systems[2];
  const double apart =
      correlation_of_blocks(Tempering(queue(), system, 3, Mistake::none).energies());
  EXPECT_LT(std::abs(apart), 4 / std::sqrt(2048.0));
  const double shared =
      correlation_of_blocks(Tempering(queue(), system, 3, Mistake::shared_key).energies());
  EXPECT_GT(shared, 0.99);
}

// Whole runs of 64 ladders: ten seeds give the errors of the means.
TEST(TemperingBlocksRun, HasTheMeanEnergiesAndLogZOfEnumeration) {
  constexpr int seeds = 10;
  for (const System& system : systems) {
    const std::map<double, double> states = density_of_states(system.model());
    const std::vector<double>& betas = system.betas;
    const Problem problem = make_ising(repeated(system.model(), copies), system.name);
    std::vector<std::vector<double>> means(betas.size());
    std::vector<double> log_z;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      ParallelTemperingOptions chosen;
      chosen.ladder = "list";
      chosen.betas = betas;
      const Result result = tempered(problem, chosen, 64 * rungs, 4000, seed);
      ASSERT_EQ(result.draw_naming, DrawNaming::planes);
      for (std::size_t r = 0; r < betas.size(); ++r) {
        means[r].push_back(result.series.at("mean_energy")[r]);
      }
      log_z.push_back(result.diagnostics.at("log_z_difference"));
    }
    const auto expect_mean = [&](const std::vector<double>& values, double exact,
                                 const std::string& what) {
      const double mean = std::accumulate(values.begin(), values.end(), 0.0) / seeds;
      double variance = 0;
      for (const double value : values) variance += (value - mean) * (value - mean);
      const double error = std::sqrt(variance / (seeds * (seeds - 1)));
      EXPECT_LT(error, 0.05) << what;
      EXPECT_NEAR(mean, exact, 4.5 * error) << system.name << ", " << what;
    };
    for (std::size_t r = 0; r < betas.size(); ++r) {
      double energy = 0;
      for (const auto& [e, n] : states) energy += e * n * std::exp(-betas[r] * e);
      expect_mean(means[r], energy / partition_sum(states, betas[r]),
                  "energy at rung " + std::to_string(r));
    }
    expect_mean(log_z,
                std::log(partition_sum(states, betas.back()) / partition_sum(states, betas[0])),
                "log Z");
  }
}

}  // namespace
}  // namespace kiln::test::tempering_blocks_law_test
