// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tables of language models and queries; further bad texts stand in tests/fuzz/corpus/routing.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"

#include "bad_text.hpp"
#include "multi_objective/discrete.hpp"

namespace kiln::routing_reader_test {
namespace {

using problems::read_routing;
using test::BadText;

RoutingTable read(const std::string& text) {
  std::istringstream in(text);
  return read_routing(in, "f");
}

constexpr const char* small_text =
    "# a comment, with a comma\n"
    "kinds,easy,hard\n"
    "\n"
    "query,chat,3,1000,200,easy\n"
    "model,a,1,2.5,0.5,100,0.9,0.5\n"
    "model, b b ,10,2e1,+1, 50,0.95,\t0.75 \n"
    "query,proof,1,4000,0,hard\n"
    "budget,0.25\n"
    "latency_limit,4";

void expect_small(const RoutingTable& table) {
  EXPECT_EQ(table.kinds, (std::vector<std::string>{"easy", "hard"}));
  ASSERT_EQ(table.models.size(), 2U);
  EXPECT_EQ(table.models[0].name, "a");
  EXPECT_EQ(table.models[0].price_in, 1);
  EXPECT_EQ(table.models[0].price_out, 2.5);
  EXPECT_EQ(table.models[0].first_token, 0.5);
  EXPECT_EQ(table.models[0].tokens_per_s, 100);
  EXPECT_EQ(table.models[0].quality, (std::vector<double>{0.9, 0.5}));
  EXPECT_EQ(table.models[1].name, "b b");
  EXPECT_EQ(table.models[1].price_out, 20);
  EXPECT_EQ(table.models[1].first_token, 1);
  EXPECT_EQ(table.models[1].quality, (std::vector<double>{0.95, 0.75}));
  ASSERT_EQ(table.queries.size(), 2U);
  EXPECT_EQ(table.queries[0].name, "chat");
  EXPECT_EQ(table.queries[0].count, 3);
  EXPECT_EQ(table.queries[0].tokens_in, 1000);
  EXPECT_EQ(table.queries[0].tokens_out, 200);
  EXPECT_EQ(table.queries[0].kind, 0);
  EXPECT_EQ(table.queries[1].kind, 1);
  EXPECT_EQ(table.budget, 0.25);
  EXPECT_EQ(table.latency_limit, 4);
}

TEST(RoutingReader, ReadsModelsQueriesAndLimits) {
  expect_small(read(small_text));
  expect_small(read(test::crlf(small_text)));
  expect_small(read("\xef\xbb\xbf" + std::string(small_text) + "\n"));
  const RoutingTable free = read("kinds,k\nmodel,m,0,0,0,1,0\nquery,q,1,0,0,k\n");
  EXPECT_EQ(free.budget, 0);
  EXPECT_EQ(free.latency_limit, 0);
}

TEST(RoutingReader, ReadsTheSample) {
  const std::string path = KILN_SOURCE_DIR "/apps/examples/route_models/models.csv";
  const Problem problem = problems::routing_by_name(path);
  EXPECT_EQ(problem.identity.name, "route:" + path);
  EXPECT_EQ(problem.objective->space().blocks(),
            (std::vector<Block>{{BlockKind::category, 24, 0, 7}}));
  EXPECT_TRUE(problem.objectives->constrained);
  const auto values = [&](std::int32_t model) {
    const State state{std::vector<std::int32_t>(24, model)};
    return problem.objectives->evaluate(spans_of(state));
  };
  // The limit rules the best model out, and each of the others is better at something.
  EXPECT_GT(values(7).violation, 0);
  EXPECT_EQ(values(0).violation, 0);
  EXPECT_LT(values(0).values[0], values(2).values[0]);
  EXPECT_LT(values(2).values[1], values(0).values[1]);
  EXPECT_LT(values(6).values[2], values(5).values[2]);
}

TEST(RoutingReader, AFileThatIsNotThereIsNoTable) {
  try {
    problems::routing_by_name("/nowhere/models.csv");
    FAIL() << "accepted";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), "io.read");
    EXPECT_EQ(error.message(), "/nowhere/models.csv: cannot be read");
  }
}

class RoutingReaderRefuses : public testing::TestWithParam<BadText> {};

TEST_P(RoutingReaderRefuses, WithTheMessage) {
  EXPECT_EQ(test::refusal(read_routing, GetParam().text), GetParam().message);
}

const BadText bad_texts[] = {
    {"Empty", "", "f: there are no kinds of queries"},
    {"OnlyComments", "# a\n\n", "f: there are no kinds of queries"},
    {"NoModel", "kinds,k\nquery,q,1,1,1,k\n", "f: there is no model"},
    {"NoQuery", "kinds,k\nmodel,m,1,1,1,1,1\n", "f: there are no queries"},
    {"AnotherLine", "kinds,k\nprice,m,1\n", "f:2:1: a line begins with 'price'"},
    {"EmptyFirstCell", "kinds,k\n,m,1\n", "f:2:1: a line begins with ''"},
    {"ModelsFirst", "model,m,1,1,1,1,1\n", "f:1:1: this model comes before the line of kinds"},
    {"KindsTwice", "kinds,a\nkinds,b\n", "f:2:1: this is a second line of kinds"},
    {"KindsWithoutNames", "kinds\n", "f:1: the line names no kinds"},
    {"KindWithoutName", "kinds,a,,b\n", "f:1:9: the kind has no name"},
    {"KindNamedTwice", "kinds,a,b,a\n", "f:1:11: the kind 'a' appears twice"},
    {"MissingColumn", "kinds,k,l\nmodel,m,1,1,1,1,1\n",
     "f:2: the line should have 8 values and has 7"},
    {"TooManyColumns", "kinds,k\nquery,q,1,1,1,k,\n",
     "f:2: the line should have 6 values and has 7"},
    {"NotANumber", "kinds,k\nmodel,m,1,1,1,fast,1\n",
     "f:2:15: tokens_per_s 'fast' is not a number"},
    {"NaN", "kinds,k\nmodel,m,1,1,1,1,nan\n", "f:2:17: quality 'nan' is not a finite number"},
    {"Infinite", "kinds,k\nmodel,m,1,inf,1,1,1\n",
     "f:2:11: price_out 'inf' is not a finite number"},
    {"MissingValue", "kinds,k\nmodel,m,,1,1,1,1\n", "f:2:9: price_in '' is not a number"},
    {"NegativePrice", "kinds,k\nmodel,m, -1,1,1,1,1\n", "f:2:10: price_in '-1' is negative"},
    {"NoSpeed", "kinds,k\nmodel,m,1,1,1,0,1\n", "f:2:15: tokens_per_s '0' is not above 0"},
    {"ModelWithoutName", "kinds,k\nmodel,,1,1,1,1,1\n", "f:2:7: the model has no name"},
    {"ModelTwice", "kinds,k\nmodel,m,1,1,1,1,1\nmodel,m,2,2,2,2,2\n",
     "f:3:7: the model 'm' appears twice"},
    {"ControlCharacter", "kinds,k\nmodel,a\x1b[2J,1,1,1,1,1\n",
     "f:2:7: the name of the model has a control character"},
    {"QueryTwice", "kinds,k\nquery,q,1,1,1,k\nquery,q,1,1,1,k\n",
     "f:3:7: the query 'q' appears twice"},
    {"UnknownKind", "kinds,k\nquery,q,1,1,1,hard\n", "f:2:15: the kind 'hard' is not known"},
    {"NoQueriesInARow", "kinds,k\nquery,q,0,1,1,k\n",
     "f:2:9: count '0' is outside 1 .. 1000000000000"},
    {"FarTooMany", "kinds,k\nquery,q,99999999999999999999,1,1,k\n",
     "f:2:9: count '99999999999999999999' is outside 1 .. 1000000000000"},
    {"PartOfAQuery", "kinds,k\nquery,q,1.5,1,1,k\n", "f:2:9: count '1.5' is not a whole number"},
    {"NegativeTokens", "kinds,k\nquery,q,1,1,-2,k\n", "f:2:13: tokens_out '-2' is negative"},
    {"NoBudget", "budget,0\n", "f:1:8: budget '0' is not above 0"},
    {"BudgetTwice", "budget,1\nbudget,1\n", "f:2:1: this is a second budget"},
    {"LimitWithoutValue", "latency_limit\n", "f:1: the line should have 2 values and has 1"},
};

INSTANTIATE_TEST_SUITE_P(All, RoutingReaderRefuses, testing::ValuesIn(bad_texts),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(RoutingReader, ListsFiveComplaintsAndCountsAll) {
  std::string text = "kinds,k\n";
  for (int i = 0; i < 7; ++i) text += "query,q" + std::to_string(i) + ",1,-1,1,k\n";
  std::istringstream in(text);
  try {
    read_routing(in, "f");
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.total(), 7);
    ASSERT_EQ(error.issues().size(), 5U);
    EXPECT_EQ(error.issues()[4].line, 6);
    EXPECT_EQ(error.issues()[4].expected, "query,NAME,count,tokens_in,tokens_out,KIND");
  }
}

TEST(RoutingReader, NamesTheKindsThatThereAre) {
  std::istringstream in("kinds,easy,hard\nquery,q,1,1,1,harder\n");
  try {
    read_routing(in, "f");
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.issues().front().expected, "one of easy, hard");
  }
}

TEST(RoutingReader, HasALimitOfKinds) {
  std::string text = "kinds";
  for (int i = 0; i < 257; ++i) text += ",k" + std::to_string(i);
  EXPECT_EQ(test::refusal(read_routing, text), "f:1: the line names 257 kinds");
}

}  // namespace
}  // namespace kiln::routing_reader_test
