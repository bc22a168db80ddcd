// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The curves in report.html go through the numbers of telemetry.bin, trace.csv and
// incumbents.ndjson.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/telemetry/reader.hpp"

#include "program.hpp"

namespace kiln::test::report_telemetry_test {
namespace {

struct Point {
  double x = 0, y = 0;
};

/// A chart of a page: the paths of each kind in pixels, and what a pixel stands for.
class ReadChart {
 public:
  ReadChart(const std::string& html, const std::string& title) {
    const std::size_t begin = html.find("<figcaption>" + title + "</figcaption>");
    if (begin == std::string::npos) return;
    text_ = html.substr(begin, html.find("</figure>", begin) - begin);
    found_ = true;
    read_labels();
  }

  bool found() const { return found_; }
  /// The points of the path of a group, in the units of the axes.
  std::vector<Point> path(const std::string& group) const {
    std::vector<Point> points;
    const std::size_t begin = text_.find("<g class=\"" + group + "\">");
    if (begin == std::string::npos) return points;
    const std::string part = text_.substr(begin, text_.find("</g>", begin) - begin);
    const std::regex pair("[ML]([-0-9.]+) ([-0-9.]+)");
    for (std::sregex_iterator one(part.begin(), part.end(), pair), end; one != end; ++one) {
      points.push_back({x_(std::stod((*one)[1])), y_(std::stod((*one)[2]))});
    }
    return points;
  }
  double pixel_x() const { return std::abs(x_.slope); }
  double pixel_y() const { return std::abs(y_.slope); }

 private:
  struct Line {
    double slope = 0, offset = 0;
    double operator()(double pixel) const { return slope * pixel + offset; }
  };
  // From the first and the last label of each axis; those of y stand 4 pixels below their line.
  void read_labels() {
    const std::regex label(
        "<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" font-size=\"12\" "
        "text-anchor=\"(middle|end)\">(-?[0-9.]+(?:e-?[0-9]+)?)</text>");
    std::vector<Point> across, up;
    for (std::sregex_iterator one(text_.begin(), text_.end(), label), end; one != end; ++one) {
      const bool is_y = (*one)[3] == "end";
      const double pixel = is_y ? std::stod((*one)[2]) - 4 : std::stod((*one)[1]);
      (is_y ? up : across).push_back({pixel, std::stod((*one)[4])});
    }
    const auto line = [](const std::vector<Point>& p) {
      Line found;
      found.slope = (p.back().y - p.front().y) / (p.back().x - p.front().x);
      found.offset = p.front().y - found.slope * p.front().x;
      return found;
    };
    ASSERT_GE(across.size(), 2u);
    ASSERT_GE(up.size(), 2u);
    x_ = line(across);
    y_ = line(up);
  }

  std::string text_;
  bool found_ = false;
  Line x_, y_;
};

/// The numbers of a file, by their kind.
struct Epochs {
  std::vector<Point> mean, best, low, high, acceptance;
  std::map<std::uint64_t, std::vector<double>> group_means;  // by step
};

Epochs epochs_of(const TelemetryReader& file) {
  Epochs epochs;
  for (const TelemetryRecord& record : file.records()) {
    const auto step = static_cast<double>(record.step);
    const double mean = file.value_of(record.energy);
    if (record.kind() == TelemetryKind::group) epochs.group_means[record.step].push_back(mean);
    if (record.kind() != TelemetryKind::run) continue;
    const double sd = record.deviation * std::abs(file.header().value_slope);
    epochs.mean.push_back({step, mean});
    epochs.best.push_back({step, file.value_of(record.best)});
    epochs.low.push_back({step, mean - sd});
    epochs.high.push_back({step, mean + sd});
    if (record.step > 0) epochs.acceptance.push_back({step, record.acceptance});
  }
  return epochs;
}

class ReportOfTelemetry : public ProgramTest {
 protected:
  static constexpr double hundredth = 0.02;  // of a pixel, to which coordinates are rounded

  /// Every point of the curve is one of the file, and of each column of pixels the curve has the
  /// least and the greatest value.
  static void expect_curve(const ReadChart& chart, const std::string& group,
                           const std::vector<Point>& wanted) {
    const std::vector<Point> drawn = chart.path(group);
    ASSERT_FALSE(drawn.empty()) << group;
    const double dx = chart.pixel_x(), dy = chart.pixel_y();
    const auto near = [&](const Point& a, const Point& b) {
      return std::abs(a.x - b.x) < hundredth * dx && std::abs(a.y - b.y) < hundredth * dy;
    };
    for (const Point& point : drawn) {
      EXPECT_TRUE(std::ranges::any_of(wanted, [&](const Point& w) { return near(point, w); }))
          << group << " " << point.x << " " << point.y;
    }
    for (const Point& point : wanted) {
      const auto beside = [&](const Point& d) { return std::abs(d.x - point.x) < 1.02 * dx; };
      const auto covers = [&](double sign) {
        return std::ranges::any_of(drawn, [&](const Point& d) {
          return beside(d) && sign * (d.y - point.y) > -hundredth * dy;
        });
      };
      EXPECT_TRUE(covers(1) && covers(-1)) << group << " " << point.x << " " << point.y;
    }
    EXPECT_TRUE(near(drawn.front(), wanted.front())) << group;
    EXPECT_TRUE(near(drawn.back(), wanted.back())) << group;
  }

  /// The band of a chart: there along one edge, back along the other.
  static void expect_band(const ReadChart& chart, const std::string& group,
                          const std::vector<Point>& low, const std::vector<Point>& high) {
    const std::vector<Point> outline = chart.path(group);
    ASSERT_GE(outline.size(), 4u) << group;
    ASSERT_EQ(outline.size() % 2, 0u) << group;
    const double dx = chart.pixel_x(), dy = chart.pixel_y();
    const auto half = static_cast<std::ptrdiff_t>(outline.size() / 2);
    const std::vector<Point> there(outline.begin(), outline.begin() + half),
        back(outline.rbegin(), outline.rbegin() + half);
    const auto extreme = [&](const std::vector<Point>& edge, const std::vector<Point>& wanted,
                             double sign) {
      for (const Point& point : wanted) {
        EXPECT_TRUE(std::ranges::any_of(edge,
                                        [&](const Point& e) {
                                          return std::abs(e.x - point.x) < 1.02 * dx &&
                                                 sign * (e.y - point.y) > -hundredth * dy;
                                        }))
            << group << " " << point.x << " " << point.y;
      }
      for (const Point& point : edge) {
        EXPECT_TRUE(std::ranges::any_of(wanted,
                                        [&](const Point& w) {
                                          return std::abs(w.x - point.x) < 1.02 * dx &&
                                                 std::abs(w.y - point.y) < hundredth * dy;
                                        }))
            << group << " " << point.x << " " << point.y;
      }
    };
    extreme(there, low, -1);
    extreme(back, high, 1);
  }

  /// The curve has a level from each point to the next, and no slopes.
  static void expect_steps(const ReadChart& chart, const std::string& group,
                           std::vector<Point> wanted) {
    const std::vector<Point> drawn = chart.path(group);
    ASSERT_FALSE(drawn.empty()) << group;
    const double dx = chart.pixel_x(), dy = chart.pixel_y();
    const auto same = [](const Point& a, const Point& b) { return a.y == b.y; };
    wanted.erase(std::unique(wanted.begin(), wanted.end(), same), wanted.end());
    for (std::size_t i = 0; i + 1 < drawn.size(); ++i) {
      const bool level = std::abs(drawn[i].y - drawn[i + 1].y) < hundredth * dy;
      EXPECT_TRUE(level || std::abs(drawn[i].x - drawn[i + 1].x) < hundredth * dx)
          << group << " " << drawn[i].x;
    }
    std::size_t checked = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double end = i + 1 < wanted.size() ? wanted[i + 1].x : drawn.back().x;
      if (end - wanted[i].x < 2.2 * dx) continue;  // within a pixel of it others may hide it
      const double middle = (wanted[i].x + end) / 2;
      for (std::size_t k = 0; k + 1 < drawn.size(); ++k) {
        if (!(drawn[k].x <= middle && middle < drawn[k + 1].x)) continue;
        EXPECT_NEAR(drawn[k].y, wanted[i].y, hundredth * dy) << group << " " << middle;
        ++checked;
      }
    }
    EXPECT_GT(checked, 0u) << group;
  }

  TelemetryReader file() const {
    return TelemetryReader::open((folder_ / "run/telemetry.bin").string());
  }
};

// More epochs than the chart has columns, so that the curves are thinned.
TEST_F(ReportOfTelemetry, HasTheCurvesOfTheFile) {
  ASSERT_EQ(run(solve("torus:8x8,1", {"--schedule", "simulated-annealing", "--replicas", "32", "-p",
                                      "groups=4", "--sweeps", "2M", "--telemetry", "groups",
                                      "--telemetry-budget", "1Mi", "-q", "-o", "run"}))
                .exit_code,
            0);
  const std::string html = read("run/report.html");
  EXPECT_LT(html.size(), 500'000u);
  const Epochs epochs = epochs_of(file());
  ASSERT_GT(epochs.mean.size(), 800u) << "more than the columns of a chart";

  const ReadChart values(html, "Best, mean and standard deviation by epoch");
  ASSERT_TRUE(values.found());
  expect_curve(values, "line c1 thin", epochs.mean);
  expect_band(values, "band c1", epochs.low, epochs.high);
  expect_steps(values, "line c0", epochs.best);

  const ReadChart acceptance(html, "Acceptance by epoch");
  ASSERT_TRUE(acceptance.found());
  expect_curve(acceptance, "line c1 thin", epochs.acceptance);

  std::vector<Point> least, greatest;
  for (const auto& [step, means] : epochs.group_means) {
    least.push_back({static_cast<double>(step), std::ranges::min(means)});
    greatest.push_back({static_cast<double>(step), std::ranges::max(means)});
  }
  const ReadChart groups(html, "Range of the groups by epoch");
  ASSERT_TRUE(groups.found());
  expect_band(groups, "band c1", least, greatest);
}

// Against sweeps, where both axes are linear.
TEST_F(ReportOfTelemetry, CurvesOfTheRunAreThoseOfTraceAndIncumbents) {
  for (const char* schedule :
       {"simulated-annealing", "parallel-tempering", "population-annealing"}) {
    const Outcome outcome =
        run({"solve", "torus:20x20,1", "--schedule", schedule, "--sweeps", "2000", "--replicas",
             "64", "--device", "cpu", "--report-interval", "0.01", "-q", "-o", schedule});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string folder = schedule, html = read(folder + "/report.html");
    std::vector<Point> mean, best;
    std::istringstream trace(read(folder + "/trace.csv"));
    std::string line;
    std::getline(trace, line);
    ASSERT_TRUE(line.starts_with("time_s,sweeps,attempts,best,mean,")) << line;
    while (std::getline(trace, line)) {
      std::istringstream cells(line);
      std::vector<std::string> cell(5);
      for (std::string& one : cell) std::getline(cells, one, ',');
      if (!cell[4].empty()) mean.push_back({std::stod(cell[1]), std::stod(cell[4])});
    }
    std::istringstream incumbents(read(folder + "/incumbents.ndjson"));
    while (std::getline(incumbents, line)) {
      const auto one = nlohmann::json::parse(line);
      best.push_back({one["sweeps"].get<double>(), one["value"].get<double>()});
    }
    ASSERT_GT(mean.size(), 1u) << schedule;
    ASSERT_GT(best.size(), 2u) << schedule;
    const ReadChart chart(html, "Best and mean against work");
    ASSERT_TRUE(chart.found()) << schedule;
    expect_curve(chart, "line c1 thin", mean);
    expect_steps(chart, "line c0", best);
  }
}

TEST_F(ReportOfTelemetry, IsLeftOutWhereTheFileIsNone) {
  ASSERT_EQ(run(short_run({"-q", "-o", "run", "--telemetry", "off"})).exit_code, 0);
  EXPECT_EQ(read("run/report.html").find("id=\"telemetry\""), std::string::npos);

  write("run/telemetry.bin", "KILNTEL\nbut no more than that");
  EXPECT_EQ(run({"report", "run"}).exit_code, 0);
  const std::string html = read("run/report.html");
  EXPECT_EQ(html.find("id=\"telemetry\""), std::string::npos);
  EXPECT_NE(html.find("telemetry.bin was left out: "), std::string::npos);
}

}  // namespace
}  // namespace kiln::test::report_telemetry_test
