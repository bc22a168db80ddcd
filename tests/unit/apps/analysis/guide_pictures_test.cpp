// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The pictures and the table of docs/guides/reading_a_map.md are what the program makes of the map
// below. When the program draws otherwise, this test writes the new pictures into the folder that
// it names.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kiln/information/estimate_information.hpp"

#include "analysis/map_files.hpp"
#include "analysis/map_text.hpp"
#include "map_fixtures.hpp"

namespace kiln::cli::guide_pictures_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A pump that a valve and a set speed drive. Values are made up.
InformationMap pump_map() {
  InformationMap map = test::map_of(
      InformationMeasure::transfer_entropy,
      {"valve", "speed", "flow", "pressure", "power", "temperature", "vibration", "ambient"}, {},
      200);
  map.notes = {"12 of 2012 rows have a missing value and are left out."};
  const auto strength = [](std::int32_t source, std::int32_t target) {
    struct Drive {
      std::int32_t source, target;
      double value;
    };
    constexpr Drive drives[] = {{0, 2, 0.312}, {1, 2, 0.158}, {1, 4, 0.271}, {2, 3, 0.226},
                                {3, 2, 0.094}, {4, 5, 0.143}, {1, 6, 0.081}, {7, 5, 0.057}};
    for (const Drive& drive : drives) {
      if (drive.source == source && drive.target == target) return drive.value;
    }
    return 0.0;
  };
  for (std::int32_t target = 0; target < 8; ++target) {
    for (std::int32_t source = 0; source < 8; ++source) {
      if (source == target) continue;
      const double value = strength(source, target);
      const double noise = 0.004 + 0.001 * ((5 * source + 3 * target) % 9);
      InformationLink link = test::tested_link(source, target, 1, value + 0.01 + noise, value > 0);
      link.estimate.p_value =
          value > 0 ? std::pow(10.0, -100 * value) : 0.06 + 0.11 * ((3 * source + 5 * target) % 9);
      map.links.push_back(link);
    }
  }
  std::vector<double> p_values;
  for (const InformationLink& link : map.links) p_values.push_back(link.estimate.p_value);
  const std::vector<double> rates = false_discovery_rates(p_values);
  for (std::size_t i = 0; i < rates.size(); ++i) map.links[i].q_value = rates[i];
  return map;
}

TEST(GuideToMaps, HasThePicturesThatTheProgramDraws) {
  const fs::path guides = fs::path(KILN_SOURCE_DIR) / "docs/guides";
  const fs::path folder = fs::temp_directory_path() / "kiln_guide_pictures";
  for (const MapFile& file : map_files(pump_map(), {}, InformationUnit::nats)) {
    if (!file.name.ends_with(".svg")) continue;
    const std::string name = "map_" + file.name;
    if (read(guides / name) == file.content) continue;
    fs::create_directories(folder);
    std::ofstream(folder / name, std::ios::binary) << file.content;
    ADD_FAILURE() << name << " differs from " << folder / name;
  }
}

TEST(GuideToMaps, HasTheTableThatTheProgramPrints) {
  InformationMap map = pump_map();
  const std::string page = read(fs::path(KILN_SOURCE_DIR) / "docs/guides/reading_a_map.md");
  EXPECT_NE(page.find(map_text(map, {.file = "out/pump/map.csv"})), std::string::npos)
      << map_text(map, {.file = "out/pump/map.csv"});
}

}  // namespace
}  // namespace kiln::cli::guide_pictures_test
