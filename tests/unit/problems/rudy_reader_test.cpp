// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <streambuf>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/readers.hpp"

#include "bad_text.hpp"
#include "readers/text_reader.hpp"

namespace kiln::rudy_reader_test {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using problems::read_rudy;
using test::BadText;

Graph parse(const std::string& text, ReadReport* report = nullptr) {
  std::istringstream in(text);
  return read_rudy(in, "f", report);
}

std::string refusal(std::string_view text) {
  return test::refusal([](std::istream& in, const char* name) { read_rudy(in, name); }, text);
}

ParseError error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const ParseError& error) {
    return error;
  }
  throw std::logic_error("the text was accepted");
}

const Graph triangle{3, {{0, 1, 1.0}, {0, 2, -2.0}, {1, 2, 0.5}}};
constexpr std::string_view triangle_text = "3 3\n1 2 1\n1 3 -2\n2 3 0.5\n";

TEST(RudyReader, ReadsVerticesFromOne) { EXPECT_EQ(parse(std::string(triangle_text)), triangle); }

TEST(RudyReader, TakesOneForAMissingWeight) {
  EXPECT_EQ(parse("3 2\n1 2\n2 3 4\n"), (Graph{3, {{0, 1, 1.0}, {1, 2, 4.0}}}));
}

TEST(RudyReader, AcceptsEitherOrderAndUnsortedEdges) {
  EXPECT_EQ(parse("3 3\n3 2 0.5\n3 1 -2\n2 1 1\n"), triangle);
}

TEST(RudyReader, AcceptsBlanksTabsAndBlankLines) {
  EXPECT_EQ(parse("\n  3\t3 \n\n1  2 1 \n \t \n\t1 3\t-2\n2 3 0.5 \t\n\n"), triangle);
}

TEST(RudyReader, ReadsACopyWithCarriageReturnsAlike) {
  EXPECT_EQ(parse(test::crlf(triangle_text)), triangle);
}

TEST(RudyReader, ReadsACopyWithByteOrderMarkAlike) {
  EXPECT_EQ(parse("\xef\xbb\xbf" + std::string(triangle_text)), triangle);
}

TEST(RudyReader, ReadsACopyWithoutLastLineFeedAlike) {
  EXPECT_EQ(parse(std::string(triangle_text.substr(0, triangle_text.size() - 1))), triangle);
}

TEST(RudyReader, DoesNotDropWeightsWithExponents) {
  EXPECT_EQ(parse("2 1\n1 2 1e-3\n").edges[0].weight, 0.001);
  EXPECT_EQ(parse("2 1\n1 2 -1.\n").edges[0].weight, -1.0);
  EXPECT_EQ(parse("2 1\n1 2 .5E+2\n").edges[0].weight, 50.0);
  EXPECT_EQ(parse("2 1\n1 2 +7\n").edges[0].weight, 7.0);
  EXPECT_EQ(parse("2 1\n1 2 4.9e-324\n").edges[0].weight, 4.9e-324);
}

TEST(RudyReader, MergesRepeatedEdgesAndSaysSo) {
  ReadReport report;

  const Graph graph = parse("3 4\n1 2 1\n2 1 2\n2 3 1\n1 2 4\n", &report);

  EXPECT_EQ(graph, (Graph{3, {{0, 1, 7.0}, {1, 2, 1.0}}}));
  EXPECT_EQ(report.duplicates_merged, 2);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0], "number of repeated edges whose coefficients Kiln added up: 2");
}

TEST(RudyReader, ClearsAnEarlierReport) {
  ReadReport report{5, {"old"}};

  parse(std::string(triangle_text), &report);

  EXPECT_EQ(report.duplicates_merged, 0);
  EXPECT_TRUE(report.notes.empty());
}

TEST(RudyReader, AcceptsGraphsWithoutEdges) {
  EXPECT_EQ(parse("5 0\n"), (Graph{5, {}}));
  EXPECT_EQ(parse("0 0"), (Graph{0, {}}));
}

TEST(RudyReader, ReadsLinesAcrossTheBlocksOfTheStream) {
  std::string text = "2 100000\n";
  for (int k = 0; k < 100000; ++k) text += k % 2 ? "1 2 1\n" : "  2\t1   1.0 \n";

  EXPECT_EQ(parse(text), (Graph{2, {{0, 1, 100000.0}}}));
}

TEST(RudyReader, DoesNotAllocateWhatAHeaderPromises) {
  EXPECT_EQ(refusal("2147483647 1099511627776\n1 2 1\n"),
            "f:2: the number of edges is 1099511627776 in the header, but 1 in the file");
  EXPECT_EQ(refusal("2147483647 1\n1 2147483647\n"),
            "f:2: the header gives 2147483647 vertices, but the file has only 1 edges");
}

// 2^20 vertices are free, and each edge that is left brings 64.
TEST(RudyReader, BelievesAsManyVerticesAsTheEdgesAllow) {
  EXPECT_EQ(parse("1048576 0\n").n_vertices, 1048576);
  EXPECT_EQ(refusal("1048577 0\n"),
            "f:1: the header gives 1048577 vertices, but the file has only 0 edges");
  EXPECT_EQ(parse("1048704 2\n1 2\n2 1048704\n").n_vertices, 1048704);
  EXPECT_EQ(refusal("1048705 2\n1 2\n2 1048705\n"),
            "f:3: the header gives 1048705 vertices, but the file has only 2 edges");
  EXPECT_EQ(refusal("1048704 2\n1 2\n2 1\n"),
            "f:3: the header gives 1048704 vertices, but the file has only 1 edges");
}

TEST(RudyReader, IsNotHandedWhatItWouldRefuse) {
  std::ostringstream out;

  EXPECT_THROW(problems::write_rudy(out, Graph{1048577, {}}), InvalidArgument);
  EXPECT_EQ(out.str(), "");
}

class RudyReaderRefusal : public testing::TestWithParam<BadText> {};

TEST_P(RudyReaderRefusal, NamesThePlaceAndTheReason) {
  EXPECT_EQ(refusal(GetParam().text), GetParam().message);
}

const BadText bad_texts[] = {
    {"EmptyFile", "", "f: the file has no header"},
    {"OnlyBlankLines", "\n \t\n\r\n", "f:3: the file has no header"},
    {"OnlyByteOrderMark", "\xef\xbb\xbf", "f: the file has no header"},
    {"HeaderOfOneWord", "3\n1 2 1\n", "f:1:1: the header should have 2 words and has 1"},
    {"HeaderOfThreeWords", "3 1 1\n1 2 1\n", "f:1:1: the header should have 2 words and has 3"},
    {"NoHeader", "1 2 1\n2 3 1\n", "f:1:1: the header should have 2 words and has 3"},
    {"NegativeVertices", "-3 1\n1 2\n",
     "f:1:1: number of vertices '-3' is outside 0 .. 2147483647"},
    {"NegativeEdges", "3 -1\n", "f:1:3: number of edges '-1' is outside 0 .. 1099511627776"},
    {"TooManyVertices", "2147483648 1\n1 2\n",
     "f:1:1: number of vertices '2147483648' is outside 0 .. 2147483647"},
    {"EdgesBeyond64Bits", "3 99999999999999999999\n",
     "f:1:3: number of edges '99999999999999999999' is outside 0 .. 1099511627776"},
    {"RealVertices", "3.0 1\n1 2\n", "f:1:1: number of vertices '3.0' is not a whole number"},
    {"WordInHeader", "3 many\n", "f:1:3: number of edges 'many' is not a whole number"},
    {"CommentLine", "# graph\n3 1\n1 2\n", "f:1:1: number of vertices '#' is not a whole number"},
    {"TruncatedFile", "3 3\n1 2 1\n1 3 1\n",
     "f:3: the number of edges is 3 in the header, but 2 in the file"},
    {"TruncatedLine", "3 2\n1 2 1\n1", "f:3:1: the line should have 2 or 3 words and has 1"},
    {"MoreEdgesThanPromised", "3 1\n1 2 1\n\n 1 3 1\n",
     "f:4:2: this line exceeds the number of edges in the header, 1"},
    {"VertexZero", "3 1\n0 2 1\n", "f:2:1: vertex '0' is outside 1 .. 3"},
    {"VertexTooLarge", "3 1\n1 4 1\n", "f:2:3: vertex '4' is outside 1 .. 3"},
    {"NegativeVertex", "3 1\n1 -2 1\n", "f:2:3: vertex '-2' is outside 1 .. 3"},
    {"RealVertex", "3 1\n1 2.0 1\n", "f:2:3: vertex '2.0' is not a whole number"},
    {"WordForVertex", "3 1\none 2 1\n", "f:2:1: vertex 'one' is not a whole number"},
    {"SelfLoop", "3 1\n2 2 1\n", "f:2:1: vertex 2 is joined to itself"},
    {"FourWords", "3 1\n1 2 1 9\n", "f:2:7: the line should have 2 or 3 words and has 4"},
    {"TrailingComment", "3 1\n1 2 1 # heavy\n",
     "f:2:7: the line should have 2 or 3 words and has 5"},
    {"WeightNan", "3 1\n1 2 nan\n", "f:2:5: weight 'nan' is not a finite number"},
    {"WeightInfinite", "3 1\n1 2 -inf\n", "f:2:5: weight '-inf' is not a finite number"},
    {"WeightTooLarge", "3 1\n1 2 1e400\n", "f:2:5: weight '1e400' is not a finite number"},
    {"WeightTooSmall", "3 1\n1 2 1e-400\n", "f:2:5: weight '1e-400' is too small for a double"},
    {"WeightWithGarbage", "3 1\n1 2 1.5x\n", "f:2:5: weight '1.5x' is not a number"},
    {"DecimalComma", "3 1\n1 2 1,5\n", "f:2:5: weight '1,5' is not a number"},
    {"HexadecimalWeight", "3 1\n1 2 0x10\n", "f:2:5: weight '0x10' is not a number"},
    {"IncompleteExponent", "3 1\n1 2 1e\n", "f:2:5: weight '1e' is not a number"},
    {"TwoSigns", "3 1\n1 2 +-1\n", "f:2:5: weight '+-1' is not a number"},
    {"LoneSign", "3 1\n1 2 +\n", "f:2:5: weight '+' is not a number"},
    {"ControlCharacters", "3 1\n1 2 \x1b[31mred\x07\n",
     "f:2:5: weight '?[31mred?' is not a number"},
    {"BytesBeyondAscii", "3 1\n1 2 \xc2\x9bm\n", "f:2:5: weight '\?\?m' is not a number"},
    {"LongWord", "3 1\n1 2 aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee\n",
     "f:2:5: weight 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...' is not a number"},
    {"CarriageReturnInside", "3 1\n1 2\r1\n", "f:2:3: vertex '2?1' is not a whole number"},
    {"NulByte", "3 1\n1 2 1\0\n"sv, "f:2:6: the line has a NUL byte; this is not a text file"},
    {"Utf16LowByteFirst", "\xff\xfe\x33\0 \0\x31\0\n\0"sv, "f: the text is UTF-16"},
    {"Utf16HighByteFirst", "\xfe\xff\0\x33\0 \0\x31\0\n"sv, "f: the text is UTF-16"},
    {"Utf32LowByteFirst", "\xff\xfe\0\0\x33\0\0\0\n\0\0\0"sv, "f: the text is UTF-32"},
    {"Utf32HighByteFirst", "\0\0\xfe\xff\0\0\0\x33\0\0\0\n"sv, "f: the text is UTF-32"},
    {"Utf32WithoutMark", "\x33\0\0\0\n\0\0\0"sv, "f: the text is UTF-32"},
    {"Utf32WithoutMarkHighByteFirst", "\0\0\0\x33\0\0\0\n"sv, "f: the text is UTF-32"},
    {"Utf16WithoutMark", "\x33\0 \0\x31\0\n\0"sv, "f: the text is UTF-16"},
    {"Utf16WithoutMarkHighByteFirst", "\0\x33\0 \0\x31\0\n"sv, "f: the text is UTF-16"},
    {"Compressed", "\x1f\x8b\x08\0\0\0\0\0"sv, "f: the file is compressed by gzip"},
    {"SumsThatOverflow", "2 2\n1 2 1e308\n2 1 1e308\n",
     "f: the repeated coefficients of the pair (0, 1) add up to more than a double can hold"},
};

INSTANTIATE_TEST_SUITE_P(All, RudyReaderRefusal, testing::ValuesIn(bad_texts),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(RudyReader, RefusesAWholeFileInUtf16) {
  const ParseError error = error_of("\xff\xfe" + test::utf16(triangle_text));

  EXPECT_EQ(error.message(), "f: the text is UTF-16");
  EXPECT_EQ(error.expected(),
            "expected: UTF-8 or ASCII; convert the file with `iconv -f UTF-16 -t UTF-8`");
}

TEST(RudyReader, SaysWhatItExpected) {
  const ParseError error = error_of("3 1\n1 2 1e400\n");

  EXPECT_EQ(error.code(), "input.parse");
  EXPECT_EQ(error.file(), "f");
  EXPECT_EQ(error.issues()[0].line, 2);
  EXPECT_EQ(error.issues()[0].column, 5);
  EXPECT_EQ(error.issues()[0].expected, "<vertex> <vertex> [<weight>], vertices counted from 1");
}

TEST(RudyReader, KeepsFiveIssuesAndCountsThemAll) {
  std::string text = "3 20\n";
  for (int k = 0; k < 20; ++k) text += k % 2 ? "1 2 nan\n" : "1 9 1\n";

  const ParseError error = error_of(text);

  EXPECT_EQ(error.total(), 20);
  ASSERT_EQ(error.issues().size(), 5U);
  EXPECT_EQ(error.issues()[0].message, "vertex '9' is outside 1 .. 3");
  EXPECT_EQ(error.issues()[4].line, 6);
}

TEST(RudyReader, ReportsEachWrongWordOfALine) {
  const ParseError error = error_of("3 1\n7 x inf\n");

  EXPECT_EQ(error.total(), 3);
  EXPECT_EQ(error.issues()[1].message, "vertex 'x' is not a whole number");
  EXPECT_EQ(error.issues()[2].message, "weight 'inf' is not a finite number");
}

TEST(RudyReader, RefusesALineOverOneMebibyte) {
  const std::string within = "2 1\n1 2" + std::string((1 << 20) - 3, ' ') + "\n";
  const std::string beyond = "2 1\n1 2" + std::string((1 << 20) - 2, ' ') + "\n";

  EXPECT_EQ(parse(within).edges.size(), 1U);
  EXPECT_EQ(refusal(beyond), "f:2: the line is longer than 1048576 bytes");
  EXPECT_EQ(refusal(std::string(3 << 20, '7')), "f:1: the line is longer than 1048576 bytes");
}

TEST(RudyReader, RefusesATextOverItsBudget) {
  std::istringstream in(std::string(5000, '\n'));
  problems::detail::TextReader text(in, "f", {.file_bytes = 4999, .line_bytes = 100});

  try {
    text.next_line();
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.message(), "f: the file is larger than 4999 bytes");
  }
  EXPECT_EQ(problems::detail::TextLimits{}.file_bytes, 8589934592)
      << "otherwise the documented message, `the file is larger than 8589934592 bytes`, is wrong";
}

/// A stream whose medium fails after the first bytes.
class FailingBuffer : public std::streambuf {
  int_type underflow() override { throw std::runtime_error("medium"); }
};

TEST(RudyReader, TellsAFailingStreamFromAnEmptyFile) {
  FailingBuffer buffer;
  std::istream failing(&buffer);
  std::ifstream missing("/nonexistent/graph.txt");

  EXPECT_THROW(read_rudy(failing, "f"), IoError);
  EXPECT_THROW(read_rudy(missing, "f"), IoError);
}

TEST(RudyReader, ShowsControlCharactersOfTheFileName) {
  std::istringstream in("");
  try {
    read_rudy(in, "a\x1b[2Jb");
    FAIL() << "accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.message(), "a?[2Jb: the file has no header");
  }
}

TEST(RudyReader, NoticesEveryCutBeforeTheLastEdgeHasItsVertices) {
  const std::size_t second_vertex = triangle_text.rfind("3 0.5");

  for (std::size_t length = 0; length <= second_vertex; ++length) {
    EXPECT_THROW(parse(std::string(triangle_text.substr(0, length))), ParseError) << length;
  }
  EXPECT_EQ(refusal(triangle_text.substr(0, second_vertex + 1)), "accepted");
}

TEST(RudyWriter, WritesTextThatReadsBackEqual) {
  Graph graph = problems::gset("G14");
  graph.edges[0].weight = 0.1;
  graph.edges[1].weight = -1e300;
  graph.edges[2].weight = 4.9e-324;
  graph.edges[3].weight = 9007199254740993.0;
  std::stringstream text;

  problems::write_rudy(text, graph);

  EXPECT_EQ(read_rudy(text, "f"), graph);
}

TEST(RudyWriter, CountsVerticesFromOne) {
  std::ostringstream text;

  problems::write_rudy(text, triangle);

  EXPECT_EQ(text.str(), triangle_text);
}

TEST(RudyWriter, RefusesWhatCannotBeReadBack) {
  std::ostringstream text;
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);

  EXPECT_THROW(problems::write_rudy(text, Graph{2, {{0, 0, 1.0}}}), InvalidArgument);
  EXPECT_TRUE(text.str().empty());
  EXPECT_THROW(problems::write_rudy(broken, triangle), IoError);
}

// A path whose file is longer than what is read ahead: lines of one number for each edge, from 1.
constexpr int n_long = 700'000;

std::string long_line(int k) {
  return std::to_string(k) + " " + std::to_string(k + 1) + " " + std::to_string(k % 7 - 3) + "\n";
}

/// @param line, text  what stands in place of an edge; 0: nothing
std::string long_text(int line = 0, const std::string& text = "") {
  std::string all = std::to_string(n_long + 1) + " " + std::to_string(n_long) + "\n";
  for (int k = 1; k <= n_long; ++k) all += k == line ? text : long_line(k);
  return all;
}

const Graph& long_path() {
  static const Graph path = [] {
    Graph graph{n_long + 1, {}};
    for (int k = 1; k <= n_long; ++k) graph.edges.push_back({k - 1, k, double(k % 7 - 3)});
    return graph;
  }();
  return path;
}

TEST(RudyReader, ReadsLongFilesAheadOnAnyNumberOfThreads) {
  const std::string text = long_text();
  ASSERT_GT(text.size(), std::size_t{9} << 20) << "more than is read at a time";
  for (const int threads : {1, 4}) {
    const HostThreads limit(threads);
    EXPECT_EQ(parse(text), long_path());
    EXPECT_EQ(parse(text.substr(0, text.size() - 1)), long_path()) << "without a last line feed";
  }
}

TEST(RudyReader, ReadsLinesThatAreNotPlainInLongFiles) {
  const HostThreads several(3);
  for (const int k : {1, 300'000, 690'000, n_long}) {
    for (const char* const before : {"\n", "\t", "  "}) {
      EXPECT_EQ(parse(long_text(k, before + long_line(k))), long_path()) << before << k;
    }
    Graph other = long_path();
    other.edges[static_cast<std::size_t>(k) - 1].weight = 1;
    const std::string pair = std::to_string(k) + " " + std::to_string(k + 1);
    EXPECT_EQ(parse(long_text(k, pair + "\n")), other);
    EXPECT_EQ(parse(long_text(k, "+" + pair + " +1\r\n")), other);
  }
}

TEST(RudyReader, NamesTheLinesOfLongFiles) {
  const HostThreads several(3);
  for (const int k : {1, 300'000, 690'000, n_long}) {
    for (const char* const wrong : {"5 5 1\n", "0 7 1\n", "1 2 x\n", "3\n", "1 2 3 4\n"}) {
      const ParseError error = error_of(long_text(k, wrong));
      EXPECT_EQ(error.issues().front().line, k + 1) << wrong;
      EXPECT_EQ(error.issues().size(), 1u);
    }
    EXPECT_EQ(error_of(long_text(k, "")).issues().front().line, n_long) << "one edge is missing";
  }
  EXPECT_EQ(error_of(long_text() + "1 3 1\n").issues().front().line, n_long + 2);
}

}  // namespace
}  // namespace kiln::rudy_reader_test
