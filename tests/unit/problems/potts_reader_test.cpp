// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Formats potts and col. Bad texts with their messages stand in tests/fuzz/corpus.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/readers.hpp"

#include "bad_text.hpp"

namespace kiln::potts_reader_test {
namespace {

using problems::detect_format;

Potts potts(const std::string& text, ReadReport* report = nullptr) {
  std::istringstream in(text);
  return problems::read_potts(in, "f", report);
}

Coloring col(const std::string& text, ReadReport* report = nullptr, std::int32_t colors = 0) {
  std::istringstream in(text);
  ReaderOptions options;
  options.colors = colors;
  return problems::read_col(in, "f", report, options);
}

TEST(PottsReader, ReadsFieldsAndCouplingsInAnyOrder) {
  const std::string text =
      "c two kinds of lines\np potts 3 4 2 2\n2 0 -1.5\nh 1 3 2\nh 0 0 1\n0 1 1\n";

  const Potts model = potts(text);

  EXPECT_EQ(model, (Potts{3, 4, {{0, 0, 1.0}, {1, 3, 2.0}}, {{0, 1, 1.0}, {0, 2, -1.5}}}));
  EXPECT_EQ(potts(test::crlf(text)), model);
}

TEST(PottsReader, MergesRepeatedTermsDropsZerosAndSaysSo) {
  ReadReport report;

  const Potts model = potts("p potts 3 2 2 3\nh 1 1 2\nh 1 1 -2\n1 0 1\n0 1 4\n2 0 0\n", &report);

  EXPECT_EQ(model, (Potts{3, 2, {}, {{0, 1, 5.0}}}));
  EXPECT_EQ(report.duplicates_merged, 2);
  ASSERT_EQ(report.notes.size(), 1u);
}

TEST(PottsReader, SaysWhatItExpected) {
  try {
    potts("p potts 3 2 1 0\nh 1 2 5\n");
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.message(), "f:2:5: value '2' is outside 0 .. 1");
    EXPECT_EQ(error.issues()[0].expected,
              "h <i> <value> <amount>, variables and values counted from 0");
  }
}

TEST(PottsReader, DoesNotAllocateWhatAHeaderPromises) {
  const auto refusal = [](const char* text) {
    return test::refusal([](std::istream& in, const char* name) { problems::read_potts(in, name); },
                         text);
  };
  EXPECT_EQ(refusal("p potts 2147483647 127 1 1\nh 2147483646 126 1\n0 1 1\n"),
            "f:3: the header gives 2147483647 variables, but the file has only 2 terms");
  EXPECT_EQ(potts("p potts 1048704 2 1 1\nh 1048703 1 0\n0 1 1\n").n, 1048704);
  EXPECT_EQ(refusal("p potts 1048705 2 1 1\nh 1048703 1 0\n0 1 1\n"),
            "f:3: the header gives 1048705 variables, but the file has only 2 terms");
}

// Fields take a number for each value of each variable.
TEST(PottsReader, DoesNotAllocateTheFieldsThatAHeaderPromises) {
  const auto refusal = [](const char* text) {
    return test::refusal([](std::istream& in, const char* name) { problems::read_potts(in, name); },
                         text);
  };
  EXPECT_EQ(potts("p potts 524352 2 1 1\nh 0 1 1\n0 1 1\n").fields.size(), 1u);
  EXPECT_EQ(refusal("p potts 524353 2 1 1\nh 0 1 1\n0 1 1\n"),
            "f:3: the header gives 1048706 variables times values, but the file has only 2 terms");
}

// Terms of 0 are dropped, so lines of them let the reader believe in idle variables.
TEST(PottsWriter, AddsLinesForIdleVariables) {
  const Potts idle{1048576 + 3 * 64, 3, {}, {{0, 1, 1.0}}};
  std::stringstream text;

  problems::write_potts(text, idle);

  EXPECT_EQ(text.str(), "p potts 1048768 3 2 1\nh 0 0 0\nh 0 0 0\n0 1 1\n");
  EXPECT_EQ(problems::read_potts(text, "f"), idle);

  const Potts fields{100000, 127, {{7, 126, -1.5}}, {{0, 1, 1.0}}};
  std::stringstream long_text;
  problems::write_potts(long_text, fields);
  EXPECT_EQ(problems::read_potts(long_text, "f"), fields);
}

TEST(ColReader, DoesNotAllocateWhatAHeaderPromises) {
  const auto refusal = [](const char* text) {
    return test::refusal([](std::istream& in, const char* name) { problems::read_col(in, name); },
                         text);
  };
  EXPECT_EQ(refusal("p edge 2147483647 1\ne 1 2147483647\n"),
            "f:2: the header gives 2147483647 vertices, but the file has only 1 edges");
  EXPECT_EQ(refusal("p edge 1048641 2\ne 1 2\ne 2 1\ne 5 5\n"),
            "f:4: the header gives 1048641 vertices, but the file has only 1 edges");
  EXPECT_EQ(col("p edge 1048640 1\ne 1 1048640\n").graph.n_vertices, 1048640);
}

TEST(PottsWriter, WritesTextThatReadsBackEqual) {
  Potts model = problems::potts_torus(5, 7, 4, 3);
  model.fields = {{3, 1, 0.1}, {3, 2, -1e300}, {34, 3, 4.9e-324}};
  std::stringstream text;

  problems::write_potts(text, model, {"a comment\nof two lines"});

  EXPECT_EQ(problems::read_potts(text, "f"), model);
}

TEST(PottsWriter, RefusesWhatIsNotCanonical) {
  std::ostringstream text;
  const Potts unsorted{3, 2, {{1, 0, 1.0}, {0, 0, 1.0}}, {}};
  const Potts zero{3, 2, {}, {{0, 1, 0.0}}};

  EXPECT_THROW(problems::write_potts(text, unsorted), InvalidArgument);
  EXPECT_THROW(problems::write_potts(text, zero), InvalidArgument);
  EXPECT_TRUE(text.str().empty());
}

TEST(ColReader, KeepsEachEdgeOnceAndDropsLoops) {
  ReadReport report;

  const Coloring coloring =
      col("c x\np edge 3 6\nn 1 4\ne 2 1\ne 1 2\n\ne 1 2\ne 3 3\ne 3 2\n", &report, 5);

  EXPECT_EQ(coloring, (Coloring{{3, {{0, 1, 1.0}, {1, 2, 1.0}}}, 5}));
  EXPECT_EQ(report.duplicates_merged, 2);
  EXPECT_EQ(report.notes, (std::vector<std::string>{
                              "number of repeated edges that Kiln left out: 2",
                              "number of edges from a vertex to itself that Kiln left out: 1",
                              "the header counts 6 edges, but the file has 5 edge lines"}));
}

TEST(ColReader, HasNothingToSayAboutACleanFile) {
  ReadReport report{5, {"old"}};

  col("p col 2 1\ne 1 2\n", &report);

  EXPECT_EQ(report.duplicates_merged, 0);
  EXPECT_TRUE(report.notes.empty());
}

TEST(ColReader, KeepsFiveIssuesAndCountsThemAll) {
  std::string text = "p edge 3 9\n";
  for (int i = 0; i < 9; ++i) text += "e 1 4\n";
  try {
    col(text);
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.total(), 9);
    EXPECT_EQ(error.issues().size(), 5u);
    EXPECT_EQ(error.issues()[0].expected, "e <vertex> <vertex>, vertices counted from 1");
  }
}

TEST(ColWriter, WritesTextThatReadsBackEqual) {
  const Coloring coloring{problems::queen_graph(6), 0};
  std::stringstream text;

  problems::write_col(text, coloring, {"queen 6"});

  EXPECT_EQ(problems::read_col(text, "f"), coloring);
}

TEST(PottsFormats, AreToldByNameAndByTheHeader) {
  EXPECT_EQ(detect_format("a/queen5_5.col", ""), Format::col);
  EXPECT_EQ(detect_format("a/queen5_5.COL.gz", ""), Format::col);
  EXPECT_EQ(detect_format("m.potts", ""), Format::potts);
  EXPECT_EQ(detect_format("-", "c x\n\np edge 3 3\n"), Format::col);
  EXPECT_EQ(detect_format("-", "p edges 3 3\n"), Format::col);
  EXPECT_EQ(detect_format("-", "p potts 3 3 0 0\n"), Format::potts);
  EXPECT_THROW(detect_format("-", "p cnf 3 3\n"), ParseError);
}

TEST(PottsFormats, RefuseModelsOfAnotherKind) {
  std::ostringstream text;
  const Model model = problems::potts_torus(3, 3, 3, 1);
  const Model coloring = Coloring{problems::queen_graph(3), 5};

  EXPECT_THROW(problems::write_model(text, model, Format::col), InvalidArgument);
  EXPECT_THROW(problems::write_model(text, coloring, Format::rudy), InvalidArgument);
  EXPECT_TRUE(text.str().empty());
}

}  // namespace
}  // namespace kiln::potts_reader_test
