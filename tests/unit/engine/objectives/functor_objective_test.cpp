// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/functor_objective.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "kiln/archive.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/replica_exchange.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::test::functor_objective_test {
namespace {

struct Bowl {  // with its gradient
  double operator()(const double* x, double* gradient) const {
    if (gradient != nullptr) {
      gradient[0] = 2 * (x[0] - 1);
      gradient[1] = 8 * x[1];
    }
    return (x[0] - 1) * (x[0] - 1) + 4 * x[1] * x[1];
  }
};
struct AnyBowl {  // for any number type
  static constexpr int fixed_dimension = 2;
  template <class T>
  T operator()(const T* x) const {
    return math::square(x[0] - 1) + 4 * math::square(x[1]);
  }
};
struct Rastrigin {
  static constexpr int fixed_dimension = 10;
  template <class T>
  T operator()(const T* x) const {
    T sum = 100;
    for (int i = 0; i < 10; ++i) sum += x[i] * x[i] - 10 * math::cos(2 * math::pi * x[i]);
    return sum;
  }
};
struct NormalMean {  // mu ~ N(0, 1), 9 data with mean 2: mu | data ~ N(1.8, 0.1)
  static constexpr int fixed_dimension = 1;
  template <class T>
  Parts<T> operator()(const T* x) const {
    return {0.5 * x[0] * x[0], 4.5 * math::square(x[0] - 2)};
  }
};

EnergyParts at(const auto& functor, std::span<const double> x, std::span<double> gradient,
               int dimension, PartWeights weights = {}) {
  const auto density =
      functor::density_from<functor::fixed_dimension_of<std::decay_t<decltype(functor)>>()>(
          functor, dimension);
  return density.template evaluate<Want::both>(
      SingleTeam{}, DensityPoint{x.data(), weights, gradient.data(), nullptr});
}

TEST(FunctorObjective, TakesGradientsOfItsOwnAndForwardDuals) {
  const std::vector<double> x = {3, 0.5};
  for (const double weight : {1.0, 0.25}) {
    std::vector<double> own(2), forward(2);
    EXPECT_DOUBLE_EQ(at(Bowl{}, x, own, 2, {1, weight}).term, 5);
    EXPECT_DOUBLE_EQ(at(AnyBowl{}, x, forward, 2, {1, weight}).term, 5);
    EXPECT_DOUBLE_EQ(own[0], 4 * weight);
    EXPECT_DOUBLE_EQ(own[1], 4 * weight);
    EXPECT_EQ(own, forward);
  }
}

TEST(FunctorObjective, DifferentiatesMoreDimensionsThanOneChunk) {
  std::vector<double> x, gradient(10);
  for (int i = 0; i < 10; ++i) x.push_back(0.1 * i - 0.3);
  at(Rastrigin{}, x, gradient, 10);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(gradient[i], 2 * x[i] + 20 * math::pi * std::sin(2 * math::pi * x[i]), 1e-12);
  }
}

TEST(FunctorObjective, WeightsBothParts) {
  std::vector<double> gradient(1);
  const double x = 3;
  const EnergyParts e = at(NormalMean{}, {&x, 1}, gradient, 1, {2, 0.5});
  EXPECT_DOUBLE_EQ(e.base, 4.5);
  EXPECT_DOUBLE_EQ(e.term, 4.5);
  EXPECT_DOUBLE_EQ(gradient[0], 2 * 3 + 0.5 * 9);
  EXPECT_TRUE(make_functor_objective("m", NormalMean{})->offers<Parametric>());
  EXPECT_FALSE(make_functor_objective("b", AnyBowl{})->offers<Parametric>());
}

TEST(FunctorObjective, ReadsDataBesideTheFunctor) {
  const auto objective =
      make_functor_objective<1>("mean", with_data({1, 2, 6}, [](View1<const double> data) {
                                  return [data](const auto* x) {
                                    auto sum = 0.0 * x[0];
                                    for (std::int64_t i = 0; i < data.size; ++i)
                                      sum += math::square(x[0] - data[i]);
                                    return sum;
                                  };
                                }));
  const std::vector<double> x = {3};
  const std::vector<BlockSpan> state = {std::span<const double>(x)};
  EXPECT_DOUBLE_EQ(objective->reference()(state), 4 + 1 + 9);
  SimulatedAnnealing annealing;
  const Result result = Engine({.device = "cpu", .replicas = 32})
                            .run(make_problem(objective), annealing, {.sweeps = 400});
  EXPECT_NEAR(result.reals()[0], 3, 1e-3);
  EXPECT_TRUE(result.verified);
}

TEST(FunctorObjective, RefusesDimensionsThatDoNotFit) {
  EXPECT_EQ(complaint([] { make_functor_objective("bowl", Bowl{}, 0); }),
            "objective.dimension: objective 'bowl' cannot have 0 dimensions");
  EXPECT_EQ(complaint([] { make_functor_objective("bowl", AnyBowl{}, 3); }),
            "objective.dimension: the functor of objective 'bowl' has 2 dimensions, not 3");
  EXPECT_EQ(complaint([] { make_functor_posterior("bowl", AnyBowl{}, Parameters().real("x")); }),
            "objective.dimension: the functor of posterior 'bowl' reads 2 values, but the "
            "parameters have 1 values");
  EXPECT_EQ(complaint([] { make_functor_posterior("bowl", Bowl{}, Parameters()); }),
            "objective.dimension: posterior 'bowl' has no parameters");
}

Result solve(std::shared_ptr<const Objective> objective, Schedule& schedule, std::int64_t sweeps) {
  return Engine({.device = "cpu", .seed = 1})
      .run(make_problem(std::move(objective)), schedule, {.sweeps = sweeps});
}

TEST(FunctorObjective, IsSolvedByEverySchedule) {
  const auto rastrigin = make_functor_objective("rastrigin", Rastrigin{}, Bounds{-5.12, 5.12});
  EXPECT_TRUE(rastrigin->offers<Sweeps>());
  SimulatedAnnealing annealing;
  EXPECT_LT(solve(rastrigin, annealing, 2000).objective, 1e-3);
  ParallelTempering tempering;
  EXPECT_LT(solve(rastrigin, tempering, 4000).objective, 1e-3);
  ReplicaExchange exchange;
  EXPECT_LT(solve(rastrigin, exchange, 4000).objective, 1e-3);
  PopulationAnnealing population;
  EXPECT_LT(solve(rastrigin, population, 2000).objective, 1e-3);
}

TEST(FunctorObjective, HasNoHeatBath) {
  SimulatedAnnealingOptions options;
  options.moves = "heat-bath";
  SimulatedAnnealing annealing(options);
  EXPECT_EQ(complaint([&] { solve(make_functor_objective("bowl", AnyBowl{}), annealing, 1); }),
            "run.heat_bath: moves=heat-bath draws from all values of a variable, but block 0 of "
            "the space (real) has no finite list of values");
}

TEST(FunctorObjective, ExchangesOverTheWeightOfTheLikelihood) {
  ReplicaExchangeOptions options;
  options.coordinate = "parameter";
  options.beta_max = 1;
  options.rungs = 4;
  ReplicaExchange exchange(options);
  RunOptions run_options;
  run_options.device = "cpu";
  run_options.replicas = 4000;
  const Problem problem = make_functor_posterior("normal", NormalMean{}, Parameters().real("mu"));
  const Budget budget{.sweeps = 1000};
  kiln::Run run(problem, exchange, budget, run_options, open_backend("cpu"));
  const Result result = run.advance();
  EXPECT_GT(result.diagnostics.at("round_trips"), 100);
  // The last rung of each ladder: N(1.8, 0.1). Six standard errors of 1000 independent states.
  std::vector<double> x(4000);
  std::vector<std::int32_t> rung(4000);
  run.queue().download(x.data(), run.batch().state(0).as<double>(), x.size() * sizeof(double));
  run.queue().download(rung.data(), run.batch().rung_of().data, rung.size() * sizeof(int));
  double mean = 0, square = 0, prior = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (rung[i] % 4 == 3) mean += x[i] / 1000, square += x[i] * x[i] / 1000;
    if (rung[i] % 4 == 0) prior += x[i] * x[i] / 1000;
  }
  EXPECT_NEAR(mean, 1.8, 6 * std::sqrt(0.1 / 1000));
  EXPECT_NEAR(square - mean * mean, 0.1, 6 * 0.1 * std::sqrt(2.0 / 1000));
  EXPECT_NEAR(prior, 1, 6 * std::sqrt(2.0 / 1000)) << "lambda 0 is the prior";
}

TEST(FunctorObjective, GoesOnWhereARunWasSaved) {
  const auto rastrigin = make_functor_objective("rastrigin", Rastrigin{}, Bounds{-5.12, 5.12});
  const Problem problem = make_problem(rastrigin);
  const Budget whole{.sweeps = 64}, half{.sweeps = 32};
  const RunOptions options{.device = "cpu", .replicas = 32, .seed = 3};
  Archive archive;
  SimulatedAnnealing first, second, third;
  kiln::Run begun(problem, first, whole, options, open_backend("cpu"));
  begun.advance_to(half);
  begun.save(archive);
  kiln::Run loaded(problem, second, whole, options, open_backend("cpu"));
  loaded.load(archive);
  kiln::Run uncut(problem, third, whole, options, open_backend("cpu"));
  EXPECT_EQ(loaded.advance().solution, uncut.advance().solution);
  EXPECT_EQ(loaded.batch().read_energies(false), uncut.batch().read_energies(false));
}

TEST(HostDensity, TakesACallableWithItsGradient) {
  const auto objective =
      make_density_objective("bowl", 2, [](std::span<const double> x, std::span<double> gradient) {
        return Bowl{}(x.data(), gradient.empty() ? nullptr : gradient.data());
      });
  EXPECT_FALSE(objective->execution().cuda);
  EXPECT_TRUE(objective->offers<HamiltonianMoves>());
  EXPECT_EQ(objective->execution().pace, Pace::host);
  SimulatedAnnealing annealing;
  const Result result = solve(objective, annealing, 1000);
  EXPECT_NEAR(result.reals()[0], 1, 1e-3);
  EXPECT_NEAR(result.reals()[1], 0, 1e-3);
}

TEST(HostDensity, MakesExceptionsErrorsOfTheObjective) {
  const auto objective =
      make_density_objective("broken", 1, [](std::span<const double>, std::span<double>) -> double {
        throw std::runtime_error("no licence");
      });
  SimulatedAnnealing annealing;
  try {
    solve(objective, annealing, 10);
    FAIL() << "no error";
  } catch (const ObjectiveError& error) {
    EXPECT_EQ(error.code(), "objective.threw");
    EXPECT_EQ(error.message(), "objective 'broken' threw an exception: no licence");
  }
  EXPECT_EQ(complaint([] { make_density_objective("none", 1, EnergyAndGradient{}); }),
            "objective.empty: objective 'none' is empty");
}

TEST(HostDensity, IsCalledOnceAtATimeWhereItMust) {
  std::atomic<int> inside = 0, most = 0;
  const auto objective = make_density_objective(
      "shy", 1,
      [&](std::span<const double> x, std::span<double>) {
        const int now = ++inside;
        if (now > most) most = now;
        const double value = x[0] * x[0];
        --inside;
        return value;
      },
      {-1, 1}, false);
  SimulatedAnnealing annealing;
  Engine({.device = "cpu", .threads = 4, .replicas = 64})
      .run(make_problem(objective), annealing, {.sweeps = 20});
  EXPECT_EQ(most, 1);
}

TEST(Parameters, NameAndPlaceTheirValues) {
  const Parameters p =
      Parameters().real("mu").positive("tau", 2).interval("p", 0, 4).simplex("w", 3).ordered("c",
                                                                                             2);
  EXPECT_EQ(p.values(), 9);
  EXPECT_EQ(p.dimension(), 8);
  EXPECT_EQ(p.names(), (std::vector<std::string>{"mu", "tau[1]", "tau[2]", "p", "w[1]", "w[2]",
                                                 "w[3]", "c[1]", "c[2]"}));
  const std::vector<double> values = {-2, 0.5, 3, 1, 0.2, 0.3, 0.5, -1, 4};
  const std::vector<double> point = p.unconstrain(values);
  const std::vector<double> back = p.constrain(point);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(back[i], values[i], 1e-14);
  std::vector<double> reported(9);
  p.quantities().compute(point, reported);
  EXPECT_EQ(reported, back);
  EXPECT_EQ(p.quantities().names, p.names());
}

TEST(Parameters, RefuseWhatMakesNoSense) {
  EXPECT_EQ(complaint([] { Parameters().real(""); }),
            "parameters.name: a parameter has an empty name");
  EXPECT_EQ(complaint([] { Parameters().real("a").positive("a"); }),
            "parameters.name: two parameters have the name 'a'");
  EXPECT_EQ(complaint([] { Parameters().simplex("w", 1); }),
            "parameters.count: parameter 'w' cannot have 1 values");
  EXPECT_EQ(
      complaint([] { Parameters().interval("p", 1, 0); }),
      "parameters.bounds: the bounds of parameter 'p' are not finite numbers in ascending order");
  EXPECT_EQ(complaint([] {
              Parameters p;
              for (int i = 0; i < 17; ++i) p.real("x" + std::to_string(i));
            }),
            "parameters.blocks: parameter 'x16' exceeds the maximum of 16 parameters of a model");
  EXPECT_EQ(complaint([] {
              Parameters().real("a").constrain(std::vector<double>{1, 2});
            }),
            "parameters.size: the unconstrained point has 2 numbers");
}

// Values tau > 0 with the density of Gamma(3, 2), and w uniform on the simplex of 3: the law of the
// unconstrained coordinates must give back the means 1.5 and 1/3.
struct GammaAndShares {
  static constexpr int fixed_dimension = 4;
  template <class T>
  T operator()(const T* x) const {
    return 2 * x[0] - 2 * math::log(x[0]);
  }
};

TEST(Constrained, HasTheLawOfTheValues) {
  const Parameters parameters = Parameters().positive("tau").simplex("w", 3);
  const Problem problem = make_functor_posterior("gamma", GammaAndShares{}, parameters);
  EXPECT_TRUE(problem.posterior);
  EXPECT_EQ(problem.objective->space().variables(), 3);
  ReplicaExchangeOptions options;
  options.ladder = "list";
  options.betas = {0.9, 1};
  ReplicaExchange sampling(options);
  const Budget budget{.sweeps = 600};
  const RunOptions run_options{.device = "cpu", .replicas = 8000};
  kiln::Run run(problem, sampling, budget, run_options, open_backend("cpu"));
  run.advance();
  std::vector<std::int32_t> rung(8000);
  run.queue().download(rung.data(), run.batch().rung_of().data, rung.size() * sizeof(int));
  std::vector<std::int64_t> cold;
  for (std::size_t i = 0; i < rung.size(); ++i) {
    if (rung[i] % 2 == 1) cold.push_back(static_cast<std::int64_t>(i));
  }
  double tau = 0, share = 0, square = 0;
  for (const State& state : run.batch().read_states(cold, false)) {
    const std::vector<double> values =
        parameters.constrain(std::get<std::vector<double>>(state[0]));
    tau += values[0] / 4000;
    share += values[2] / 4000;
    square += values[3] * values[3] / 4000;
  }
  // Six standard errors: variance of tau 3/4; shares are Beta(1, 2) with mean 1/3, variance 1/18
  // and mean square 1/6.
  EXPECT_NEAR(tau, 1.5, 6 * std::sqrt(0.75 / 4000));
  EXPECT_NEAR(share, 1.0 / 3, 6 * std::sqrt(1.0 / 18 / 4000));
  EXPECT_NEAR(square, 1.0 / 6, 6 * 0.2 / std::sqrt(4000.0));
}

TEST(Constrained, PullsTheGradientBackToTheCoordinates) {
  const Parameters parameters = Parameters().positive("tau").simplex("w", 3);
  const Constrained<DualDensity<GammaAndShares, 4>> density{{}, parameters.layout()};
  std::vector<double> x = {0.3, -0.4, 0.9}, gradient(3);
  evaluate_on_host(density, x, gradient);
  for (std::size_t i = 0; i < 3; ++i) {
    const double h = 1e-5, at = x[i];
    x[i] = at + h;
    const double up = evaluate_on_host(density, x, {}).total();
    x[i] = at - h;
    const double down = evaluate_on_host(density, x, {}).total();
    x[i] = at;
    EXPECT_NEAR(gradient[i], (up - down) / (2 * h), 1e-8);
  }
}

}  // namespace
}  // namespace kiln::test::functor_objective_test
