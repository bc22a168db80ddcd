// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/series/series_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kiln::cli {
namespace {

SeriesAnalysis full_analysis() {
  SeriesAnalysis a;
  a.name = "flow";
  a.rows = a.stretch_rows = 400;
  a.mean = 3.25;
  a.deviation = 1;
  a.autocorrelation_time = 2.5;
  SeriesForecast& forecast = a.forecast.emplace();
  forecast.order = 2;
  forecast.coefficients = {1, 0.5, -0.25};
  forecast.noise_variance = 0.75;
  forecast.aicc = -12;
  for (int h = 0; h < 12; ++h) {
    forecast.mean.push_back(h);
    forecast.lower.push_back(h - 1.5);
    forecast.upper.push_back(h + 1.5);
  }
  Spectrum& spectrum = a.spectrum.emplace();
  for (int k = 0; k < 2049; ++k) {
    spectrum.frequency.push_back(k / 4096.0);
    spectrum.power.push_back(2);
    spectrum.red_noise.push_back(1);
  }
  spectrum.dominant_period = 25;
  spectrum.p_value = 1e-4;
  spectrum.red_noise_coefficient = 0.5;
  a.change_points.emplace().changes = {{200, 1, 2.5, 0.5, 0.25}};
  a.notes = {"one thing to know"};
  return a;
}

TEST(SeriesText, ShowsEachAnalysisOfAColumn) {
  EXPECT_EQ(series_text({full_analysis()}, false),
            "column   rows   missing   mean   deviation   time\n"
            "flow      400         0   3.25           1    2.5\n"
            "time: integrated autocorrelation time, in rows\n"
            "\n"
            "flow\n"
            "forecast by autoregression of order 2\n"
            "row   forecast   lower 5 %   upper 5 %\n"
            "401          0        -1.5         1.5\n"
            "402          1        -0.5         2.5\n"
            "403          2         0.5         3.5\n"
            "404          3         1.5         4.5\n"
            "405          4         2.5         5.5\n"
            "406          5         3.5         6.5\n"
            "407          6         4.5         7.5\n"
            "408          7         5.5         8.5\n"
            "409          8         6.5         9.5\n"
            "410          9         7.5        10.5\n"
            "... and 2 more steps\n"
            "period 25 rows: p = 0.0001 against red noise of coefficient 0.50\n"
            "change at row   mean before   mean after\n"
            "          201             1          2.5\n"
            "note: one thing to know\n");
  const std::string whole = series_text({full_analysis()}, true);
  EXPECT_NE(whole.find("\n412         11         9.5        12.5\n"), std::string::npos) << whole;
  EXPECT_EQ(whole.find("more steps"), std::string::npos);
}

TEST(SeriesText, SaysWhatDoesNotStandOut) {
  SeriesAnalysis a = full_analysis();
  a.forecast.reset();
  a.spectrum->p_value = 0.3;
  a.change_points->changes.clear();
  const std::string text = series_text({a}, false);
  EXPECT_NE(text.find("period 25 rows does not stand out: p = 0.3"), std::string::npos) << text;
  EXPECT_NE(text.find("no change of the mean\n"), std::string::npos) << text;
}

TEST(SeriesText, FitsTheTerminalAndCannotSteerIt) {
  SeriesAnalysis a;
  a.name = "\x1b[2J" + std::string(60, 'x') + "\xc3\xa9";
  a.notes = {std::string(30, 'a') + " " + std::string(30, 'b') + " " + std::string(30, 'c')};
  const std::string text = series_text({a, full_analysis()}, false, 79);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("?[2Jxxxxxxxxxxxxxxxxx...  "), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 79u) << line;
  EXPECT_NE(text.find("      -"), std::string::npos) << text;  // no mean
}

TEST(SeriesJson, HasTheSameNumbers) {
  SeriesAnalysis unknown;
  unknown.name = "a\nb";
  const std::string text = series_json({full_analysis(), unknown}).dump();
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json[0]["forecast"]["model"], "ar");
  EXPECT_EQ(json[0]["forecast"]["first_row"], 401);
  EXPECT_EQ(json[0]["forecast"]["upper"][11], 12.5);
  EXPECT_EQ(json[0]["forecast"]["coefficients"], (std::vector<double>{1, 0.5, -0.25}));
  EXPECT_EQ(json[0]["spectrum"]["power"].size(), 683u);  // 2049 frequencies in bands of 3
  EXPECT_EQ(json[0]["spectrum"]["frequency"][1], 4 / 4096.0);
  EXPECT_EQ(json[0]["change_points"]["changes"][0]["row"], 201);
  EXPECT_EQ(json[1]["name"], "a\\x0ab");
  EXPECT_TRUE(json[1]["mean"].is_null());
  EXPECT_FALSE(json[1].contains("forecast"));
}

}  // namespace
}  // namespace kiln::cli
