// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// --metrics of runs: read while they run and after, and places that cannot be written to.
#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "metrics_reader.hpp"
#include "program.hpp"

namespace kiln::test::metrics_test {
namespace {

using namespace std::chrono_literals;

class Metrics : public ProgramTest {
 protected:
  double value_of(const MetricsPage& page, const std::string& name) const {
    EXPECT_EQ(page.samples.count(name), 1U) << name;
    const auto at = page.samples.find(name);
    return at == page.samples.end() ? 0 : at->second.value;
  }
  void expect_refused(const std::string& file, const std::string& message) {
    const Outcome outcome = run(short_run({"--metrics", file}));
    EXPECT_EQ(outcome.exit_code, 6) << file;
    EXPECT_TRUE(outcome.err.find(message) != std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
};

TEST_F(Metrics, EndWithTheResultAndTheReason) {
  const nlohmann::json result = result_of(run(short_run({"--metrics", "kiln.prom", "--json"})));
  const MetricsPage page = read_metrics(read("kiln.prom"));
  EXPECT_EQ(value_of(page, "kiln_run_active"), 0);
  EXPECT_EQ(value_of(page, "kiln_best_value"), result["objective"]["best"].get<double>());
  EXPECT_EQ(value_of(page, "kiln_run_steps"), result["work"]["sweeps"].get<double>());
  EXPECT_EQ(value_of(page, "kiln_best_found_seconds"), result["time"]["to_best_s"].get<double>());
  EXPECT_EQ(value_of(page, "kiln_run_attempts"), result["work"]["attempts"].get<double>());
  EXPECT_EQ(page.samples.find("kiln_run_stop")->second.labels.at("reason"), result["stop"]);
  const auto& labels = page.samples.find("kiln_run_active")->second.labels;
  EXPECT_EQ(labels.at("schedule"), "simulated-annealing");
  EXPECT_EQ(labels.at("device"), "cpu");
}

TEST_F(Metrics, AreWholeAtEveryMomentOfARun) {
  auto solving = std::async(std::launch::async, [&] {
    return run(solve("gset:G1", {"--time-limit", "2.6", "--metrics", "kiln.prom", "-q"}));
  });
  std::set<double> steps;
  bool active = false;
  while (solving.wait_for(5ms) != std::future_status::ready) {
    if (!exists("kiln.prom")) continue;
    const MetricsPage page = read_metrics(read("kiln.prom"));
    active |= value_of(page, "kiln_run_active") == 1;
    steps.insert(value_of(page, "kiln_run_steps"));
  }
  EXPECT_EQ(solving.get().exit_code, 0);
  EXPECT_TRUE(active);
  EXPECT_GE(steps.size(), 3U);
  EXPECT_LE(steps.size(), 5U) << "once a second, and at the end";
  EXPECT_EQ(value_of(read_metrics(read("kiln.prom")), "kiln_run_active"), 0);
}

TEST_F(Metrics, OfSamplers) {
  const Outcome outcome = run({"sample", "posterior:eight-schools", "--device", "cpu", "--draws",
                               "50", "--warmup", "50", "--metrics", "kiln.prom"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const MetricsPage page = read_metrics(read("kiln.prom"));
  EXPECT_EQ(value_of(page, "kiln_run_steps"), 100);
}

TEST_F(Metrics, ReplaceEarlierOnesAndNothingElse) {
  ASSERT_EQ(run(short_run({"--metrics", "kiln.prom"})).exit_code, 0);
  EXPECT_EQ(run(short_run({"--metrics", "kiln.prom"})).exit_code, 0);
  write("mine.txt", "my notes\n");
  expect_refused("mine.txt",
                 "error[io.exists]: mine.txt is not a file of Kiln's metrics, and Kiln does not "
                 "overwrite it\n  fix: --metrics another-name.prom\n");
  EXPECT_EQ(read("mine.txt"), "my notes\n");
  std::filesystem::create_symlink("kiln.prom", folder_ / "link");
  expect_refused("link", "is not a regular file");
  expect_refused("/dev/null", "is not a regular file");
}

TEST_F(Metrics, APlaceThatCannotBeWrittenIsRefusedBeforeTheRun) {
  expect_refused("none/kiln.prom",
                 "error[io.write]: none/kiln.prom: cannot be created: No such file or directory\n");
  expect_refused(".", "is not a regular file");
}

TEST_F(Metrics, ADiskThatFillsUpCostsAWarningAndNotTheRun) {
  Call call{solve("gset:G1", {"--time-limit", "2.2", "--metrics", "kiln.prom"})};
  call.file_limit = 100;
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::size_t first =
      outcome.err.find("warning[metrics.write]: kiln.prom: cannot be written");
  EXPECT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("warning[metrics.write]", first + 1), std::string::npos) << "once";
  EXPECT_NE(outcome.out.find("done "), std::string::npos);
  EXPECT_FALSE(exists("kiln.prom"));
}

}  // namespace
}  // namespace kiln::test::metrics_test
