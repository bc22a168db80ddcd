// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

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
  explicit Annealing(std::optional<DrawNaming> naming) : problem(torus()) {
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
  Annealing planes({}), words(DrawNaming::words);
  const Result by_planes = planes.run->advance(), by_words = words.run->advance();

  EXPECT_EQ(by_planes.draw_naming, DrawNaming::planes);
  EXPECT_EQ(by_words.draw_naming, DrawNaming::words);
  EXPECT_NE(by_planes.work.accepted, by_words.work.accepted);
  EXPECT_NE(by_planes.to_json().find("\"draws\":\"planes\""), std::string::npos);
  EXPECT_NE(by_words.to_json().find("\"draws\":\"words\""), std::string::npos);
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

}  // namespace
}  // namespace kiln::draw_naming_test
