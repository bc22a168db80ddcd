// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The reported errors of log Z against how far estimates really are from enumerated partition
// functions: the root mean square of (estimate - exact) / error over runs that differ in their
// seed alone is 1, where errors are honest.
//
// The range is such that errors which are wrong by a factor of sqrt(2) either way fall out of it.
// Of 150 runs the root mean square is known to 6 %; seeds are fixed, so that a pass stays a pass.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/registry.hpp"

#include "backends/cpu_options.hpp"
#include "models/small_models.hpp"

namespace kiln::test::log_z_error_law_test {
namespace {

struct Model {
  Problem problem;
  std::vector<double> energies;  // of all states

  double log_z(double beta) const {
    double sum = 0;
    for (const double e : energies) sum += std::exp(-beta * e);
    return std::log(sum);
  }
};

Model enumerated(Problem problem, const std::vector<State>& states) {
  Model model{std::move(problem), {}};
  for (const State& state : states) {
    model.energies.push_back(model.problem.solution.verify(spans_of(state)));
  }
  return model;
}

Model glass() {
  return enumerated(make_ising(random_ising(10, 6, 3, 0.5), "glass"), all_states(10, true));
}

Model ring() {
  Ising model{10, std::vector<double>(10, 0.0), {}};
  for (std::int32_t i = 0; i < 9; ++i) model.couplings.push_back({i, i + 1, -1});
  model.couplings.push_back({0, 9, -1});
  return enumerated(make_ising(model, "ring"), all_states(10, true));
}

Model three_values() {
  std::vector<State> states;
  for (int number = 0; number < 2187; ++number) {
    std::vector<std::int32_t> values;
    for (int i = 0, rest = number; i < 7; ++i, rest /= 3) values.push_back(rest % 3);
    states.push_back({values});
  }
  return enumerated(make_potts({7, 3, {}, random_graph(7, 12, 2).edges}), states);
}

struct Setting {
  std::string name, schedule;
  std::map<std::string, std::string> texts;
  std::int64_t replicas = 0, sweeps = 0;
  double beta_max = 0.9;
};

// Root mean square of (estimate - exact) / error.
double calibration(const Model& model, const Setting& of, const std::string& estimate) {
  constexpr int runs = 150;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const auto schedule = builtin_registry().schedule(of.schedule).make(of.texts);
    const Result result =
        Engine(options(of.replicas, seed)).run(model.problem, *schedule, {.sweeps = of.sweeps});
    const auto& found = result.diagnostics;
    if (found.contains("beta")) {
      EXPECT_EQ(found.at("beta"), of.beta_max) << "no round was completed";
    }
    const double first = result.series.at("beta").front();
    const double exact = model.log_z(of.beta_max) - (estimate == "log_z" ? 0 : model.log_z(first));
    const double z = (found.at(estimate) - exact) / found.at("log_z_error");
    squares += z * z / runs;
  }
  return std::sqrt(squares);
}

void expect_honest(const Model& model, const Setting& setting, const std::string& estimate,
                   double least = 0.8, double most = 1.25) {
  SCOPED_TRACE(setting.name + ", " + model.problem.identity.name);
  const double found = calibration(model, setting, estimate);
  testing::Test::RecordProperty(setting.name + ' ' + model.problem.identity.name,
                                std::to_string(found));
  EXPECT_GT(found, least) << "the error is too large";
  EXPECT_LT(found, most) << "the error is too small";
  const double low = found / std::sqrt(2.0), high = found * std::sqrt(2.0);
  EXPECT_TRUE(low < least && high > most) << "or the range would not tell";
}

const std::map<std::string, std::string> cooled{{"beta_max", "0.9"}, {"polish_sweeps", "0"}};
const std::map<std::string, std::string> rungs{{"ladder", "list"}, {"betas", "0,0.3,0.6,0.9"}};

TEST(LogZErrorLaw, OfOnePopulationIsHonest) {
  for (const Model& model : {glass(), ring(), three_values()}) {
    expect_honest(model, {"one population", "population-annealing", cooled, 256, 160}, "log_z");
  }
}

TEST(LogZErrorLaw, OfAFewPopulationsIsHonest) {
  std::map<std::string, std::string> four = cooled;
  four["groups"] = "4";
  expect_honest(glass(), {"four populations", "population-annealing", four, 512, 160}, "log_z");
}

// 16 replicas each: steps that each chose by itself would put log Z off by 0.035 in all of them.
TEST(LogZErrorLaw, OfManySmallPopulationsIsHonest) {
  std::map<std::string, std::string> small = cooled;
  small["groups"] = "32";
  for (const Model& model : {glass(), three_values()}) {
    expect_honest(model, {"small populations", "population-annealing", small, 512, 400}, "log_z");
  }
}

TEST(LogZErrorLaw, SaysWhereFewReplicasChoseTheSteps) {
  const auto advice_of = [](std::int64_t replicas, std::int64_t sweeps) {
    const auto schedule = builtin_registry().schedule("population-annealing").make(cooled);
    std::string all;
    for (const std::string& line :
         Engine(options(replicas, 1)).run(glass().problem, *schedule, {.sweeps = sweeps}).advice) {
      all += line + '\n';
    }
    return all;
  };
  EXPECT_NE(advice_of(16, 4000).find("which its error does not include: only 16 replicas"),
            std::string::npos);
  EXPECT_EQ(advice_of(512, 400).find("its error does not include"), std::string::npos);
}

// No replica is copied where weights hardly differ: families tell nothing. Two populations may
// agree by chance, so the larger of two errors is theirs.
TEST(LogZErrorLaw, OfAStepThatCopiesNothingIsHonest) {
  const std::string schedule = "population-annealing";
  std::map<std::string, std::string> hot{{"beta_max", "0.01"}, {"polish_sweeps", "0"}};
  expect_honest(glass(), {"one hot population", schedule, hot, 256, 25, 0.01}, "log_z");
  hot["groups"] = "2";
  expect_honest(glass(), {"two hot ones", schedule, hot, 512, 25, 0.01}, "log_z", 0.7, 1.1);
}

// Its cells are stretches of time.
TEST(LogZErrorLaw, OfOneLadderIsHonest) {
  const std::string estimate = "log_z_difference", schedule = "parallel-tempering";
  expect_honest(three_values(), {"one ladder", schedule, rungs, 4, 800}, estimate);
  expect_honest(glass(), {"one long ladder", schedule, rungs, 4, 4000}, estimate);
}

// Its cells are ladders.
TEST(LogZErrorLaw, OfManyLaddersIsHonest) {
  for (const char* schedule : {"parallel-tempering", "replica-exchange"}) {
    expect_honest(glass(), {schedule, schedule, rungs, 256, 100}, "log_z");
  }
}

}  // namespace
}  // namespace kiln::test::log_z_error_law_test
