// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Heat-bath sweeps of objectives that can only be evaluated as a whole.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "chi_square.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::run_heat_bath_test {
namespace {

using test::complaint;
using test::options;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Two categories of three values, a spin, and integers -1 .. 1: 54 states.
constexpr std::size_t states = 54;

double energy_of(int a, int b, int spin, int number) {
  constexpr std::array row = {0.3, -0.2, 0.9, 1.1, 0.0, -0.7, 0.4, 0.8, -0.1};
  return row[static_cast<std::size_t>(3 * a + b)] + 0.6 * spin * (a - 1) +
         0.5 * number * (b + 1 - spin);
}

Space mixed_space() {
  return Space({{BlockKind::category, 2, 0, 2},
                {BlockKind::spin, 1, -1, 1},
                {BlockKind::integer, 1, -1, 1}});
}

std::array<int, 4> values_of(StateSpan state) {
  const auto categories = std::get<std::span<const std::int32_t>>(state[0]);
  return {categories[0], categories[1], std::get<std::span<const std::int8_t>>(state[1])[0],
          std::get<std::span<const std::int32_t>>(state[2])[0]};
}

Problem mixed(const std::function<double(double)>& shaped = {}) {
  Problem problem;
  problem.identity.name = "mixed";
  problem.objective = make_host_objective("mixed", mixed_space(), [shaped](StateSpan state) {
    const auto [a, b, spin, number] = values_of(state);
    const double energy = energy_of(a, b, spin, number);
    return shaped ? shaped(energy) : energy;
  });
  return problem;
}

std::vector<double> boltzmann(double beta) {
  std::vector<double> law;
  for (int i = 0; i < static_cast<int>(states); ++i) {
    law.push_back(
        std::exp(-beta * energy_of(i / 18, i / 6 % 3, i / 3 % 2 == 0 ? -1 : 1, i % 3 - 1)));
  }
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  return law;
}

// Sweeps at one temperature.
class HeatBath : public Schedule {
 public:
  explicit HeatBath(double beta, bool asks = true) : beta_(beta), asks_(asks) {}
  std::string name() const override { return "heat_bath"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override {
    Needs needs;
    needs.default_sweeps = 5;
    needs.heat_bath = asks_;
    return needs;
  }
  void allocate(AllocateContext& run) override {
    view_ = run.scratch("beta", std::vector<double>{beta_});
  }
  void enqueue(TickContext& run) override {
    run.sweep(view_, 0, true, SweepRule::heat_bath);
    run.track_best();
  }

 private:
  double beta_;
  bool asks_;
  View1<double> view_;
};

// Counts of the states of all replicas after 20 sweeps.
std::vector<std::int64_t> histogram(double beta, std::uint64_t seed) {
  const Problem problem = mixed();
  HeatBath schedule(beta);
  kiln::Run run(problem, schedule, {}, options(20000, seed), open_backend("cpu", 1));
  run.advance_to({.sweeps = 20});
  std::vector<std::int64_t> counts(states, 0);
  for (std::int64_t r = 0; r < 20000; ++r) {
    const Replica replica = run.batch()[r];
    const State state = replica.state();
    const std::vector<BlockSpan> spans = spans_of(state);
    const auto [a, b, spin, number] = values_of(spans);
    EXPECT_EQ(replica.energy(), energy_of(a, b, spin, number)) << "energies are of the drawn value";
    ++counts[static_cast<std::size_t>(18 * a + 6 * b + 3 * ((spin + 1) / 2) + number + 1)];
  }
  return counts;
}

// Three seeds at p > 1e-3; a beta that is wrong by a fifth gives p < 1e-6.
TEST(RunHeatBath, HasTheBoltzmannLaw) {
  const std::vector<double> law = boltzmann(0.8);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const test::ChiSquare result = test::chi_square_test(histogram(0.8, seed), law);
    EXPECT_GT(result.p, 1e-3) << "seed " << seed << ", chi-square " << result.value;
  }
  EXPECT_LT(test::chi_square_test(histogram(0.96, 1), law).p, 1e-6);
}

TEST(RunHeatBath, TakesTheLeastOfEachVariableAtZeroTemperature) {
  const Problem problem = mixed();
  HeatBath schedule(infinity);
  kiln::Run run(problem, schedule, {}, options(40), open_backend("cpu", 1));
  const std::vector<double> before = run.batch().read_energies(false);
  run.advance_to({.sweeps = 6});
  for (std::int64_t r = 0; r < 40; ++r) {
    EXPECT_LE(run.batch()[r].energy(), before[static_cast<std::size_t>(r)]);
    const State state = run.batch()[r].state();
    const std::vector<BlockSpan> spans = spans_of(state);
    const auto [a, b, spin, number] = values_of(spans);
    for (int other = 0; other < 3; ++other) {
      EXPECT_LE(energy_of(a, b, spin, number), energy_of(other, b, spin, number));
      EXPECT_LE(energy_of(a, b, spin, number), energy_of(a, b, spin, other - 1));
    }
  }
}

// A value counts as accepted where it differs from that before.
TEST(RunHeatBath, CountsChanges) {
  const Problem problem = mixed();
  HeatBath schedule(0);
  kiln::Run run(problem, schedule, {}, options(2000), open_backend("cpu", 1));
  run.advance_to({.sweeps = 10});
  std::uint64_t accepted = 0;
  for (const std::uint64_t n : run.batch().read_accepted()) accepted += n;
  // Two thirds of the changes of three values, half of those of two: 2.5 a sweep and replica.
  EXPECT_NEAR(static_cast<double>(accepted) / 20000, 2.5, 0.05);
}

TEST(RunHeatBath, NeverTakesAnEnergyThatIsNotFiniteAndCountsThem) {
  const Problem problem = mixed([](double e) { return e > 0.5 ? std::nan("") : e; });
  HeatBath schedule(0.5);
  kiln::Run run(problem, schedule, {}, options(100), open_backend("cpu", 1));
  const Result result = run.advance_to({.sweeps = 5});
  for (std::int64_t r = 0; r < 100; ++r) EXPECT_LE(run.batch()[r].energy(), 0.5);
  EXPECT_GT(result.work.not_finite, 0u);

  const Problem hopeless = mixed([](double) { return infinity; });
  HeatBath again(0.5);
  kiln::Run none(hopeless, again, {}, options(32), open_backend("cpu", 1));
  const State before = none.batch()[3].state();
  EXPECT_THROW(none.advance_to({.sweeps = 5}), ObjectiveError);
  EXPECT_EQ(none.batch()[3].state(), before);
}

TEST(RunHeatBath, RefusesBlocksWithoutAListOfValues) {
  const auto refusal = [](const Space& space) {
    Problem problem;
    problem.objective = make_host_objective("f", space, [](StateSpan) { return 0.0; });
    SimulatedAnnealingOptions annealing;
    annealing.moves = "heat-bath";
    SimulatedAnnealing schedule(annealing);
    return complaint([&] { Engine(options(32)).run(problem, schedule, {.sweeps = 2}); });
  };
  EXPECT_TRUE(
      refusal(Space::reals(3, 0, 1))
          .starts_with("run.heat_bath: moves=heat-bath draws from all values of a variable, "
                       "but block 0 of the space (real) has no finite list of values"))
      << refusal(Space::reals(3, 0, 1));
  EXPECT_NE(refusal(Space::permutation(5)).find("(permutation)"), std::string::npos);
  EXPECT_NE(refusal(Space::integers(2, 0, 64)).find("block 0 of the space (integer) has 65"),
            std::string::npos);
  EXPECT_NE(refusal(Space({{BlockKind::spin, 2, -1, 1}, {BlockKind::real, 1, 0, 1}}))
                .find("block 1 of the space (real)"),
            std::string::npos);
  EXPECT_EQ(refusal(Space::integers(2, 0, 63)), "accepted");
}

TEST(RunHeatBath, MustBeAmongTheNeedsOfTheSchedule) {
  const Problem problem = mixed();
  HeatBath schedule(1, false);
  EXPECT_TRUE(complaint([&] {
                kiln::Run run(problem, schedule, {}, options(32), open_backend("cpu", 1));
                run.advance_to({.sweeps = 2});
              }).starts_with("run.heat_bath: a heat-bath sweep was enqueued"));
}

TEST(RunHeatBath, GoesOnFromAnArchiveAsIfItHadNeverStopped) {
  const Problem problem = mixed();
  HeatBath a(0.7), b(0.7), c(0.7);
  kiln::Run whole(problem, a, {}, options(50), open_backend("cpu", 1));
  whole.advance_to({.sweeps = 12});
  Archive archive;
  kiln::Run first(problem, b, {}, options(50), open_backend("cpu", 1));
  first.advance_to({.sweeps = 5});
  first.save(archive);
  kiln::Run second(problem, c, {}, options(50), open_backend("cpu", 2));
  second.load(archive);
  second.advance_to({.sweeps = 12});
  EXPECT_EQ(second.batch().read_energies(false), whole.batch().read_energies(false));
  EXPECT_EQ(second.batch().read_accepted(), whole.batch().read_accepted());
  for (std::int64_t r = 0; r < 50; ++r) {
    EXPECT_EQ(second.batch()[r].state(), whole.batch()[r].state());
  }
}

TEST(RunHeatBath, AnnealsAPottsRingToItsGroundState) {
  Problem problem;
  problem.objective = make_host_objective(
      "potts", Space::categories(12, 5),
      std::function<double(std::span<const std::int32_t>)>([](std::span<const std::int32_t> s) {
        double energy = 0;
        for (std::size_t i = 0; i < 12; ++i) {
          energy -= s[i] == s[(i + 1) % 12] ? 1 : 0;
        }
        return energy;
      }));
  SimulatedAnnealingOptions annealing;
  annealing.moves = "heat-bath";
  annealing.beta_min = 0.1;
  annealing.beta_max = 6;
  SimulatedAnnealing schedule(annealing);
  const Result result = Engine(options(32)).run(problem, schedule, {.sweeps = 60});
  EXPECT_EQ(result.energy, -12);
  EXPECT_EQ(result.parameters.at("moves"), "heat-bath");
}

}  // namespace
}  // namespace kiln::run_heat_bath_test
