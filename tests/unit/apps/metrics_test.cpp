// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Metrics against a strict reader of the grammar that Prometheus 0.0.4 and OpenMetrics 1.0.0 share.
#include "output/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "metrics_reader.hpp"

namespace kiln::cli::metrics_test {
namespace {

using kiln::test::MetricsPage;
using kiln::test::read_metrics;

MetricReading reading() {
  MetricReading r;
  r.point.time_s = 4.5;
  r.point.sweeps = 1000;
  r.point.attempts = 2e9;
  r.point.mean = -3.25;
  r.point.acceptance_rate = 0.25;
  r.point.attempts_per_ns = 1.5;
  r.point.beta = 2;
  r.point.time_left_s = 5.5;
  r.best = 99.0;
  r.best_known = 100.0;
  r.improved_s = 2;
  r.quantities = {"mean", "acceptance_rate", "beta", "attempts_per_ns"};
  return r;
}

TEST(Metrics, HaveTheValuesOfTheReading) {
  const MetricsPage page = read_metrics(metrics_text({"gset:G22", "sa", "cpu", 7}, reading()));
  const std::map<std::string, double> expected{
      {"kiln_run_active", 1},          {"kiln_run_elapsed_seconds", 4.5},
      {"kiln_run_left_seconds", 5.5},  {"kiln_run_steps", 1000},
      {"kiln_run_attempts", 2e9},      {"kiln_run_attempts_per_second", 1.5e9},
      {"kiln_best_value", 99},         {"kiln_best_known_value", 100},
      {"kiln_best_found_seconds", 2},  {"kiln_gap_ratio", 0.01},
      {"kiln_mean_value", -3.25},      {"kiln_acceptance_ratio", 0.25},
      {"kiln_inverse_temperature", 2}, {"kiln_nonfinite_energies", 0}};
  for (const auto& [name, value] : expected) {
    ASSERT_EQ(page.samples.count(name), 1U) << name;
    const auto& sample = page.samples.find(name)->second;
    EXPECT_EQ(sample.value, value) << name;
    EXPECT_EQ(sample.labels.at("problem"), "gset:G22");
    EXPECT_EQ(sample.labels.at("schedule"), "sa");
    EXPECT_EQ(sample.labels.at("device"), "cpu");
    EXPECT_EQ(sample.labels.at("seed"), "7");
  }
}

TEST(Metrics, EscapeLabels) {
  const MetricsPage page =
      read_metrics(metrics_text({"a\"b\\c\nd\x1b[31m", "s", "cpu", 1}, reading()));
  EXPECT_EQ(page.samples.find("kiln_run_active")->second.labels.at("problem"), "a\"b\\c?d?[31m");
}

TEST(Metrics, LeaveOutWhatIsNotKnown) {
  MetricReading r = reading();
  r.best.reset();
  r.point.time_left_s = -1;
  r.point.beta = std::numeric_limits<double>::infinity();
  r.point.mean = std::nan("");
  const MetricsPage page = read_metrics(metrics_text({"p", "s", "cpu", 1}, r));
  for (const char* name : {"kiln_best_value", "kiln_gap_ratio", "kiln_run_left_seconds",
                           "kiln_inverse_temperature", "kiln_run_stop"}) {
    EXPECT_EQ(page.samples.count(name), 0U) << name;
  }
  EXPECT_TRUE(std::isnan(page.samples.find("kiln_mean_value")->second.value));
}

TEST(Metrics, LeaveOutWhatTheScheduleDoesNotCount) {
  MetricReading r = reading();
  r.quantities = {"acceptance_rate"};
  const MetricsPage page = read_metrics(metrics_text({"p", "s", "cpu", 1}, r));
  EXPECT_EQ(page.samples.count("kiln_acceptance_ratio"), 1U);
  for (const char* name :
       {"kiln_mean_value", "kiln_inverse_temperature", "kiln_run_attempts_per_second"}) {
    EXPECT_EQ(page.samples.count(name), 0U) << name;
  }
}

TEST(Metrics, ShowAlertsAndTheReasonOfTheEnd) {
  MetricReading r = reading();
  r.alerts[AlertCode::memory] = {AlertCode::memory, "m", "f"};
  r.stop = "time_limit";
  const MetricsPage page = read_metrics(metrics_text({"p", "s", "cpu", 1}, r));
  std::map<std::string, double> alerts;
  const auto [begin, end] = page.samples.equal_range("kiln_alert_active");
  for (auto at = begin; at != end; ++at) alerts[at->second.labels.at("code")] = at->second.value;
  EXPECT_EQ(alerts.size(), all_alert_codes.size());
  for (const auto& [code, value] : alerts) EXPECT_EQ(value, code == "memory" ? 1 : 0) << code;
  EXPECT_EQ(page.samples.find("kiln_run_stop")->second.labels.at("reason"), "time_limit");
  EXPECT_EQ(page.samples.find("kiln_run_active")->second.value, 0);
}

TEST(Metrics, AreRecognisedByTheirFirstLine) {
  EXPECT_TRUE(is_metrics_text(metrics_text({"p", "s", "cpu", 1}, reading())));
  EXPECT_FALSE(is_metrics_text("# HELP node_load1 1m load average.\n"));
}

// The reader of the tests refuses what the grammars refuse.
TEST(Metrics, TheReaderOfTheTestsIsStrict) {
  const std::string head = "# HELP a_seconds Help.\n# TYPE a_seconds gauge\n";
  EXPECT_NO_THROW(read_metrics(head + "# UNIT a_seconds seconds\na_seconds{x=\"1\"} 2\n# EOF\n"));
  for (const std::string& bad : std::initializer_list<std::string>{
           head + "a_seconds 2\n", head + "# EOF", head + "a_seconds{x=1} 2\n# EOF\n",
           head + "a_seconds{x=\"1\" 2\n# EOF\n", head + "a_seconds two\n# EOF\n",
           head + "b_seconds 2\n# EOF\n", "a_seconds 2\n# EOF\n",
           head + "# UNIT a_seconds bytes\na_seconds 2\n# EOF\n",
           head + "a_seconds 2\na_seconds 3\n# EOF\n", head + "a_seconds{x=\"\\q\"} 2\n# EOF\n",
           head + "a_seconds 2\n" + head + "a_seconds{x=\"1\"} 2\n# EOF\n",
           "# HELP a_seconds Help.\n# TYPE a_seconds counter\na_seconds 2\n# EOF\n"}) {
    EXPECT_THROW(read_metrics(bad), std::runtime_error) << bad;
  }
}

}  // namespace
}  // namespace kiln::cli::metrics_test
