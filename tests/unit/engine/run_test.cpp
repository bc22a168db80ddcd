// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/problems/pairwise.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"

namespace kiln::run_test {
namespace {

using test::complaint;

RunOptions options(std::int64_t replicas = 40) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.replicas = replicas;
  return options;
}

// A schedule that does nothing but sweep at one temperature, and notes what it was asked.
class Sweeper : public Schedule {
 public:
  std::string name() const override { return "sweeper"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override {
    Needs needs;
    needs.sweeps_per_tick = sweeps_per_tick;
    needs.default_sweeps = 5;
    needs.descends_at_end = descends;
    return needs;
  }
  void allocate(AllocateContext& run) override {
    beta = run.scratch("beta", std::vector<double>{0.5});
    scratch_refusal = complaint([&] { run.scratch("beta", std::vector<double>{1}); });
  }
  void enqueue(TickContext& run) override {
    for (std::uint32_t s = 0; s < sweeps_per_tick; ++s) run.sweep(beta, s, true);
    run.track_best();
  }
  void descend(DescendContext&) override {
    ++finished;
    ++calls_of_finish;
  }
  void save(Archive& archive) const override { archive.put_value("sweeper", finished); }
  void load(const Archive& archive) override { finished = archive.get_value<int>("sweeper"); }

  std::uint32_t sweeps_per_tick = 4;
  bool descends = true;
  int finished = 0;         // of what a run goes on from
  int calls_of_finish = 0;  // is not saved
  View1<double> beta;
  std::string scratch_refusal;
};

struct Bench {
  explicit Bench(Problem chosen, std::int64_t replicas = 40)
      : problem(std::move(chosen)),
        run(problem, schedule, {}, options(replicas), open_backend("cpu", 1)) {}
  Problem problem;
  Sweeper schedule;
  Run run;
};

Problem ising(double unit = 1) { return make_ising(test::random_ising(40, 2, 3, unit), "ising"); }

TEST(Run, DrawsStatesAndEnergiesBeforeTheFirstTick) {
  Bench bench(ising());
  for (std::int64_t r = 0; r < 40; ++r) {
    const Replica replica = bench.run.batch()[r];
    ASSERT_EQ(bench.problem.solution.verify(spans_of(replica.state())), replica.energy());
    ASSERT_EQ(replica.best_energy(), replica.energy());
    ASSERT_EQ(replica.best_state(), replica.state());
  }
}

TEST(Run, RefusesLimitsOfACallThatNoRunCanHave) {
  Bench bench(ising());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refusal = [&](const Budget& limit) {
    return complaint([&] { bench.run.advance_to(limit); });
  };
  EXPECT_TRUE(refusal({.sweeps = -1}).starts_with("budget.sweeps: "));
  EXPECT_TRUE(refusal({.sweeps = 0}).starts_with("budget.sweeps: "));
  EXPECT_TRUE(refusal({.time_limit_s = nan}).starts_with("budget.time_limit: "));
  EXPECT_TRUE(refusal({.time_limit_s = 0.0}).starts_with("budget.time_limit: "));
  EXPECT_TRUE(refusal({.target = nan}).starts_with("budget.target: "));
  EXPECT_EQ(bench.run.advance_to({.sweeps = 8}).work.sweeps, 8) << "nothing was done before";
}

class Restorer : public Sweeper {
 public:
  void enqueue(TickContext& run) override {
    Sweeper::enqueue(run);
    run.restore_best({});
  }
};

TEST(Run, PutsReplicasBackIntoTheirBestStates) {
  Restorer schedule;
  const Problem problem = ising();
  kiln::Run run(problem, schedule, {}, options(), open_backend("cpu", 1));
  run.advance_to({.sweeps = 40});
  for (std::int64_t r = 0; r < 40; ++r) {
    const Replica replica = run.batch()[r];
    ASSERT_EQ(replica.energy(), replica.best_energy());
    ASSERT_EQ(replica.state(), replica.best_state());
  }
}

TEST(Run, BeginsInTheStatesThatItIsGiven) {
  const Problem problem = ising();
  const std::vector<std::int8_t> up(40, 1), down(40, -1);
  RunOptions chosen = options();
  chosen.initial_states = {{up}, {down}};
  Sweeper schedule;
  kiln::Run run(problem, schedule, {}, chosen, open_backend("cpu", 1));
  for (std::int64_t r = 0; r < 40; ++r) {
    const State expected{r % 2 == 0 ? up : down};
    ASSERT_EQ(run.batch()[r].state(), expected);
    ASSERT_EQ(run.batch()[r].energy(), problem.solution.verify(spans_of(expected)));
  }
  chosen.initial_states = {{std::vector<std::int8_t>(39, 1)}};
  Sweeper other;
  EXPECT_EQ(complaint([&] { kiln::Run(problem, other, {}, chosen, open_backend("cpu", 1)); }),
            "state.size: a block of a state has 39 values instead of 40");
}

// Every state of five spins is met by 320 replicas that move freely, so the list is known.
TEST(Run, ListsTheBestDistinctStates) {
  const Ising model = test::random_ising(5, 16, 3);
  const Problem problem = make_ising(model, "five");
  std::vector<std::pair<double, State>> all;
  for (const State& state : test::all_states(5, true)) {
    all.emplace_back(problem.solution.verify(spans_of(state)), state);
  }
  std::ranges::sort(all);
  RunOptions chosen = options(320);
  chosen.top = 4;
  chosen.initial_states = test::all_states(5, true);
  Sweeper schedule;
  const Result result =
      kiln::Run(problem, schedule, {}, chosen, open_backend("cpu", 1)).advance_to({.sweeps = 1});
  ASSERT_EQ(result.top.size(), 4u);
  std::int64_t replicas = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result.top[i].objective, all[i].first);
    EXPECT_GE(result.top[i].count, 10) << "ten replicas began there and kept it as their best";
    replicas += result.top[i].count;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(result.top[i].state, result.top[j].state);
  }
  EXPECT_LE(replicas, 320);
  EXPECT_EQ(result.top.front().state, result.solution);
  EXPECT_TRUE(result.verified);
  EXPECT_NE(result.to_json().find("\"top\":[{"), std::string::npos);
}

// A cut and its complement are one solution.
TEST(Run, CountsStatesThatASymmetryMakesEqualOnce) {
  const Graph path{4, {{0, 1, 1}, {1, 2, 2}, {2, 3, 4}}};
  RunOptions chosen = options(64);
  chosen.top = 100;
  Sweeper schedule;
  const Problem problem = make_maxcut(path, "path");
  const Result result =
      kiln::Run(problem, schedule, {}, chosen, open_backend("cpu", 1)).advance_to({.sweeps = 200});
  ASSERT_EQ(result.top.size(), 1u) << "all 64 have found one of the two";
  EXPECT_EQ(result.top.front().count, 64);
  EXPECT_EQ(result.top.front().objective, 7);
  EXPECT_EQ(result.spins(), (std::vector<std::int8_t>{1, -1, 1, -1}));
}

TEST(Run, EnergiesOfAllReplicasStayRight) {
  for (const double unit : {1.0, 10000.0, 1e7, 0.25, 0.1}) {
    Bench bench(ising(unit));
    bench.run.advance_to({.sweeps = 41});
    for (std::int64_t r = 0; r < 40; ++r) {
      const Replica replica = bench.run.batch()[r];
      const double energy = bench.problem.units.energy_of_stored(replica.energy());
      const double truth = bench.problem.solution.verify(spans_of(replica.state()));
      ASSERT_NEAR(energy, truth, unit == 0.1 ? 1e-12 : 0) << "unit " << unit << " replica " << r;
      const double best = bench.problem.units.energy_of_stored(replica.best_energy());
      const double best_truth = bench.problem.solution.verify(spans_of(replica.best_state()));
      ASSERT_NEAR(best, best_truth, unit == 0.1 ? 1e-12 : 0);
      ASSERT_LE(best, energy);
    }
  }
}

TEST(Run, CountsOnFromWhereItStopped) {
  Bench bench(ising());
  EXPECT_EQ(bench.run.advance_to({.sweeps = 8}).work.sweeps, 8);
  const Result result = bench.run.advance_to({.sweeps = 20});
  EXPECT_EQ(result.work.sweeps, 20) << "the budget counts all sweeps, also earlier ones";
  EXPECT_EQ(result.work.ticks, 5);
}

TEST(Run, KnowsWhenAStepWasDone) {
  Bench bench(ising());
  EXPECT_EQ(bench.run.seconds_at(5), 0) << "nothing was done yet";
  const double first = bench.run.advance_to({.sweeps = 20000}).time.run_s;
  const double all = bench.run.advance_to({.sweeps = 30000}).time.run_s;
  EXPECT_EQ(bench.run.seconds_at(0), 0);
  double before = 0;
  for (const std::uint64_t step : {1u, 100u, 10000u, 20000u, 25000u, 30000u}) {
    EXPECT_GT(bench.run.seconds_at(step), before) << step;
    before = bench.run.seconds_at(step);
  }
  EXPECT_LE(bench.run.seconds_at(20000), first);
  EXPECT_LE(bench.run.seconds_at(30000), all);
  EXPECT_EQ(bench.run.seconds_at(40000), bench.run.seconds_at(30000));
}

TEST(Run, ABudgetThatIsSpentAddsNoSweeps) {
  Bench bench(ising());
  bench.run.advance_to({.sweeps = 16});
  EXPECT_EQ(bench.run.advance_to({.sweeps = 16}).work.sweeps, 16);
  EXPECT_EQ(bench.run.advance_to({.sweeps = 4}).work.sweeps, 16);
}

TEST(Run, FinishesScheduleWhereTimeOrTheUserEndedIt) {
  Bench bench(ising());
  bench.run.advance_to({.sweeps = 8});
  EXPECT_EQ(bench.schedule.calls_of_finish, 0);
  bench.run.advance_to({.time_limit_s = 0.01});
  EXPECT_EQ(bench.schedule.calls_of_finish, 1);
  EXPECT_EQ(bench.schedule.finished, 0) << "what it noted is of the copy";

  Sweeper other;
  other.descends = false;
  kiln::Run run(bench.problem, other, {}, options(), open_backend("cpu", 1));
  run.advance_to({.time_limit_s = 0.01});
  EXPECT_EQ(other.calls_of_finish, 0);
}

TEST(Run, ASweepLimitWithinATickCutsTheTick) {
  Bench bench(ising());
  const Result six = bench.run.advance_to({.sweeps = 6});
  const Problem problem = ising();
  Sweeper one_by_one;
  one_by_one.sweeps_per_tick = 1;
  kiln::Run single(problem, one_by_one, {}, options(), open_backend("cpu", 1));
  single.advance_to({.sweeps = 4});
  for (std::int64_t r = 0; r < 40; ++r) {
    ASSERT_EQ(bench.run.batch()[r].state(), single.batch()[r].state()) << r;
    ASSERT_EQ(bench.run.batch()[r].energy(), single.batch()[r].energy()) << r;
  }
  const Result also_six = single.advance_to({.sweeps = 6});
  EXPECT_EQ(six.work.sweeps, 6);
  EXPECT_EQ(six.work.accepted, also_six.work.accepted);
}

TEST(Run, RefusesScratchUnderANameThatIsTaken) {
  Bench bench(ising());
  EXPECT_EQ(bench.schedule.scratch_refusal, "run.scratch: scratch 'beta' exists already");
}

struct Hungry : Sweeper {
  explicit Hungry(std::int64_t elements) : size(elements) {}
  void allocate(AllocateContext& run) override { run.scratch_zeros<double>("much", size); }
  std::int64_t size;
};

TEST(Run, RefusesScratchOfASizeThatNoMemoryHas) {
  const Problem problem = ising();
  for (const std::int64_t size :
       {std::int64_t{-1}, std::int64_t{-1000000}, std::int64_t{1} << 60, std::int64_t{1} << 61}) {
    Hungry schedule(size);
    EXPECT_TRUE(complaint([&] {
                  kiln::Run(problem, schedule, {}, options(), open_backend("cpu", 1));
                }).starts_with("run.scratch: scratch memory 'much' cannot have "))
        << size;
  }
}

TEST(Run, SavesTheScheduleAndItsScratch) {
  Bench bench(ising());
  bench.schedule.finished = 7;
  Archive archive;
  bench.run.save(archive);
  EXPECT_TRUE(archive.has("run.control"));
  EXPECT_EQ(archive.get<double>("scratch.beta"), std::vector<double>{0.5});

  Bench other(ising());
  other.run.load(archive);
  EXPECT_EQ(other.schedule.finished, 7);
}

TEST(Run, RefusesAnArchiveOfAnotherRun) {
  Bench bench(ising());
  Archive archive;
  bench.run.save(archive);
  Bench more_replicas(ising(), 96);
  Bench other_problem(make_ising(test::random_ising(41, 2, 3)));
  EXPECT_TRUE(complaint([&] { more_replicas.run.load(archive); }).starts_with("archive.replicas"));
  EXPECT_TRUE(complaint([&] { other_problem.run.load(archive); }).starts_with("archive.size"));
  EXPECT_TRUE(complaint([&] { bench.run.load(Archive{}); }).starts_with("archive.missing"));
}

TEST(Run, TimeLimitsCountTheTimeOfOneAdvance) {
  Bench bench(ising());
  const double first_s = bench.run.advance_to({.time_limit_s = 0.05}).time.run_s;
  double left = -1;
  const Result result =
      bench.run.advance_to({.time_limit_s = 10.0}, {[&](const ReportPoint& point) {
                             left = point.time_left_s;
                             return Next::stop;
                           }});
  EXPECT_GT(result.time.run_s, 0.05);
  EXPECT_LE(left, 10.0);
  EXPECT_GE(left, 10.0 - (result.time.run_s - first_s)) << "earlier calls do not count";
}

// Rounds of 30 sweeps in ticks of 6; a stop at 40 falls into the middle of a tick.
TEST(Run, AStopInTheMiddleOfATickMovesNoRestart) {
  const Problem problem = ising();
  SimulatedAnnealingOptions annealing;
  annealing.anneal_sweeps = 30;
  SimulatedAnnealing whole(annealing), cut(annealing);
  const Budget budget{.time_limit_s = 60.0, .sweeps = 120};
  kiln::Run whole_run(problem, whole, budget, options(), open_backend("cpu", 1));
  kiln::Run cut_run(problem, cut, budget, options(), open_backend("cpu", 1));

  whole_run.advance();
  cut_run.advance_to({.sweeps = 40});
  cut_run.advance_to({.sweeps = 41});
  cut_run.advance();

  EXPECT_EQ(cut_run.batch().read_energies(false), whole_run.batch().read_energies(false));
  EXPECT_EQ(cut_run.batch().read_accepted(), whole_run.batch().read_accepted());
}

}  // namespace
}  // namespace kiln::run_test
