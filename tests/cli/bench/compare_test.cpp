// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench --compare. Figures of the earlier document are changed by factors that no noise
// reaches, so that no test looks at a time.
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::bench_compare_test {
namespace {

using nlohmann::json;

constexpr double far = 1e6;
constexpr const char* wide = "100000";  // tolerance, in percent: a factor of 1001

/// A suite with a row that takes little time.
struct SuiteCase {
  std::string name, only, figure;
  bool more_is_better;
};

class BenchCompare : public ProgramTest {
 protected:
  static std::vector<std::string> words(const SuiteCase& suite, std::vector<std::string> more) {
    std::vector<std::string> all{"bench", suite.name, "--device", "cpu",      "--threads",
                                 "1",     "--quick",  "--only",   suite.only, "-q"};
    if (suite.name == "sweep") all.insert(all.end(), {"--sweeps", "20"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  json earlier(const SuiteCase& suite) const {
    const Outcome outcome = run(words(suite, {"--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  /// Writes the document with the figure of its first row times a factor, and compares with it.
  Outcome compare(const SuiteCase& suite, json document, double factor,
                  std::vector<std::string> more = {}) const {
    json& figure = document["rows"][0][json::json_pointer(suite.figure)];
    if (!figure.is_null()) figure = figure.get<double>() * factor;
    write("before.json", document.dump());
    more.insert(more.end(), {"--compare", "before.json"});
    return run(words(suite, more));
  }
};

const SuiteCase sweep{"sweep", "torus:50x40,1", "/attempts_per_ns", true};

void expect_refused(const Outcome& outcome, const std::string& message) {
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, message);
}

TEST_F(BenchCompare, KnowsOfEverySuiteWhatIsSlower) {
  const std::vector<SuiteCase> suites{
      sweep,
      {"kernels", "advance_tick", "/microseconds/median", false},
      {"ticks", "parallel-tempering torus:10x10,1", "/microseconds_per_sweep", false},
      {"tempering", "torus:10x10,1", "/attempts_per_ns", true},
      {"sampling", "eight-schools, one chain", "/effective_draws_per_s", true},
      {"pareto", "zdt:1 nsga2", "/generations_per_s", true},
      {"bayes", "hard: one evaluation", "/milliseconds", false}};
  for (const SuiteCase& suite : suites) {
    const json document = earlier(suite);
    ASSERT_EQ(document["rows"].size(), 1u) << suite.name;
    const Outcome slower = compare(suite, document, suite.more_is_better ? far : 1 / far);
    EXPECT_EQ(slower.exit_code, 11) << suite.name << slower.err;
    EXPECT_NE(slower.out.find("\n1 row: 1 slower, 0 faster, 0 within 5 %\n"), std::string::npos)
        << slower.out;
    const Outcome faster = compare(suite, document, suite.more_is_better ? 1 / far : far);
    EXPECT_EQ(faster.exit_code, 0) << suite.name << faster.err;
    EXPECT_NE(faster.out.find("\n1 row: 0 slower, 1 faster, 0 within 5 %\n"), std::string::npos)
        << faster.out;
    const Outcome within = compare(suite, document, 1, {"--tolerance", wide});
    EXPECT_EQ(within.exit_code, 0) << suite.name << within.err;
    EXPECT_NE(within.out.find("\n1 row: 0 slower, 0 faster, 1 within 100000 %\n"),
              std::string::npos)
        << within.out;
  }
}

TEST_F(BenchCompare, WritesBothFiguresAndTheirRatio) {
  json document = earlier(sweep);
  const double before = document["rows"][0]["attempts_per_ns"].get<double>() * far;
  const Outcome outcome = compare(sweep, document, far, {"--json"});
  EXPECT_EQ(outcome.exit_code, 11);
  const json after = json::parse(outcome.out);
  const json& comparison = after["comparison"];
  EXPECT_EQ(comparison["file"], "before.json");
  EXPECT_EQ(comparison["kiln"], document["kiln"]);
  EXPECT_EQ(comparison["date"], document["date"]);
  EXPECT_EQ(comparison["tolerance"], 0.05);
  EXPECT_EQ(comparison["more_is_better"], true);
  ASSERT_EQ(comparison["rows"].size(), 1u);
  const json& row = comparison["rows"][0];
  const double now = after["rows"][0]["attempts_per_ns"];
  EXPECT_EQ(row["row"], "torus:50x40,1, 20 sweeps, 1 thread");
  EXPECT_DOUBLE_EQ(row["before"], before);
  EXPECT_DOUBLE_EQ(row["now"], now);
  EXPECT_DOUBLE_EQ(row["ratio"], now / before);
  EXPECT_EQ(row["change"], "slower");
  EXPECT_EQ(comparison["slower"], 1);
  EXPECT_EQ(comparison["faster"], 0);
}

// A run that missed the target took longer than its limit, and nothing else is known of it.
TEST_F(BenchCompare, CountsAMissedTargetAsLongerThanItsLimit) {
  json document = earlier({"time-to-target", "G1", "/limit_s", false});
  ASSERT_EQ(document["rows"].size(), 1u);
  json& row = document["rows"][0];
  const auto verdict = [&](double before_s, const char* tolerance) {
    row["median_s"] = before_s;
    write("before.json", document.dump());
    const Outcome outcome = run({"bench", "time-to-target", "--device", "cpu", "--threads", "1",
                                 "--quick", "--only", "G1", "-q", "--time-limit", "2ms", "--json",
                                 "--compare", "before.json", "--tolerance", tolerance});
    const json rows = json::parse(outcome.out)["comparison"]["rows"];
    EXPECT_EQ(outcome.exit_code, rows[0]["change"] == "slower" ? 11 : 0);
    EXPECT_TRUE(rows[0]["now"].is_null());
    return rows[0]["change"].get<std::string>();
  };
  EXPECT_EQ(verdict(0.00099, "0"), "slower") << "longer than 1 ms";
  EXPECT_EQ(verdict(0.00101, "0%"), "unknown") << "longer than 1 ms, which may be less";
  EXPECT_EQ(verdict(0.00095, "5"), "slower");
  EXPECT_EQ(verdict(0.00096, "5"), "unknown") << "1.05 times 0.96 ms is more than 1 ms";
}

TEST_F(BenchCompare, MatchesRowsByWhatTheyAreAndNotByTheirPlace) {
  json document = earlier(sweep);
  json& rows = document["rows"];
  rows.push_back(rows[0]);
  rows[0]["instance"] = "gset:G1";  // not wanted by --only
  rows.push_back(rows[1]);
  rows[2]["sweeps"] = 21;
  write("before.json", document.dump());

  std::vector<std::string> more{"--compare", "before.json", "--tolerance", wide, "--json"};
  const json quick = json::parse(run(words(sweep, more)).out)["comparison"];
  EXPECT_EQ(quick["rows"].size(), 1u) << "with --quick no row is missing";

  const Outcome outcome =
      run({"bench", "sweep", "--device", "cpu", "--threads", "1", "--time-limit", "10ms", "--only",
           "torus", "--sweeps", "20", "-q", "--compare", "before.json", "--tolerance", wide});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\ntorus:50x40,1, 21 sweeps, 1 thread "), std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("gset:G1"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("\n1 row: 0 slower, 0 faster, 1 within 100000 %, 1 missing\n"))
      << outcome.out;

  document["rows"].erase(1);
  write("before.json", document.dump());
  const Outcome none = run(words(sweep, {"--compare", "before.json"}));
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_TRUE(none.out.ends_with("\n0 rows: 0 slower, 0 faster, 0 within 5 %, 1 new\n"))
      << none.out;
  EXPECT_TRUE(
      none.err.starts_with("error[compare.rows]: before.json has none of the rows of this run\n"))
      << none.err;
}

TEST_F(BenchCompare, OfAnInterruptedSuiteHasTheRowsThatWereMeasured) {
  const std::vector<std::string> kernels{"bench", "kernels", "--device", "cpu",  "--threads",
                                         "1",     "--quick", "--only",   "state"};
  std::vector<std::string> first = kernels;
  first.insert(first.end(), {"--json", "-q"});
  const Outcome whole = run(first);
  const std::size_t rows = json::parse(whole.out)["rows"].size();
  ASSERT_GT(rows, 3u);
  write("before.json", whole.out);
  Call call{kernels};
  call.words.insert(call.words.end(), {"--compare", "before.json", "--tolerance", wide});
  call.signal = SIGINT;
  call.signal_at = "measuring  3 of ";

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_GT(lines.size(), 6u);
  const std::size_t measured = lines.size() - 6;  // head, source, gap, names; gap, summary
  EXPECT_GE(measured, 2u);
  EXPECT_LT(measured, rows);
  const std::string n = std::to_string(measured);
  EXPECT_EQ(lines.back(), n + " rows: 0 slower, 0 faster, " + n + " within 100000 %");
}

TEST_F(BenchCompare, RefusesFiguresThatAreNotComparable) {
  const json document = earlier(sweep);
  const auto refused = [&](const json& changes) {
    json other = document;
    other.merge_patch(changes);
    return compare(sweep, other, 1);
  };
  expect_refused(refused({{"suite", "tempering"}}),
                 "error[compare.suite]: before.json is a document of suite tempering, not of suite "
                 "sweep\n"
                 "  fix: kiln bench tempering --compare FILE\n");
  const json gpu{{"device", {{"name", "cuda:0"}, {"description", "NVIDIA H200, driver 580.159"}}}};
  const Outcome other = refused(gpu);
  EXPECT_TRUE(
      other.err.starts_with("error[compare.device]: before.json was measured on another "
                            "device: NVIDIA H200; this run is on: cpu, "))
      << other.err;
  EXPECT_TRUE(
      other.err.ends_with("\n  figures of different devices are not comparable\n"
                          "  fix: --device cuda\n"))
      << other.err;
  const Outcome host = refused({{"device", {{"processor", "a slide rule"}}}});
  EXPECT_TRUE(
      host.err.starts_with("error[compare.device]: before.json was measured on another "
                           "device: cpu, a slide rule"))
      << host.err;
  EXPECT_TRUE(
      host.err.ends_with("\n  fix: measure the earlier version on this device: "
                         "kiln bench sweep --json >FILE\n"))
      << host.err;
  json more_threads = document;
  more_threads["threads"] = more_threads["rows"][0]["threads"] = 3;
  expect_refused(compare(sweep, more_threads, 1),
                 "error[compare.threads]: before.json was measured with another number of threads: "
                 "3; this run has 1\n"
                 "  fix: --threads 3\n");
}

TEST_F(BenchCompare, RefusesWhatIsNoDocumentOfABench) {
  const std::string expected = "  expected: a document that kiln bench SUITE --json has written\n";
  const auto refused = [&](const std::string& text) {
    write("before.json", text);
    return run(words(sweep, {"--compare", "before.json"}));
  };
  expect_refused(refused(R"({"schema": "kiln.bench/2", "suite": "sweep"})"),
                 "error[input.parse]: before.json: the document has the schema kiln.bench/2, which "
                 "is newer than kiln.bench/1 of this version of Kiln\n" +
                     expected +
                     "  fix: use the version of Kiln that wrote the document, or a later one\n");
  expect_refused(refused(R"({"schema": "kiln.result/2"})"),
                 "error[input.parse]: before.json: the document does not have the schema "
                 "kiln.bench/1\n" +
                     expected);
  EXPECT_TRUE(
      refused("row  before")
          .err.starts_with("error[input.parse]: before.json: parse error at line 1, column 1: "));
  expect_refused(refused(R"({"schema": "kiln.bench/1"})"),
                 "error[input.parse]: before.json: there is no 'suite'\n" + expected);
  json document = earlier(sweep);
  document["rows"][0].erase("instance");
  expect_refused(refused(document.dump()),
                 "error[input.parse]: before.json: row 1 has no value 'instance'\n" + expected);
  document["rows"][0]["instance"] = "torus:50x40,1";
  document["rows"][0]["attempts_per_ns"] = "fast";
  expect_refused(
      refused(document.dump()),
      "error[input.parse]: before.json: row 1 has no number at /attempts_per_ns\n" + expected);
  document["rows"] = json::array();
  expect_refused(refused(document.dump()),
                 "error[input.parse]: before.json: 'rows' has no row\n" + expected);
  const Outcome missing = run(words(sweep, {"--compare", "nothing.json"}));
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_TRUE(missing.err.starts_with("error[input.open]: nothing.json: cannot be opened: "))
      << missing.err;
}

}  // namespace
}  // namespace kiln::test::bench_compare_test
