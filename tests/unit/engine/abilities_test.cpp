// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Abilities of objectives: what is promised before an objective is bound is what it can do after,
// and schedules get what they require. And phases: what a schedule must not call does not compile.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"
#include "kiln/objectives/dense_gaussian.hpp"

#include "backends/claimed_objective.hpp"
#include "backends/cpu_options.hpp"
#include "backends/cpu_queue.hpp"
#include "models/coloring_graphs.hpp"
#include "models/small_models.hpp"

namespace kiln::abilities_test {
namespace {

using test::complaint;

/// What a bound objective offers but did not promise, and the other way round.
std::string differences(const Objective& objective, BoundObjective& bound, int& seen) {
  std::string wrong;
  const auto compare = [&]<class A>(const A* offered) {
    seen += offered != nullptr ? 1 : 0;
    if ((offered != nullptr) != objective.offers<A>()) {
      wrong += std::string(A::interface_name) + (offered != nullptr ? " unsaid; " : " missing; ");
    }
  };
  compare(bound.as<Evaluates>());
  compare(bound.as<Sweeps>());
  compare(bound.as<VectorValued>());
  compare(bound.as<Differentiates>());
  compare(bound.as<HamiltonianMoves>());
  compare(bound.as<NoUTurnMoves>());
  compare(bound.as<Descends>());
  compare(bound.as<Parametric>());
  compare(bound.as<PairwiseModelled>());
  compare(bound.as<Watchable>());
  return wrong;
}

std::vector<Problem> problems_of_every_kind() {
  const auto family = [](const std::string& name, const std::string& parameters) {
    return builtin_registry().problem(name).make(parameters);
  };
  return {make_maxcut(test::random_graph(12, 3, 5), "cut"),
          make_coloring({problems::queen_graph(5), 5}),
          make_coloring({problems::queen_graph(5), Coloring::fewest}),
          family("function", "rastrigin-3"),
          family("posterior", "eight-schools"),
          family("zdt", "1,5"),
          scalarized(family("zdt", "1,5"), {}),
          make_problem(make_dense_gaussian("normal", {2, 0, 0, 1}, 2, 8)),
          make_problem(make_host_objective("host", Space::reals(2, 0, 1),
                                           [](std::span<const double> x) { return x[0] + x[1]; }))};
}

TEST(Abilities, AreThoseThatWerePromised) {
  const auto queue = open_backend("cpu", 1).backend->make_queue();
  int offered = 0;
  for (const Problem& problem : problems_of_every_kind()) {
    const auto bound = problem.objective->bind(*queue);
    EXPECT_EQ(differences(*problem.objective, *bound, offered), "") << problem.identity.name;
  }
  EXPECT_GT(offered, 20) << "a test that sees nothing";
  // The test can fail.
  const Problem liar = test::problem_of_a_gpu("liar");
  EXPECT_EQ(differences(*liar.objective, *liar.objective->bind(*queue), offered),
            "evaluate missing; metropolis_sweep missing; ");
}

/// An ability that Kiln does not know, and an objective that has it.
class CountsOnes {
 public:
  static constexpr std::string_view interface_name = "count of ones";
  virtual std::int64_t ones() const = 0;

 protected:
  ~CountsOnes() = default;
};

class BoundCounter final : public Offers<BoundObjective, Evaluates, CountsOnes> {
 public:
  void evaluate(const EvaluateArgs& args, Queue&) override {
    for (std::int64_t slot = 0; slot < args.batch.replicas(); ++slot) args.energy[slot] = 1;
  }
  std::int64_t ones() const override { return 7; }
};

class Counter final : public Objective {
 public:
  std::string name() const override { return "counter"; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return {.layouts = {Layout::i8}}; }
  InterfaceSet abilities() const override { return BoundCounter::interfaces(); }
  std::unique_ptr<BoundObjective> bind(Queue&) const override {
    return std::make_unique<BoundCounter>();
  }
  std::function<double(StateSpan)> reference() const override {
    return [](StateSpan) { return 1.0; };
  }

 private:
  Space space_ = Space::spins(4);
};

class AsksForOnes : public Schedule {
 public:
  std::string name() const override { return "asks"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override {
    Needs needs;
    needs.default_sweeps = 2;
    needs.pacing = Pacing::host;
    needs.require<CountsOnes>("it counts ones", "count zeros instead");
    return needs;
  }
  void allocate(AllocateContext&) override {}
  void enqueue(TickContext& run) override {
    seen = run.objective<CountsOnes>().ones();
    refusal = complaint([&] { run.objective<Sweeps>(); });
    run.track_best();
  }
  std::int64_t seen = 0;
  std::string refusal;
};

TEST(Abilities, OfPlugInsAreRequiredLikeThoseOfKiln) {
  AsksForOnes schedule;
  const Problem counter = make_problem(std::make_shared<Counter>());
  EXPECT_TRUE(Engine({.device = "cpu", .replicas = 32}).run(counter, schedule).verified);
  EXPECT_EQ(schedule.seen, 7);
  EXPECT_EQ(schedule.refusal,
            "objective.ability: objective 'counter' does not offer metropolis_sweep");
  const Problem cut = make_maxcut(test::random_graph(12, 3, 5), "cut");
  try {
    Engine({.device = "cpu", .replicas = 32}).run(cut, schedule);
    FAIL() << "an objective without the ability was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "objective.ability");
    EXPECT_NE(error.message().find("does not offer count of ones"), std::string::npos);
    EXPECT_EQ(error.expected(), "it counts ones");
    EXPECT_EQ(error.fix(), "count zeros instead");
  }
}

TEST(Abilities, OfAScheduleAreAskedForInTheSameWay) {
  const auto as_schedule = [](auto&& made) { return std::unique_ptr<Schedule>(std::move(made)); };
  const auto annealing = as_schedule(std::make_unique<SimulatedAnnealing>());
  const auto bayes = as_schedule(std::make_unique<BayesianOptimization>());
  const auto pareto = as_schedule(std::make_unique<Evolutionary>());
  const auto models = as_schedule(std::make_unique<BayesianFront>());
  EXPECT_EQ(annealing->as<ProducesFront>(), nullptr);
  EXPECT_EQ(annealing->as<TakesPastEvaluations>(), nullptr);
  EXPECT_NE(bayes->as<EndsAtEvaluations>(), nullptr);
  EXPECT_NE(bayes->as<TakesPastEvaluations>(), nullptr);
  EXPECT_NE(pareto->as<ProducesFront>(), nullptr);
  EXPECT_EQ(pareto->as<TakesPastEvaluations>(), nullptr);
  EXPECT_NE(models->as<ProducesFront>(), nullptr);
  EXPECT_NE(models->as<TakesPastEvaluations>(), nullptr);
}

/// Promises sweeps, but binds what has none.
class Liar final : public Objective {
 public:
  std::string name() const override { return "liar"; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return {.layouts = {Layout::i8}}; }
  InterfaceSet abilities() const override {
    InterfaceSet all = BoundCounter::interfaces();
    all.add<Sweeps>();
    return all;
  }
  std::unique_ptr<BoundObjective> bind(Queue&) const override {
    return std::make_unique<BoundCounter>();
  }

 private:
  Space space_ = Space::spins(4);
};

TEST(Abilities, ThatAreNotThereAreRefusedWhenTheObjectiveIsBound) {
  SimulatedAnnealing schedule;
  const Problem liar = make_problem(std::make_shared<Liar>());
  EXPECT_EQ(complaint([&] { Engine({.device = "cpu", .replicas = 32}).run(liar, schedule, {}); }),
            "objective.ability: objective 'liar' declares the ability metropolis_sweep, but its "
            "bound objective does not implement this ability");
}

/// Asks too early for what only its program knows.
struct AsksInAPlan final : AsksForOnes {
  void allocate(AllocateContext& run) override { seen = run.objective<CountsOnes>().ones(); }
};

TEST(Abilities, OfPlugInsAreNotThereWhereAPlanCounts) {
  AsksInAPlan schedule;
  const Problem counter = make_problem(std::make_shared<Counter>());
  EXPECT_EQ(complaint([&] { Engine({.device = "cpu", .replicas = 32}).run(counter, schedule); }),
            "run.counts_only: a plan that counts memory cannot use the ability count of ones of "
            "objective 'counter'");
}

template <class Context>
concept Allocates = requires(Context& run) {
  run.template scratch_zeros<int>("a", 1);
};
template <class Context>
concept Works = requires(Context& run) {
  run.redraw({});
};
template <class Context>
concept EndsTicks = requires(Context& run) {
  run.end_tick();
};
template <class Context>
concept TellsBest = requires(Context& run) {
  run.best_energies();
};

TEST(Phases, KeepCallsApart) {
  static_assert(Allocates<AllocateContext> && !Works<AllocateContext>);
  static_assert(!Allocates<InitializeContext> && Works<InitializeContext>);
  static_assert(!Allocates<TickContext> && Works<TickContext> && !EndsTicks<TickContext>);
  static_assert(EndsTicks<DescendContext> && Works<DescendContext> && !TellsBest<DescendContext>);
  static_assert(TellsBest<ReportContext> && !Works<ReportContext> && !Allocates<ReportContext>);
  static_assert(!Works<kiln::Run> && !Allocates<kiln::Run> && !EndsTicks<kiln::Run>);
}

}  // namespace
}  // namespace kiln::abilities_test
