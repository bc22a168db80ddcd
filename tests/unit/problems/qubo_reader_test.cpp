// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "bad_text.hpp"

namespace kiln::qubo_reader_test {
namespace {

using namespace std::string_view_literals;
using problems::detect_format;
using problems::format_by_name;
using problems::read_qubo;
using test::BadText;

Qubo parse(const std::string& text, ReadReport* report = nullptr) {
  std::istringstream in(text);
  return read_qubo(in, "f", report);
}

std::string refusal(std::string_view text) {
  return test::refusal([](std::istream& in, const char* name) { read_qubo(in, name); }, text);
}

const Qubo small{4, {99.0, 0.0, -48.5, 0.0}, {{0, 1, 2.0}, {1, 3, -6.0}}, 0.0};
constexpr std::string_view small_text =
    "c a small example\n"
    "p qubo 0 4 2 2\n"
    "c nodes first\n"
    "0 0 99.0\n"
    "2 2 -48.5\n"
    "c\n"
    "0 1 2\n"
    "1 3 -6.0\n";

TEST(QuboReader, ReadsDiagonalAndCouplings) { EXPECT_EQ(parse(std::string(small_text)), small); }

TEST(QuboReader, AcceptsCouplingsBeforeDiagonal) {
  EXPECT_EQ(parse("p qubo 0 4 2 2\n1 3 -6\n2 2 -48.5\n0 1 2\n0 0 99\n"), small);
}

TEST(QuboReader, AcceptsBlanksTabsAndBlankLines) {
  EXPECT_EQ(parse("\n p\tqubo 0  4 2 2 \n\n0 0 99\n\t2 2 -48.5 \n0\t1 2\n\n1 3 -6 \n\n"), small);
}

TEST(QuboReader, ReadsACopyWithCarriageReturnsAlike) {
  EXPECT_EQ(parse(test::crlf(small_text)), small);
}

TEST(QuboReader, ReadsACopyWithByteOrderMarkAlike) {
  EXPECT_EQ(parse("\xef\xbb\xbf" + std::string(small_text)), small);
}

TEST(QuboReader, ReadsACopyWithoutLastLineFeedAlike) {
  EXPECT_EQ(parse(std::string(small_text.substr(0, small_text.size() - 1))), small);
}

TEST(QuboReader, DoesNotDropValuesWithExponents) {
  EXPECT_EQ(parse("p qubo 0 2 1 1\n0 0 1e-3\n0 1 -2.5E+1\n"),
            (Qubo{2, {0.001, 0.0}, {{0, 1, -25.0}}, 0.0}));
}

TEST(QuboReader, TakesTheWordUnconstrainedForTheTopology) {
  EXPECT_EQ(parse("p qubo unconstrained 1 1 0\n0 0 3\n"), (Qubo{1, {3.0}, {}, 0.0}));
}

TEST(QuboReader, MergesRepeatedTermsAndSaysSo) {
  ReadReport report;

  const Qubo qubo = parse("p qubo 0 2 3 2\n0 0 1\n0 0 2\n1 1 4\n0 1 1\n0 1 1.5\n", &report);

  EXPECT_EQ(qubo, (Qubo{2, {3.0, 4.0}, {{0, 1, 2.5}}, 0.0}));
  EXPECT_EQ(report.duplicates_merged, 2);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0], "number of repeated terms whose coefficients Kiln added up: 2");
}

TEST(QuboReader, AcceptsUnusedVariables) {
  const Qubo qubo = parse("p qubo 0 872760 1 0\n7 7 1\n");

  EXPECT_EQ(qubo.n, 872760);
  EXPECT_EQ(qubo.linear.size(), 872760U);
}

TEST(QuboReader, AcceptsAFunctionWithoutTerms) {
  EXPECT_EQ(parse("p qubo 0 2 0 0\n"), (Qubo{2, {0.0, 0.0}, {}, 0.0}));
  EXPECT_EQ(parse("p qubo 0 0 0 0\n"), Qubo{});
}

TEST(QuboReader, DoesNotAllocateWhatAHeaderPromises) {
  EXPECT_EQ(refusal("p qubo 0 2147483647 1 0\n0 0 1\n"),
            "f:2: the header gives 2147483647 variables, but the file has only 1 terms");
  EXPECT_EQ(refusal("p qubo 0 2 0 1099511627776\n0 1 1\n"),
            "f:2: the number of couplings is 1099511627776 in the header, but 1 in the file");
}

class QuboReaderRefusal : public testing::TestWithParam<BadText> {};

TEST_P(QuboReaderRefusal, NamesThePlaceAndTheReason) {
  EXPECT_EQ(refusal(GetParam().text), GetParam().message);
}

const BadText bad_texts[] = {
    {"EmptyFile", "", "f: the file has no header"},
    {"OnlyComments", "c one\nc two\n", "f:2: the file has no header"},
    {"NoHeader", "0 0 1\n", "f:1:1: the header is missing"},
    {"ShortHeader", "p qubo 0 4 2\n", "f:1:1: the header should have 6 words and has 5"},
    {"LongHeader", "p qubo 0 4 2 2 2\n", "f:1:1: the header should have 6 words and has 7"},
    {"OtherKind", "p edge 0 4 2 2\n", "f:1:3: the header gives the problem kind 'edge'"},
    {"OtherTopology", "p qubo chimera128 4 2 2\n",
     "f:1:8: the topology 'chimera128' is not supported"},
    {"NegativeVariables", "p qubo 0 -4 2 2\n",
     "f:1:10: number of variables '-4' is outside 0 .. 2147483647"},
    {"NegativeDiagonal", "p qubo 0 4 -2 2\n",
     "f:1:12: number of diagonal terms '-2' is outside 0 .. 1099511627776"},
    {"NegativeCouplings", "p qubo 0 4 2 -2\n",
     "f:1:14: number of couplings '-2' is outside 0 .. 1099511627776"},
    {"WordInHeader", "p qubo 0 four 2 2\n",
     "f:1:10: number of variables 'four' is not a whole number"},
    {"SecondHeader", "p qubo 0 4 1 0\n0 0 1\np qubo 0 4 1 0\n", "f:3:1: this is a second header"},
    {"FewerDiagonalTerms", "p qubo 0 4 2 1\n0 0 1\n0 1 1\n",
     "f:3: the number of diagonal terms is 2 in the header, but 1 in the file"},
    {"FewerCouplings", "p qubo 0 4 1 2\n0 0 1\n0 1 1\n",
     "f:3: the number of couplings is 2 in the header, but 1 in the file"},
    {"MoreDiagonalTerms", "p qubo 0 4 1 1\n0 0 1\n1 1 1\n0 1 1\n",
     "f:3:1: this line exceeds the number of diagonal terms in the header, 1"},
    {"MoreCouplings", "p qubo 0 4 1 1\n0 0 1\n0 1 1\n 0 2 1\n",
     "f:4:2: this line exceeds the number of couplings in the header, 1"},
    {"CountedFromOne", "p qubo 0 2 1 0\n2 2 1\n", "f:2:1: variable '2' is outside 0 .. 1"},
    {"NegativeVariable", "p qubo 0 2 0 1\n-1 1 1\n", "f:2:1: variable '-1' is outside 0 .. 1"},
    {"VariableTooLarge", "p qubo 0 2 0 1\n0 99999999999999999999 1\n",
     "f:2:3: variable '99999999999999999999' is outside 0 .. 1"},
    {"RealVariable", "p qubo 0 2 0 1\n0 1.0 1\n", "f:2:3: variable '1.0' is not a whole number"},
    {"VariableOfNone", "p qubo 0 0 1 0\n0 0 1\n", "f:2:1: the header gives 0 variables"},
    {"LowerTriangle", "p qubo 0 4 0 1\n3 1 1\n", "f:2:1: the coupling 3 1 is below the diagonal"},
    {"MissingValue", "p qubo 0 4 1 0\n0 0\n", "f:2:1: the line should have 3 words and has 2"},
    {"ExtraWord", "p qubo 0 4 1 0\n0 0 1 1\n", "f:2:7: the line should have 3 words and has 4"},
    {"ValueNan", "p qubo 0 4 1 0\n0 0 NaN\n", "f:2:5: value 'NaN' is not a finite number"},
    {"ValueInfinite", "p qubo 0 4 1 0\n0 0 infinity\n",
     "f:2:5: value 'infinity' is not a finite number"},
    {"ValueTooLarge", "p qubo 0 4 1 0\n0 0 -1e309\n",
     "f:2:5: value '-1e309' is not a finite number"},
    {"ValueWithGarbage", "p qubo 0 4 1 0\n0 0 99.0f\n", "f:2:5: value '99.0f' is not a number"},
    {"WordForValue", "p qubo 0 4 1 0\n0 0 abc\n", "f:2:5: value 'abc' is not a number"},
    {"NulByte", "p qubo 0 4 1 0\n0 0\0 1\n"sv,
     "f:2:4: the line has a NUL byte; this is not a text file"},
    {"NulByteInComment", "c \0\np qubo 0 4 1 0\n0 0 1\n"sv,
     "f:1:3: the line has a NUL byte; this is not a text file"},
    {"Utf16",
     "\xff\xfe"
     "p\0 \0q\0"sv,
     "f: the text is UTF-16"},
    {"DiagonalSumsThatOverflow", "p qubo 0 1 2 0\n0 0 1e308\n0 0 1e308\n",
     "f: linear coefficient 0 is not finite"},
    {"CouplingSumsThatOverflow", "p qubo 0 2 0 2\n0 1 1e308\n0 1 1e308\n",
     "f: the repeated coefficients of the pair (0, 1) add up to more than a double can hold"},
};

INSTANTIATE_TEST_SUITE_P(All, QuboReaderRefusal, testing::ValuesIn(bad_texts),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(QuboWriter, WritesTextThatReadsBackEqual) {
  const Qubo qubo{3, {0.1, 0.0, -1e300}, {{0, 1, 1e-310}, {1, 2, -7.0}}, 0.0};
  std::stringstream text;

  problems::write_qubo(text, qubo, {"first", "second"});

  EXPECT_EQ(read_qubo(text, "f"), qubo);
}

TEST(QuboWriter, CountsTermsThatAreNotZero) {
  std::ostringstream text;

  problems::write_qubo(text, small, {"a small example"});

  EXPECT_EQ(text.str(), "c a small example\np qubo 0 4 2 2\n0 0 99\n2 2 -48.5\n0 1 2\n1 3 -6\n");
}

TEST(QuboWriter, KeepsALineBreakInACommentFromBecomingData) {
  std::ostringstream text;

  problems::write_qubo(text, Qubo{}, {"one\np qubo 0 9 9 9\r"});

  EXPECT_EQ(text.str(), "c one p qubo 0 9 9 9 \np qubo 0 0 0 0\n");
}

TEST(QuboWriter, ManyIdleVariablesReadBack) {
  const auto n = std::int32_t{1} << 21;
  const Qubo qubo{n, std::vector<double>(static_cast<std::size_t>(n)), {{5, 6, 1.0}}, 0.0};
  std::stringstream text;

  problems::write_qubo(text, qubo);

  EXPECT_EQ(read_qubo(text, "f"), qubo);
}

TEST(QuboWriter, RefusesWhatTheFormatCannotHold) {
  std::ostringstream text;

  EXPECT_THROW(problems::write_qubo(text, Qubo{1, {1.0}, {}, 2.0}), InvalidArgument);
  EXPECT_THROW(problems::write_qubo(text, Qubo{2, {1.0, 1.0}, {{1, 0, 1.0}}, 0.0}),
               InvalidArgument);
  EXPECT_TRUE(text.str().empty());
}

TEST(Formats, AreFoundByTheirNames) {
  EXPECT_EQ(format_by_name("rudy"), Format::rudy);
  EXPECT_EQ(format_by_name("qubo"), Format::qubo);
  EXPECT_FALSE(format_by_name("RUDY").has_value());
  EXPECT_FALSE(format_by_name("").has_value());
  for (const FormatInfo& info : problems::formats()) {
    EXPECT_EQ(format_by_name(info.name), info.format);
    EXPECT_FALSE(info.suffixes.empty());
    EXPECT_TRUE(info.description.ends_with('.'));
    EXPECT_FALSE(info.grammar.empty());
    if (info.format == Format::npy) continue;  // bytes: NpyReader has examples
    std::istringstream example(info.example);
    EXPECT_NO_THROW(problems::read_model(info.format, example, info.name));
  }
}

TEST(Formats, AreToldByTheSuffix) {
  EXPECT_EQ(detect_format("data/bqp50_1.qubo", ""), Format::qubo);
  EXPECT_EQ(detect_format("data/A.QUBO.gz", ""), Format::qubo);
  EXPECT_EQ(detect_format("g.rud", ""), Format::rudy);
  EXPECT_EQ(detect_format("g.mc", "p qubo 0 1 1 0\n"), Format::rudy);
}

TEST(Formats, AreToldByTheFirstLineThatSaysAnything) {
  EXPECT_EQ(detect_format("G1.txt", "800 19176 \n1 2 1\n"), Format::rudy);
  EXPECT_EQ(detect_format("-", "\xef\xbb\xbf\r\n 3 2\r\n"), Format::rudy);
  EXPECT_EQ(detect_format("x.txt", "c made by\nc hand\n\np qubo 0 4 2 2\n"), Format::qubo);
}

TEST(Formats, OfNothing) {
  try {
    detect_format("standard input", "");
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.message(), "standard input: the input is empty");
    EXPECT_TRUE(error.expected().starts_with("expected: rudy (")) << error.expected();
  }
}

/// "rudy (.rud .rudy .mc .gset .graph); qubo (.qubo)", as it is told where no format fits.
std::string all_formats() {
  std::string list;
  for (const FormatInfo& info : problems::formats()) {
    std::string suffixes;
    for (const std::string& suffix : info.suffixes) {
      suffixes += (suffixes.empty() ? "" : " ") + suffix;
    }
    list += (list.empty() ? "" : "; ") + info.name + " (" + suffixes + ")";
  }
  return list;
}

TEST(Formats, BeginWithTheseInThisOrder) {
  EXPECT_TRUE(all_formats().starts_with(
      "rudy (.rud .rudy .mc .gset .graph); qubo (.qubo); coo (.coo .ising); "
      "pottsmodel (.potts); col (.col); dense (.dense); npy (.npy)"))
      << all_formats();
}

TEST(Formats, HaveNamesAndSuffixesOfTheirOwn) {
  std::set<std::string> names, suffixes;
  for (const FormatInfo& info : problems::formats()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    for (const std::string& suffix : info.suffixes) {
      EXPECT_TRUE(suffix.starts_with('.')) << suffix;
      EXPECT_TRUE(suffixes.insert(suffix).second) << suffix;
      EXPECT_EQ(detect_format("x" + suffix, ""), info.format) << suffix;
    }
  }
}

TEST(Formats, ThatAreNotThereCannotBeRead) {
  std::istringstream text("1 0\n");
  try {
    problems::read_model(Format{"tsp"}, text, "f");
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "problem.format");
    EXPECT_EQ(error.message(), "there is no format 'tsp'");
    EXPECT_EQ(error.expected(), all_formats());
  }
}

TEST(Formats, AreListedByWhatTheyHold) {
  std::string list;
  for (const problems::WrittenKind& kind : problems::written_kinds()) {
    list += kind.models + ":";
    for (const Format format : kind.formats) list += " " + std::string(format.name);
    list += "; ";
  }
  EXPECT_TRUE(list.starts_with(
      "graphs: rudy; QUBOs: qubo coo; Ising models: coo; Potts models: pottsmodel; "
      "colourings: col; "))
      << list;
}

TEST(Formats, AreListedWhenNoneFits) {
  for (const char* text : {"hello world\n", "p cnf 3 2\n", "1.5 2\n", "1 2 3 4\n"}) {
    try {
      detect_format("x.txt", text);
      FAIL() << "accepted: " << text;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.message(),
                "x.txt: neither the name nor the first line identifies the format");
      EXPECT_EQ(error.expected(), "expected: " + all_formats());
    }
  }
}

TEST(Formats, DetectionNamesUtf16) {
  try {
    detect_format("G14.txt",
                  "\xff\xfe"
                  "8\0"sv);
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.message(), "G14.txt: the text is UTF-16");
  }
}

}  // namespace
}  // namespace kiln::qubo_reader_test
