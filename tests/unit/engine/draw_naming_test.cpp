// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/objectives/draws_planes.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "models/models.hpp"

namespace kiln::draw_naming_test {
namespace {

using test::constant;
using test::one_of;

Problem torus() {
  return make_ising(test::lattice({6, 6}, one_of({-1, 1}, 1), constant(0)), "torus");
}

// A hub whose |h| + sum |J| is `sum`.
Problem hub(std::int32_t sum) { return make_ising(test::star(sum, 3 * sum, constant(1)), "hub"); }

RunPlan plan_of(const Problem& problem, Schedule& schedule, RunOptions options) {
  return plan_run(problem, schedule, {.sweeps = 10}, options, open_backend("cpu", 1));
}

DrawNaming annealed(const Problem& problem, std::int64_t replicas, std::int64_t groups = 1,
                    const std::string& moves = "metropolis") {
  SimulatedAnnealingOptions chosen;
  chosen.groups = groups;
  chosen.moves = moves;
  SimulatedAnnealing schedule(chosen);
  RunOptions options;
  options.replicas = replicas;
  return plan_of(problem, schedule, options).draw_naming;
}

TEST(DrawNaming, IsPlanesForWholeWordsOfAGroup) {
  EXPECT_EQ(annealed(torus(), 64), DrawNaming::planes);
  EXPECT_EQ(annealed(torus(), 96, 3), DrawNaming::planes);
  EXPECT_EQ(annealed(torus(), 48), DrawNaming::words);
  EXPECT_EQ(annealed(torus(), 96, 6), DrawNaming::words) << "groups of 16";
  EXPECT_EQ(annealed(torus(), 1), DrawNaming::words);
}

// Full vectors, where sweeps decide 32 replicas together.
TEST(DrawNaming, GoesWithTheDefaultReplicasOfTheCpu) {
  const auto replicas = [](const SimulatedAnnealingOptions& chosen, const RunOptions& options,
                           int threads) {
    SimulatedAnnealing schedule(chosen);
    return plan_run(torus(), schedule, {.sweeps = 10}, options, open_backend("cpu", threads))
        .shape.replicas;
  };
  EXPECT_EQ(replicas({}, {}, 1), 512);
  EXPECT_EQ(replicas({}, {}, 2), 512);
  EXPECT_EQ(replicas({.noise = "shared"}, {}, 1), 512);
  EXPECT_EQ(replicas({.groups = 17, .noise = "shared"}, {}, 1), 17 * 32);
  EXPECT_EQ(replicas({.moves = "heat-bath"}, {}, 1), 128);
  EXPECT_EQ(replicas({}, {.draw_naming = DrawNaming::words}, 1), 128) << "as in earlier versions";
  EXPECT_EQ(replicas({}, {.replicas = 96}, 1), 96);
  ParallelTempering tempering{ParallelTemperingOptions{}};
  EXPECT_EQ(plan_of(torus(), tempering, {}).shape.replicas, 128);
}

TEST(DrawNaming, IsPlanesForSmallIntegersInColourClasses) {
  EXPECT_EQ(annealed(hub(255), 32), DrawNaming::planes);
  EXPECT_EQ(annealed(hub(256), 32), DrawNaming::words);
  const Problem reals =
      make_ising(test::lattice({6, 6}, one_of({-0.3, 1.1234567}, 2), constant(0)), "reals");
  EXPECT_EQ(annealed(reals, 32), DrawNaming::words);
  EXPECT_EQ(annealed(make_ising(test::dense(12, constant(1), constant(0)), "dense"), 32),
            DrawNaming::words)
      << "sites are swept in order";
}

// What `kiln describe INSTANCE` shows: a torus with even sides has two classes.
TEST(DrawNaming, ComesWithTheOrderOfSweeps) {
  const auto order_of = [](const Problem& problem) {
    return problem.objective->as<DrawsPlanes>()->sweep_order();
  };
  EXPECT_EQ(order_of(torus()).classes, 2);
  EXPECT_EQ(order_of(torus()).largest_sum, 4);
  EXPECT_EQ(order_of(hub(200)).classes, 2);
  EXPECT_EQ(order_of(hub(200)).largest_sum, 200);
  const Problem dense = make_ising(test::dense(12, constant(3), constant(2)), "dense");
  EXPECT_EQ(order_of(dense).classes, 0) << "one by one";
  EXPECT_EQ(order_of(dense).largest_sum, 3 * 11 + 2);
}

TEST(DrawNaming, IsWordsWhereAGroupHasSeveralTemperaturesOrAHeatBath) {
  EXPECT_EQ(annealed(torus(), 64, 1, "heat-bath"), DrawNaming::words);
  RunOptions options;
  options.replicas = 64;
  PopulationAnnealing population{PopulationAnnealingOptions{}};
  EXPECT_EQ(plan_of(torus(), population, options).draw_naming, DrawNaming::planes);
  ParallelTempering tempering{ParallelTemperingOptions{}};
  options.replicas = 0;
  EXPECT_EQ(plan_of(torus(), tempering, options).draw_naming, DrawNaming::words);
}

SimulatedAnnealing with_shared_noise(std::int64_t groups = 1) {
  SimulatedAnnealingOptions chosen;
  chosen.noise = "shared";
  chosen.groups = groups;
  return SimulatedAnnealing(chosen);
}

TEST(DrawNaming, IsSharedIfTheScheduleWantsIt) {
  SimulatedAnnealing schedule = with_shared_noise();
  EXPECT_EQ(plan_of(torus(), schedule, {.replicas = 64}).draw_naming, DrawNaming::shared);
  EXPECT_EQ(plan_of(hub(255), schedule, {.replicas = 32}).draw_naming, DrawNaming::shared);
  EXPECT_EQ(plan_of(torus(), schedule, {}).draw_naming, DrawNaming::shared) << "default replicas";
  EXPECT_EQ(
      plan_of(torus(), schedule, {.replicas = 64, .draw_naming = DrawNaming::shared}).draw_naming,
      DrawNaming::shared);
  SimulatedAnnealing grouped = with_shared_noise(3);
  EXPECT_EQ(plan_of(torus(), grouped, {.replicas = 96}).draw_naming, DrawNaming::shared);
}

// "code: message; fix", or "accepted".
std::string refusal(const Problem& problem, Schedule& schedule, const RunOptions& options) {
  try {
    plan_of(problem, schedule, options);
    return "accepted";
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message() + "; " + error.fix_steps().sentence();
  }
}

TEST(DrawNaming, IsNotSharedWhereARunCannotHaveIt) {
  const std::string without =
      "set the option noise = \"independent\", or choose a schedule or options that do not set "
      "Needs::shared_noise";
  SimulatedAnnealing schedule = with_shared_noise(), grouped = with_shared_noise(3);
  Ising thirds = test::lattice({6, 6}, one_of({-1.0 / 3, 0.7}, 1), constant(0));
  const Problem reals = make_ising(std::move(thirds), "reals");
  const Problem dense = make_ising(test::dense(12, constant(1), constant(0)), "dense");
  const Problem ring = make_ising(test::ring(21, constant(1), constant(0)), "ring");
  EXPECT_EQ(refusal(hub(256), schedule, {.replicas = 32}),
            "run.noise: this run cannot have shared noise: a variable has |h| + sum |J| = 256, and "
            "counters hold at most 255; " +
                without);
  EXPECT_EQ(refusal(reals, schedule, {.replicas = 32}),
            "run.noise: this run cannot have shared noise: the weights are no small integers; " +
                without);
  EXPECT_EQ(
      refusal(dense, schedule, {.replicas = 32}),
      "run.noise: this run cannot have shared noise: at least an eighth of all pairs are coupled, "
      "so the variables are swept one by one; " +
          without);
  EXPECT_EQ(refusal(ring, schedule, {.replicas = 32}),
            "run.noise: this run cannot have shared noise: a colouring of the 21 variables takes "
            "more than 2 colours, so the variables are swept one by one; " +
                without);
  EXPECT_EQ(
      refusal(torus(), grouped, {.replicas = 120}),
      "run.noise: this run cannot have shared noise: a group of 40 replicas is no multiple of "
      "32; set RunOptions::replicas = 192, or " +
          without);
  SimulatedAnnealing many = with_shared_noise(1000);
  EXPECT_EQ(refusal(torus(), many, {.replicas = 96}),
            "batch.groups: 96 replicas cannot be divided equally among 1000 groups; set "
            "RunOptions::replicas = 32000");
  EXPECT_EQ(refusal(torus(), schedule, {.replicas = 2147483647}),
            "run.noise: this run cannot have shared noise: a group of 2147483647 replicas is no "
            "multiple of 32; set RunOptions::replicas = 2147483616, or " +
                without);
  SimulatedAnnealing too_many = with_shared_noise(100000000);
  EXPECT_EQ(refusal(torus(), too_many, {}).substr(0, 61),
            "batch.replicas: a batch has 1 .. 2147483647 replicas, not 320");
  RunOptions given{.replicas = 32};
  given.initial_states = {State{std::vector<std::int8_t>(36, 1)}};
  EXPECT_EQ(refusal(torus(), schedule, given),
            "run.noise: shared noise excludes initial states: of 32 replicas with the same random "
            "numbers those that begin equal remain equal; " +
                without);
  for (const DrawNaming other : {DrawNaming::words, DrawNaming::planes}) {
    EXPECT_EQ(refusal(torus(), schedule, {.replicas = 32, .draw_naming = other}),
              std::string("run.draw_naming: shared noise excludes the naming of draws by ") +
                  to_string(other) + "; leave the naming of draws to Kiln, or " + without);
  }
}

// What samples, or weighs replicas against each other.
TEST(DrawNaming, IsNeverSharedByOtherSchedules) {
  const RunOptions wanted{.replicas = 64, .draw_naming = DrawNaming::shared};
  PopulationAnnealing population{PopulationAnnealingOptions{}};
  ParallelTempering tempering{ParallelTemperingOptions{}};
  SimulatedAnnealing independent;
  for (Schedule* schedule :
       {static_cast<Schedule*>(&population), static_cast<Schedule*>(&tempering),
        static_cast<Schedule*>(&independent)}) {
    EXPECT_EQ(
        refusal(torus(), *schedule, wanted),
        "run.draw_naming: the schedule has no shared noise; leave the naming of draws to Kiln")
        << schedule->name();
  }
  SimulatedAnnealingOptions heat_bath;
  heat_bath.noise = "shared";
  heat_bath.moves = "heat-bath";
  EXPECT_THROW(SimulatedAnnealing{heat_bath}, InvalidArgument);
  SimulatedAnnealingOptions one, two;
  two.noise = "shared";
  EXPECT_THROW((SimulatedAnnealing{{one, two}}), InvalidArgument);
}

TEST(DrawNaming, IsWhatTheOptionsSay) {
  RunOptions options;
  options.replicas = 64;
  options.draw_naming = DrawNaming::words;
  SimulatedAnnealing schedule;
  EXPECT_EQ(plan_of(torus(), schedule, options).draw_naming, DrawNaming::words);
  options.draw_naming = DrawNaming::planes;
  EXPECT_EQ(plan_of(torus(), schedule, options).draw_naming, DrawNaming::planes);
  options.replicas = 40;
  try {
    plan_of(torus(), schedule, options);
    FAIL() << "40 replicas are no whole words";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "run.draw_naming");
    EXPECT_NE(std::string(error.what()).find("40 replicas is no multiple of 32"), std::string::npos)
        << error.what();
  }
}

struct Annealing {
  explicit Annealing(std::optional<DrawNaming> naming)
      : problem(torus()),
        schedule(naming == DrawNaming::shared ? with_shared_noise() : SimulatedAnnealing()) {
    RunOptions options;
    options.replicas = 64;
    options.draw_naming = naming;
    run = std::make_unique<kiln::Run>(problem, schedule, Budget{.sweeps = 64}, options,
                                      open_backend("cpu", 1));
  }
  Problem problem;
  SimulatedAnnealing schedule;
  std::unique_ptr<kiln::Run> run;
};

TEST(DrawNaming, ChangesTheAnswerAndStandsInTheResult) {
  Annealing planes({}), words(DrawNaming::words), shared(DrawNaming::shared);
  const Result by_planes = planes.run->advance(), by_words = words.run->advance();
  const Result with_shared = shared.run->advance();

  EXPECT_EQ(by_planes.draw_naming, DrawNaming::planes);
  EXPECT_EQ(by_words.draw_naming, DrawNaming::words);
  EXPECT_NE(by_planes.work.accepted, by_words.work.accepted);
  EXPECT_NE(by_planes.to_json().find("\"draws\":\"planes\""), std::string::npos);
  EXPECT_NE(by_words.to_json().find("\"draws\":\"words\""), std::string::npos);
  EXPECT_EQ(with_shared.draw_naming, DrawNaming::shared);
  EXPECT_NE(with_shared.work.accepted, by_planes.work.accepted);
  EXPECT_TRUE(with_shared.verified);
  EXPECT_NE(with_shared.to_json().find("\"draws\":\"shared\""), std::string::npos);
  EXPECT_NE(with_shared.to_json().find("\"noise\":\"shared\""), std::string::npos);
}

TEST(DrawNaming, OfSharedNoiseSurvivesAnArchive) {
  Annealing first(DrawNaming::shared), again(DrawNaming::shared);
  first.run->advance_to({.sweeps = 16});
  Archive saved;
  first.run->save(saved);
  again.run->load(saved);
  EXPECT_EQ(again.run->draw_naming(), DrawNaming::shared);
  const Result expected = first.run->advance(), result = again.run->advance();
  EXPECT_EQ(result.work.accepted, expected.work.accepted);
  EXPECT_EQ(result.solution, expected.solution);
}

// Archives of versions that drew by words do not say so.
TEST(DrawNaming, IsThatOfALoadedRun) {
  Annealing words(DrawNaming::words);
  words.run->advance_to({.sweeps = 16});
  Archive saved, former;
  words.run->save(saved);
  for (const auto& [name, bytes] : saved.sections()) {
    if (name != "run.draw_naming") former.put(name, bytes);
  }
  ASSERT_LT(former.sections().size(), saved.sections().size());
  const Result expected = words.run->advance();

  for (const Archive* archive : {&saved, &former}) {
    Annealing again({});
    EXPECT_EQ(again.run->draw_naming(), DrawNaming::planes);
    again.run->load(*archive);
    EXPECT_EQ(again.run->draw_naming(), DrawNaming::words);
    const Result result = again.run->advance();
    EXPECT_EQ(result.work.accepted, expected.work.accepted);
    EXPECT_EQ(result.solution, expected.solution);
    EXPECT_EQ(result.draw_naming, DrawNaming::words);
  }
}

// What a run cannot become is refused before anything of it is lost.
TEST(DrawNaming, OfAnArchiveThatDoesNotFitLeavesTheRunAlone) {
  Annealing planes({});
  Archive saved, strange;
  planes.run->advance_to({.sweeps = 16});
  planes.run->save(saved);
  for (const auto& [name, bytes] : saved.sections()) {
    if (name != "run.draw_naming") strange.put(name, bytes);
  }
  strange.put_value("run.draw_naming", std::uint8_t{7});
  EXPECT_THROW(planes.run->load(strange), InvalidArgument) << "a naming of another version";

  const Problem problem = torus();
  const auto final_of = [&](const Archive* refused) {
    SimulatedAnnealing schedule;
    kiln::Run odd(problem, schedule, {.sweeps = 64}, {.device = "cpu", .replicas = 33},
                  open_backend("cpu"));
    const Result before = odd.advance_to({.sweeps = 16});
    if (refused != nullptr) {
      EXPECT_THROW(odd.load(*refused), InvalidArgument) << "33 replicas have no planes";
      EXPECT_EQ(odd.draw_naming(), DrawNaming::words);
    }
    Result after = odd.advance();
    EXPECT_LE(after.objective, before.objective);
    return after;
  };
  const Result untouched = final_of(nullptr), after = final_of(&saved);
  EXPECT_EQ(after.work.sweeps, 64);
  EXPECT_EQ(after.work.accepted, untouched.work.accepted);
  EXPECT_EQ(after.solution, untouched.solution);
}

// Model, schedule and number of replicas: whether that was given or is the default.
TEST(DrawNaming, OfAnArchiveIsRefusedBeforeARunIsLost) {
  Annealing planes({}), shared(DrawNaming::shared), words(DrawNaming::words);
  Archive by_planes, with_shared, by_words;
  planes.run->save(by_planes);
  shared.run->save(with_shared);
  words.run->save(by_words);
  const Problem dense = make_ising(test::dense(40, constant(1), constant(0)), "dense");
  const Problem sparse = torus();
  struct Case {
    const Problem* problem;
    const char* noise;
    const Archive* archive;
    const char* code;
  };
  const Case cases[] = {{&sparse, "independent", &with_shared, "run.draw_naming"},
                        {&sparse, "shared", &by_planes, "run.draw_naming"},
                        {&dense, "independent", &by_planes, "run.draw_naming"},
                        {&sparse, "independent", &by_words, "archive.replicas"}};
  for (const Case& c : cases) {
    SimulatedAnnealing schedule(SimulatedAnnealingOptions{.noise = c.noise});
    kiln::Run run(*c.problem, schedule, {.sweeps = 64}, {.device = "cpu"}, open_backend("cpu", 1));
    run.advance_to({.sweeps = 16});
    const DrawNaming former = run.draw_naming();
    const std::string refused = test::complaint([&] { run.load(*c.archive); });
    EXPECT_TRUE(refused.starts_with(c.code)) << c.noise << ": " << refused;
    EXPECT_EQ(run.draw_naming(), former);
    EXPECT_EQ(run.advance().work.sweeps, 64);
  }
}

// 64 replicas and 33 have the same slots.
TEST(DrawNaming, OfAnArchiveWithOtherReplicasDoesNotMatter) {
  Annealing words(DrawNaming::words);
  Archive saved, former;
  words.run->save(saved);
  for (const auto& [name, bytes] : saved.sections()) {
    if (name != "run.replicas") former.put(name, bytes);
  }
  SimulatedAnnealing schedule;
  kiln::Run odd(words.problem, schedule, {.sweeps = 64}, {.device = "cpu", .replicas = 33},
                open_backend("cpu", 1));
  const std::string refused = test::complaint([&] { odd.load(saved); });
  EXPECT_EQ(refused, "archive.replicas: the archive has 64 replicas, and the run has 33");
  EXPECT_EQ(odd.advance().work.sweeps, 64) << "nothing is lost";
  EXPECT_NO_THROW(odd.load(former)) << "archives of older versions do not say";
}

// Archives may lie on the queue of the run that takes another naming.
TEST(DrawNaming, OfALoadedRunKeepsTheQueue) {
  Annealing words(DrawNaming::words), again({});
  words.run->advance_to({.sweeps = 16});
  Archive own(again.run->queue()), saved(again.run->queue());
  again.run->save(own);
  words.run->save(saved);
  again.run->load(saved);
  EXPECT_EQ(again.run->draw_naming(), DrawNaming::words);
  again.run->load(own);
  EXPECT_EQ(again.run->draw_naming(), DrawNaming::planes);
  EXPECT_EQ(again.run->advance().solution, Annealing({}).run->advance().solution);
}

}  // namespace
}  // namespace kiln::draw_naming_test
