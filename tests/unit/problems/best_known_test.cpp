// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/best_known.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"

#include "models/gset_check.hpp"

namespace kiln::best_known_test {
namespace {

using problems::best_known;
using problems::best_known_by_fingerprint;
using problems::best_known_cut;
using problems::best_known_qubo;
using problems::best_known_qubo_by_fingerprint;

TEST(BestKnown, KnowsEveryInstanceOfTheGsetByNameAndByFingerprint) {
  for (const test::GsetCheck& check : test::gset_checks) {
    const auto by_name = best_known_cut(check.name);
    const auto by_fingerprint = best_known_by_fingerprint(check.sha256_16);

    ASSERT_TRUE(by_name.has_value()) << check.name;
    ASSERT_TRUE(by_fingerprint.has_value()) << check.name;
    EXPECT_EQ(by_fingerprint->name, check.name);
    EXPECT_EQ(by_fingerprint->value, *by_name);
    EXPECT_FALSE(by_fingerprint->source.empty()) << check.name;
  }
}

TEST(BestKnown, NoCutExceedsTheNumberOfEdges) {
  for (const test::GsetCheck& check : test::gset_checks) {
    // With weights +1 and -1 only the positive ones can add to a cut.
    const auto n_positive = static_cast<double>(check.n_edges + check.weight_sum) / 2.0;

    EXPECT_LE(best_known_cut(check.name), n_positive) << check.name;
  }
}

TEST(BestKnown, HoldsTheNewerAndTheCorrectedValues) {
  EXPECT_EQ(best_known_cut("G1"), 11624);
  EXPECT_EQ(best_known_cut("G25"), 13340);
  EXPECT_EQ(best_known_cut("G47"), 6657);
  EXPECT_EQ(best_known_cut("G48"), 6000);
  EXPECT_EQ(best_known_cut("G50"), 5880);
  EXPECT_EQ(best_known_cut("G63"), 27047);
  EXPECT_EQ(best_known_cut("G70"), 9595);
  EXPECT_EQ(best_known_cut("G72"), 7008);
  EXPECT_EQ(best_known_cut("G77"), 9940);
  EXPECT_EQ(best_known_cut("G81"), 14060);
}

TEST(BestKnown, RecognizesAGeneratedGraph) {
  const auto best = best_known_by_fingerprint(problems::fingerprint(problems::gset("G12")));

  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->name, "G12");
  EXPECT_EQ(best->value, 556);
}

// A wrong size in the table would hide the instance.
TEST(BestKnown, RecognizesTheModelsThemselves) {
  for (const test::GsetCheck& check : test::gset_checks) {
    const auto best = best_known(problems::gset(check.name));

    ASSERT_TRUE(best.has_value()) << check.name;
    EXPECT_EQ(best->name, check.name);
  }
  Graph with_an_isolated_vertex = problems::gset("G1");  // which has the same fingerprint
  ++with_an_isolated_vertex.n_vertices;
  ASSERT_TRUE(best_known(with_an_isolated_vertex).has_value());
  EXPECT_EQ(best_known(with_an_isolated_vertex)->name, "G1");
  EXPECT_EQ(make_maxcut(with_an_isolated_vertex).known.best, 11624);

  Qubo qubo = problems::palubeckis("p3000.1");
  problems::canonicalize(qubo);
  const auto best = best_known(qubo);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->name, "p3000.1");

  ++qubo.linear.front();
  EXPECT_FALSE(best_known(qubo).has_value()) << "of a known size, but another function";
  EXPECT_FALSE(best_known(problems::torus_pm1(50, 30, 1)).has_value());
}

TEST(BestKnown, KnowsTheThirtySmallBeasleyInstances) {
  const std::set<std::string> sizes{"50", "100", "250"};
  for (const std::string& size : sizes) {
    for (int k = 1; k <= 10; ++k) {
      EXPECT_TRUE(best_known_qubo("bqp" + size + "_" + std::to_string(k)).has_value()) << size << k;
    }
  }
  EXPECT_EQ(best_known_qubo("bqp50_1"), 2098);
  EXPECT_EQ(best_known_qubo("bqp250_10"), 40442);
}

TEST(BestKnown, KeepsGraphsAndFunctionsApart) {
  const auto best = best_known_qubo_by_fingerprint("74748c57ece9165a");

  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->name, "bqp50_1");
  EXPECT_EQ(best->value, 2098);
  EXPECT_FALSE(best_known_by_fingerprint("74748c57ece9165a").has_value());
  for (const test::GsetCheck& check : test::gset_checks) {
    EXPECT_FALSE(best_known_qubo_by_fingerprint(check.sha256_16).has_value()) << check.name;
  }
}

TEST(BestKnown, SaysNothingAboutStrangers) {
  EXPECT_FALSE(best_known_cut("G68").has_value());
  EXPECT_FALSE(best_known_cut("bqp50_1").has_value());
  EXPECT_FALSE(best_known_cut("").has_value());
  EXPECT_FALSE(best_known_qubo("G1").has_value());
  EXPECT_FALSE(best_known_by_fingerprint("0000000000000000").has_value());
  EXPECT_FALSE(best_known_by_fingerprint("").has_value());
}

}  // namespace
}  // namespace kiln::best_known_test
