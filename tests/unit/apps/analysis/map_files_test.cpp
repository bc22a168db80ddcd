// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What `kiln analyze -o` writes of a map, read back.
#include "analysis/map_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kiln/problems/csv.hpp"

#include "map_fixtures.hpp"
#include "output/text.hpp"
#include "report/page.hpp"
#include "svg_document.hpp"

namespace kiln::cli::map_files_test {
namespace {

using test::infinite;
using test::not_known;

const MapOrigin origin{"plant.csv", {{"--measure", "te"}, {"--lag", "1..3"}}};

/// A reader that knows quotes and nothing else; a row for each line.
std::vector<std::vector<std::string>> rows_of_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += text[++i];
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

double number_of(const std::string& cell) {
  return cell.empty() ? not_known : std::strtod(cell.c_str(), nullptr);
}

TEST(MapCsv, HasEveryLinkWithAllDigits) {
  InformationMap map = test::dense_map(5, 3, "column ");
  map.links[3].estimate.value = 0.1 + 0.2;
  map.links[4].estimate.value = map.links[4].estimate.effective = infinite;
  map.links[4].estimate.status = InformationStatus::unbounded;
  map.links[5].estimate.spread = not_known;
  const auto rows = rows_of_csv(map_csv(map));
  ASSERT_EQ(rows.size(), 1 + map.links.size());
  const std::vector<std::string> header{"source",
                                        "target",
                                        "lag",
                                        "value",
                                        "spread",
                                        "effective",
                                        "surrogate_mean",
                                        "surrogate_deviation",
                                        "p",
                                        "q",
                                        "significant",
                                        "status",
                                        "points",
                                        "k"};
  EXPECT_EQ(rows[0], header);
  for (std::size_t i = 0; i < map.links.size(); ++i) {
    const InformationLink& link = map.links[i];
    const std::vector<std::string>& row = rows[i + 1];
    ASSERT_EQ(row.size(), header.size());
    EXPECT_EQ(row[0], map.names[static_cast<std::size_t>(link.source)]);
    EXPECT_EQ(row[1], map.names[static_cast<std::size_t>(link.target)]);
    EXPECT_EQ(number_of(row[3]), link.estimate.value);
    EXPECT_EQ(number_of(row[5]), link.estimate.effective);
    EXPECT_EQ(number_of(row[6]), link.estimate.surrogate_mean);
    EXPECT_EQ(number_of(row[7]), link.estimate.surrogate_deviation);
    EXPECT_EQ(number_of(row[8]), link.estimate.p_value);
    EXPECT_EQ(number_of(row[9]), link.q_value);
    EXPECT_EQ(row[10], link.significant ? "1" : "0");
    EXPECT_EQ(row[12], "1998");
    EXPECT_EQ(row[13], "4");
  }
  EXPECT_EQ(rows[5][3], "inf");
  EXPECT_EQ(rows[5][11], "unbounded");
  EXPECT_EQ(rows[6][4], "");
}

// Two readers: that of Kiln, which refuses control characters, and the one above.
TEST(MapCsv, KeepsHostileNamesApart) {
  const InformationMap map = test::hostile_map();
  const std::string csv = map_csv(map);
  const auto rows = rows_of_csv(csv);
  ASSERT_EQ(rows.size(), 1 + map.links.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < map.links.size(); ++i) {
    ASSERT_EQ(rows[i + 1].size(), 14u);
    const std::string& name = map.names[static_cast<std::size_t>(map.links[i].source)];
    EXPECT_TRUE(rows[i + 1][0] == name || unescaped(rows[i + 1][0]) == name) << rows[i + 1][0];
    names.insert(rows[i + 1][0]);
  }
  EXPECT_EQ(names.size(), map.names.size());
  EXPECT_EQ(clean_lines(csv), csv);
  const problems::CsvTable table = problems::read_csv(csv, "map.csv");
  ASSERT_EQ(table.rows.size(), map.links.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    EXPECT_EQ(table.rows[i].cells, rows[i + 1]);
  }
}

TEST(MapCsv, LeavesCellsEmptyThatAMapLacks) {
  const InformationMap map =
      test::map_of(InformationMeasure::entropy, {"wind"}, {test::plain_link(-1, 0, 0.5)}, 0);
  const auto rows = rows_of_csv(map_csv(map));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"", "wind", "0", "0.5", "", "", "", "", "", "", "",
                                               "ok", "2000", "0"}));
}

TEST(MapJson, HasWhatTheMapHas) {
  InformationMap map = test::chain_map();
  map.notes = {"a note"};
  map.links[1].estimate.value = map.links[1].estimate.effective = infinite;
  map.links[1].estimate.status = InformationStatus::unbounded;
  map.links[0].estimate.local = {0.25, not_known, -0.5};
  const auto json = nlohmann::json::parse(map_json(map, origin).dump());
  EXPECT_EQ(json["schema"], "kiln.information/1");
  EXPECT_EQ(json["source"], "plant.csv");
  EXPECT_EQ(json["measure"], "te");
  EXPECT_EQ(json["unit"], "nats");
  EXPECT_EQ(json["symmetric"], false);
  EXPECT_EQ(json["rows"], 2000);
  EXPECT_EQ(json["columns"], (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(json["surrogates"], 200);
  EXPECT_EQ(json["false_discovery_rate"], 0.05);
  EXPECT_EQ(json["parameters"]["--lag"], "1..3");
  EXPECT_EQ(json["notes"], std::vector<std::string>{"a note"});
  ASSERT_EQ(json["links"].size(), 6u);
  const auto& link = json["links"][2];
  EXPECT_EQ(link["source"], "x");
  EXPECT_EQ(link["target"], "y");
  EXPECT_EQ(link["lag"], 1);
  EXPECT_EQ(link["value"], 0.1446);
  EXPECT_EQ(link["spread"], 0.0125);
  EXPECT_EQ(link["effective"], 0.1446 - 0.01);
  EXPECT_EQ(link["p"], 1.0 / 201);
  EXPECT_EQ(link["q"], 0.0149);
  EXPECT_EQ(link["significant"], true);
  EXPECT_EQ(link["status"], "ok");
  EXPECT_EQ(link["k"], 4);
  EXPECT_FALSE(link.contains("local"));
  EXPECT_TRUE(json["links"][1]["value"].is_null());
  EXPECT_EQ(json["links"][1]["status"], "unbounded");
  EXPECT_EQ(json["links"][0]["local"].dump(), "[0.25,null,-0.5]");
}

TEST(MapJson, HasNamesOfAnyBytes) {
  const InformationMap map = test::hostile_map();
  const auto json = nlohmann::json::parse(map_json(map, {"\xff.csv", {{"\xfe", "\xfd"}}}).dump());
  ASSERT_EQ(json["columns"].size(), map.names.size());
  for (std::size_t i = 0; i < map.names.size(); ++i) {
    const auto name = json["columns"][i].get<std::string>();
    EXPECT_TRUE(name == map.names[i] || unescaped(name) == map.names[i]) << name;
  }
}

TEST(MapFiles, AreThoseOfTheMeasure) {
  const auto names_of = [](const InformationMap& map) {
    std::vector<std::string> names;
    for (const MapFile& file : map_files(map, origin, InformationUnit::nats)) {
      names.push_back(file.name);
      EXPECT_FALSE(file.content.empty()) << file.name;
    }
    return names;
  };
  EXPECT_EQ(names_of(test::chain_map()),
            (std::vector<std::string>{"map.csv", "information.json", "heat_map.svg", "graph.svg",
                                      "report.html"}));
  EXPECT_EQ(
      names_of(test::map_of(InformationMeasure::entropy, {"a"}, {test::plain_link(-1, 0, 0.5)}, 0)),
      (std::vector<std::string>{"map.csv", "information.json", "heat_map.svg", "report.html"}));
  for (const InformationMeasure measure :
       {InformationMeasure::transfer_entropy, InformationMeasure::mutual_information,
        InformationMeasure::active_storage}) {
    names_of(test::map_of(measure, {}, {}, 0));  // of a table without columns
  }
}

TEST(MapFiles, HoldNoMarkupAndNoEscapesOfNames) {
  const InformationMap map = test::hostile_map();
  const std::string script = "<script>alert";
  for (const MapFile& file :
       map_files(map, {"<script>alert(2)", {{"<b>", "\x1b[1m&"}}}, InformationUnit::bits)) {
    EXPECT_TRUE(is_utf8(file.content)) << file.name;
    EXPECT_EQ(file.content.find('\x1b'), std::string::npos) << file.name;
    if (file.name == "map.csv" || file.name == "information.json") continue;
    EXPECT_EQ(file.content.find(script), std::string::npos) << file.name;
    EXPECT_EQ(file.content.find("<b>\x1b"), std::string::npos) << file.name;
    EXPECT_EQ(file.content.find(std::string(1000, 'n')), std::string::npos) << file.name;
    const bool picture = file.name.ends_with(".svg");
    EXPECT_EQ(picture ? test::complaint_about(file.content) : "", "");
  }
}

TEST(MapPage, HasPicturesTableNotesAndParameters) {
  InformationMap map = test::chain_map();
  map.notes = {"12 rows & more"};
  const std::string page = map_files(map, origin, InformationUnit::nats).back().content;
  for (const char* part :
       {"<h1>plant.csv</h1>", "Transfer entropy in nats: 2000 rows, 3 columns, 200 surrogates",
        "<section id=\"notes\">", "<li>12 rows &amp; more</li>", "<section id=\"graph\">",
        "<section id=\"heat-map\">", "<section id=\"links\">", "<section id=\"parameters\">",
        "<td>--lag</td><td>1..3</td>"}) {
    EXPECT_EQ(test::count_of(page, part), 1) << part;
  }
  EXPECT_EQ(test::count_of(page, "<svg "), 2);
  EXPECT_EQ(test::count_of(page, "<script>"), 1) << "that of the page";
  EXPECT_EQ(test::count_of(page, "<style>"), 1) << "its content policy allows no other";
  EXPECT_EQ(test::count_of(page, "style=\""), 0);
  // Colours of pictures are those of the theme of the page.
  EXPECT_EQ(test::count_of(page, "=\"#"), test::count_of(page, "href=\"#"));
  // The strongest link is the first row.
  EXPECT_LT(page.find("<td>y</td><td>z</td>"), page.find("<td>x</td><td>y</td>"));
}

TEST(MapPage, IsNoLargerThanAReport) {
  for (const std::string& prefix : {std::string("s"), std::string(200, '&')}) {
    for (const std::int32_t every : {1, 30}) {
      const InformationMap map = test::dense_map(64, every, prefix);
      const std::string page = map_files(map, origin, InformationUnit::nats).back().content;
      EXPECT_LE(page.size(), max_report_bytes);
      EXPECT_EQ(test::count_of(page, "<section "), 4);
    }
  }
}

}  // namespace
}  // namespace kiln::cli::map_files_test
