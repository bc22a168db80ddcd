// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "backends/cpu_queue.hpp"
#include "bad_text.hpp"

namespace kiln::coo_reader_test {
namespace {

using problems::detect_format;
using problems::read_coo;
using problems::write_coo;

using Model = std::variant<Ising, Qubo>;

Model parse(const std::string& text, ReadReport* report = nullptr,
            const ReaderOptions& options = {}) {
  std::istringstream in(text);
  return read_coo(in, "f", report, options);
}

std::string refusal(std::string_view text, const ReaderOptions& options = {}) {
  return test::refusal(
      [&](std::istream& in, const char* name) { read_coo(in, name, nullptr, options); }, text);
}

const Ising spins{4, {0.5, 0, 0, -1}, {{0, 1, 1}, {1, 3, -2.25}}, 0};
constexpr std::string_view spins_text =
    "# vartype=SPIN\n"
    "# fields first\n"
    "0 0 0.5\n"
    "3 3 -1\n"
    "0 1 1\n"
    "3 1 -2.25\n";

TEST(CooReader, ReadsSpins) { EXPECT_EQ(parse(std::string(spins_text)), Model(spins)); }

TEST(CooReader, ReadsBits) {
  EXPECT_EQ(parse("# vartype=BINARY\n0 0 -3\n0 2 1e-3\n"),
            Model(Qubo{3, {-3, 0, 0}, {{0, 2, 0.001}}, 0}));
}

TEST(CooReader, ReadsCopiesAlike) {
  EXPECT_EQ(parse(test::crlf(spins_text)), Model(spins));
  EXPECT_EQ(parse("\xef\xbb\xbf" + std::string(spins_text)), Model(spins));
  EXPECT_EQ(parse(std::string(spins_text.substr(0, spins_text.size() - 1))), Model(spins));
  EXPECT_EQ(parse("\n #vartype = spin\n\n0\t0 +.5 \n 3 3 -1\n0 1 1.\n1 3 -2.25\n\n"), Model(spins));
}

TEST(CooReader, DoesNotDropWhatOtherReadersDrop) {
  // A published pattern skips every one of these lines without a word.
  EXPECT_EQ(parse("# vartype=SPIN\n0 1 1e-3\n0 2 -1.\n"),
            Model(Ising{3, {0, 0, 0}, {{0, 1, 0.001}, {0, 2, -1}}, 0}));
}

TEST(CooReader, AddsTheLowerTriangleToItsMirrorAndSaysSo) {
  ReadReport report;

  const Model model = parse("# vartype=BINARY\n0 1 2\n1 0 3\n1 1 1\n1 1 4\n", &report);

  EXPECT_EQ(model, Model(Qubo{2, {0, 5}, {{0, 1, 5}}, 0}));
  EXPECT_EQ(report.duplicates_merged, 2);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0], "number of repeated terms whose coefficients Kiln added up: 2");
}

TEST(CooReader, TheLargestIndexTellsTheSize) {
  EXPECT_EQ(std::get<Ising>(parse("# vartype=SPIN\n9 9 0\n")).n, 10);
  EXPECT_EQ(std::get<Qubo>(parse("# vartype=BINARY\n7 2 0\n")),
            (Qubo{8, std::vector<double>(8, 0.0), {}, 0}));
}

TEST(CooReader, TheUserMaySayTheVarType) {
  EXPECT_EQ(parse("0 1 1\n", nullptr, {VarType::spin}), Model(Ising{2, {0, 0}, {{0, 1, 1}}, 0}));
  EXPECT_EQ(parse("0 1 1\n", nullptr, {VarType::binary}), Model(Qubo{2, {0, 0}, {{0, 1, 1}}, 0}));
  EXPECT_EQ(parse(std::string(spins_text), nullptr, {VarType::spin}), Model(spins));
  EXPECT_EQ(refusal(spins_text, {VarType::binary}),
            "f:1:1: the file says vartype=SPIN, but BINARY was requested");
}

TEST(CooReader, NeverGuessesTheVarType) {
  EXPECT_EQ(refusal("0 1 1\n"),
            "f:1: no line before this line states whether the variables are spins or bits");
  EXPECT_EQ(refusal("0 1 1\n# vartype=SPIN\n"),
            "f:1: no line before this line states whether the variables are spins or bits");
}

TEST(CooReader, DoesNotAllocateWhatAnIndexPromises) {
  EXPECT_EQ(refusal("# vartype=SPIN\n0 2147483646 1\n"),
            "f:2: the largest variable is 2147483646, but the file has only 1 terms");
  EXPECT_EQ(refusal("# vartype=SPIN\n0 2147483647 1\n"),
            "f:2:3: variable '2147483647' is outside 0 .. 2147483646");
}

TEST(CooReader, LeavesTheReportAloneWhenItRefuses) {
  ReadReport report{7, {"old"}};

  EXPECT_THROW(parse("# vartype=SPIN\n0 1 1\n0 1 2\n0 1 x\n", &report), ParseError);

  EXPECT_EQ(report.duplicates_merged, 7);
  EXPECT_EQ(report.notes.size(), 1U);
}

std::string written(const auto& model, const std::vector<std::string>& comments = {}) {
  std::ostringstream text;
  write_coo(text, model, comments);
  return text.str();
}

TEST(CooWriter, WritesTextThatReadsBackEqual) {
  EXPECT_EQ(parse(written(spins)), Model(spins));
  const Qubo qubo{3, {0.1, 0.0, -1e300}, {{0, 1, 1e-310}, {1, 2, -7.0}}, 0.0};
  EXPECT_EQ(parse(written(qubo)), Model(qubo));
}

TEST(CooWriter, NamesTheLastVariable) {
  EXPECT_EQ(written(Qubo{3, {1, 0, 0}, {}, 0}), "# vartype=BINARY\n0 0 1\n2 2 0\n");
  EXPECT_EQ(written(Ising{1, {0}, {}, 0}), "# vartype=SPIN\n0 0 0\n");
}

TEST(CooWriter, ManyIdleVariablesReadBack) {
  const auto n = std::int32_t{1} << 21;
  const Ising ising{n, std::vector<double>(static_cast<std::size_t>(n)), {{5, 6, 1}}, 0};

  EXPECT_EQ(parse(written(ising)), Model(ising));
}

TEST(CooWriter, ACommentStaysAComment) {
  const std::string text = written(spins, {"vartype=BINARY", "one\n0 1 9"});

  EXPECT_EQ(text.substr(0, text.find("0 0")), "# vartype=SPIN\n## vartype=BINARY\n## one 0 1 9\n");
  EXPECT_EQ(parse(text), Model(spins));
}

TEST(CooWriter, RefusesWhatTheFormatCannotHold) {
  EXPECT_EQ(test::complaint([] {
              written(Ising{1, {1}, {}, 2});
            }),
            "problem.offset: the COO format cannot store an offset");
  EXPECT_EQ(test::complaint([] { written(Qubo{}); }),
            "problem.size: the COO format cannot store a model of 0 variables");
  EXPECT_EQ(test::complaint([] {
              written(Ising{2, {0, 0}, {{1, 0, 1}}, 0});
            }),
            "problem.not_canonical: the Ising model is not in canonical form at coupling (1, 0)");
}

TEST(IsingData, CanonicalFormSortsMergesAndDropsZeros) {
  Ising ising{3, {}, {{2, 0, 4}, {1, 2, 3}, {0, 1, 0}, {2, 1, -3}}, -0.0};

  EXPECT_EQ(problems::canonicalize(ising), 1);
  EXPECT_EQ(ising, (Ising{3, {0, 0, 0}, {{0, 2, 4}}, 0}));
  EXPECT_EQ(problems::canonical_text(Ising{3, {0, -1.5, 0}, {{0, 2, 4}}, 2}),
            "spin 3\n1 1 -1.5\n0 2 4\noffset 2\n");
  EXPECT_NE(problems::fingerprint(Ising{2, {0, 0}, {{0, 1, 1}}, 0}),
            problems::fingerprint(Qubo{2, {0, 0}, {{0, 1, 1}}, 0}));
}

TEST(IsingData, RefusesWhatCannotBeAndKeepsIt) {
  Ising ising{2, {0, 0}, {{0, 2, 1}}, 0};

  EXPECT_EQ(test::complaint([&] { problems::canonicalize(ising); }),
            "problem.range: edge 0 (0, 2) names a vertex that does not exist; the number of "
            "vertices is 2");
  EXPECT_EQ(ising.couplings.size(), 1U);
  EXPECT_EQ(test::complaint([] {
              Ising wrong{2, {1}, {}, 0};
              problems::canonicalize(wrong);
            }),
            "problem.size: an Ising model of 2 spins has 1 fields");
  EXPECT_EQ(test::complaint([] {
              problems::fingerprint(Ising{1, {std::nan("")}, {}, 0});
            }),
            "problem.value: field 0 is not finite");
}

TEST(Models, AreWrittenInFormatsThatHoldThem) {
  using problems::native_format;
  using problems::write_model;
  const kiln::Model models[] = {Graph{2, {{0, 1, 1}}}, Qubo{1, {1}, {}, 0}, spins};
  const bool allowed[3][3] = {{true, false, false}, {false, true, true}, {false, false, true}};
  const Format all[] = {Format::rudy, Format::qubo, Format::coo};
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(native_format(models[m]), all[m]);
    for (std::size_t f = 0; f < 3; ++f) {
      std::stringstream text;
      if (!allowed[m][f]) {
        EXPECT_THROW(write_model(text, models[m], all[f]), InvalidArgument);
        continue;
      }
      write_model(text, models[m], all[f], {"made here"});
      EXPECT_EQ(problems::read_model(all[f], text, "f"), models[m]);
    }
  }
}

TEST(Formats, CooIsToldByTheSuffixAndByItsComments) {
  EXPECT_EQ(detect_format("a.coo", ""), Format::coo);
  EXPECT_EQ(detect_format("A.ISING.gz", ""), Format::coo);
  EXPECT_EQ(detect_format("-", "# vartype=SPIN\n0 1 1\n"), Format::coo);
  EXPECT_EQ(detect_format("x.txt", "\n# by hand\n0 1 1\n"), Format::coo);
}

}  // namespace
}  // namespace kiln::coo_reader_test
