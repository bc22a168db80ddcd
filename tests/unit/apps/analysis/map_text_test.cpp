// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The table of a map of information, as a terminal shows it.
#include "analysis/map_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "map_fixtures.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "svg_document.hpp"

namespace kiln::cli::map_text_test {
namespace {

using test::infinite;
using test::not_known;
using test::plain_link;
using test::tested_link;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string& line : lines_of(text)) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(MapText, HasTheStrongestLinkFirstAndMarksSignificantOnes) {
  InformationMap map = test::chain_map();
  map.notes = {"12 rows have missing values and are left out."};
  EXPECT_EQ(map_text(map, {}),
            "measure      transfer entropy in nats\n"
            "data         2000 rows, 3 columns, 200 surrogates, k = 4\n"
            "links        6, 2 of them significant (*) at a false discovery rate of 5 %\n"
            "\n"
            "  source     target  lag   value  spread  effective        p       q\n"
            "* y       -> z         1  0.2346  0.0125     0.2246  0.00498  0.0149\n"
            "* x       -> y         1  0.1446  0.0125     0.1346  0.00498  0.0149\n"
            "  x       -> z         1  0.0131  0.0125     0.0031     0.25     0.5\n"
            "  y       -> x         1  0.0112  0.0125     0.0012     0.25     0.5\n"
            "  z       -> y         1  0.0093  0.0125    -0.0007     0.25     0.5\n"
            "  z       -> x         1  0.0087  0.0125    -0.0013     0.25     0.5\n"
            "\n"
            "note         12 rows have missing values and are left out.\n");
}

TEST(MapText, HasNoColumnsOfNumbersThatAMapLacks) {
  const InformationMap map =
      test::map_of(InformationMeasure::binned_mutual_information, {"a", "b", "c"},
                   {plain_link(0, 1, 0.6931471805599453), plain_link(0, 2, 0)}, 0);
  EXPECT_EQ(map_text(map, {.unit = InformationUnit::bits}),
            "measure      mutual information of bins in bits\n"
            "data         2000 rows, 3 columns\n"
            "links        2\n"
            "\n"
            "  column      column   value\n"
            "  a       <-> b       1.0000\n"
            "  a       <-> c       0.0000\n");
}

TEST(MapText, SaysInWordsWhatANumberCannot) {
  InformationMap map = test::map_of(InformationMeasure::mutual_information, {"a", "b", "flat", "d"},
                                    {plain_link(0, 1, infinite), plain_link(0, 2, 0),
                                     plain_link(0, 3, 1.5), plain_link(1, 3, not_known)},
                                    0);
  map.links[0].estimate.status = InformationStatus::unbounded;
  map.links[1].estimate.status = InformationStatus::constant;
  map.links[2].estimate.status = InformationStatus::biased;
  const std::vector<std::string> lines = lines_of(map_text(map, {}));
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[5], "  a       <-> b          inf   infinite: copy of 'a'");
  EXPECT_EQ(lines[6], "  a       <-> d       1.5000   biased: the value changes with k");
  EXPECT_EQ(lines[7], "  a       <-> flat    0.0000   no information: constant");
  EXPECT_EQ(lines[8], "  b       <-> d            -");
}

TEST(MapText, PutsRemarksBelowRowsWhereTheyDoNotFit) {
  InformationMap map = test::chain_map();
  map.links[2].estimate.status = InformationStatus::biased;
  EXPECT_NE(map_text(map, {.columns = 79}).find("0.0149\n      biased: the value changes with k\n"),
            std::string::npos);
  EXPECT_NE(map_text(map, {.columns = 140}).find("0.0149   biased: the value changes with k\n"),
            std::string::npos);
}

TEST(MapText, ListsMeasuresOfOneColumnByIt) {
  const InformationMap map = test::map_of(InformationMeasure::entropy, {"wind", "rain"},
                                          {plain_link(-1, 0, 0.5), plain_link(-1, 1, 1.25)}, 0);
  const std::vector<std::string> lines = lines_of(map_text(map, {}));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[2], "estimates    2");
  EXPECT_EQ(lines[4], "  column   value");
  EXPECT_EQ(lines[5], "  rain    1.2500");
  EXPECT_EQ(lines[6], "  wind    0.5000");
}

TEST(MapText, ShowsAPairOfASymmetricMapOnce) {
  const InformationMap both =
      test::map_of(InformationMeasure::mutual_information, {"a", "b"},
                   {tested_link(1, 0, 0, 0.3, true), tested_link(0, 1, 0, 0.3, true)}, 200);
  EXPECT_EQ(test::count_of(map_text(both, {}), "<->"), 1);
  EXPECT_NE(map_text(both, {}).find("links        1, 1 of them significant"), std::string::npos);
  InformationMap lagged = both;  // the past of one and the present of the other
  for (InformationLink& link : lagged.links) link.lag = 1;
  EXPECT_EQ(test::count_of(map_text(lagged, {}), " -> "), 2);
}

TEST(MapText, ShowsTheStrongestOfManyLinks) {
  const InformationMap map = test::dense_map(64, 40, "sensor ");
  ASSERT_EQ(map.links.size(), 4032u);
  const std::string text = map_text(map, {.file = "out/map.csv"});
  EXPECT_EQ(test::count_of(text, " -> "), 20);
  EXPECT_NE(text.find("\n... and 4012 weaker links: out/map.csv lists all\n"), std::string::npos);
  EXPECT_NE(map_text(map, {}).find(": --map shows all, and -o DIR writes map.csv\n"),
            std::string::npos);
  EXPECT_EQ(test::count_of(map_text(map, {.whole = true}), " -> "), 4032);

  // No link that is left out is stronger than one that is shown.
  std::vector<double> values;
  for (const InformationLink& link : map.links) values.push_back(link.estimate.value);
  std::ranges::sort(values, std::greater());
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NE(lines[5 + i].find(value_text(values[i], InformationUnit::nats)), std::string::npos)
        << lines[5 + i];
  }
}

TEST(MapText, HasNoTableWithoutLinks) {
  const InformationMap none = test::map_of(InformationMeasure::transfer_entropy, {"a"}, {}, 200);
  EXPECT_EQ(map_text(none, {}),
            "measure      transfer entropy in nats\n"
            "data         2000 rows, 1 column, 200 surrogates\n"
            "links        0, 0 of them significant (*) at a false discovery rate of 5 %\n");
}

TEST(MapText, FitsIntoTheLineWhateverTheNames) {
  InformationMap map = test::dense_map(6, 2, "");
  map.names = {
      std::string(200, 'a') + "1",
      std::string(200, 'a') + "2",
      "b",
      std::string(300, 'c'),
      "\xe5\xb9\xb3\xe5\x9d\x87\xe6\xb8\xa9\xe5\xba\xa6\xe5\xb9\xb3\xe5\x9d\x87\xe6\xb8\xa9",
      "K\xc3\xbchlwassertemperatur am Einlass"};
  map.links[0].estimate.status = InformationStatus::unbounded;
  for (const std::size_t columns : {72, 79, 100, 160}) {
    const std::string text = map_text(map, {.columns = columns});
    EXPECT_LE(widest_line(text), std::max<std::size_t>(columns, 79)) << text;
    for (const std::string& line : lines_of(text)) {
      const bool row = line.find(" -> ") != std::string::npos;
      EXPECT_LE(row ? display_width(line) : 0, columns) << line;
    }
    EXPECT_TRUE(is_utf8(text));
    // Names that begin alike stay different.
    EXPECT_NE(text.find("a1"), std::string::npos);
    EXPECT_NE(text.find("a2"), std::string::npos);
  }
  // Columns of numbers are below each other, also behind wide characters.
  std::set<std::size_t> ends;
  for (const std::string& line : lines_of(map_text(map, {}))) {
    if (line.find(" -> ") != std::string::npos) ends.insert(display_width(line));
  }
  EXPECT_EQ(ends.size(), 1u);
}

TEST(MapText, ShowsNothingThatSteersATerminal) {
  const InformationMap map = test::hostile_map();
  const std::string text = map_text(map, {.whole = true});
  EXPECT_EQ(clean_lines(text), text);
  EXPECT_EQ(test::count_of(text, "\n"),
            3 + 1 + 1 + static_cast<int>(map.links.size()) + 1 + 1 + 1);  // and one remark
}

TEST(ShortenedName, KeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(shortened_name("temperature", 11), "temperature");
  EXPECT_EQ(shortened_name("temperature", 10), "temp...ure");
  EXPECT_EQ(shortened_name("temperature", 5), "t...e");
  const std::string wide = "\xe5\xb9\xb3\xe5\x9d\x87\xe6\xb8\xa9\xe5\xba\xa6";
  EXPECT_EQ(display_width(wide), 8u);
  EXPECT_EQ(display_width("K\xc3\xbchl"), 4u);
  EXPECT_EQ(display_width(""), 0u);
  for (std::size_t width = 5; width < 9; ++width) {
    EXPECT_LE(display_width(shortened_name(wide, width)), width);
    EXPECT_TRUE(is_utf8(shortened_name(wide, width)));
  }
}

}  // namespace
}  // namespace kiln::cli::map_text_test
