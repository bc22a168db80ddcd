// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Reports on files that somebody else wrote, cut short or changed.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "program.hpp"
#include "report/report_page.hpp"

namespace kiln::test::report_trust_test {
namespace {

using nlohmann::json;

const std::string hostile =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[2J";

class ReportTrust : public ProgramTest {
 protected:
  std::string page() const {
    const Outcome outcome = run({"report", "run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read("run/report.html");
  }
  void tempering() const {
    ASSERT_EQ(run(short_run({"--schedule", "parallel-tempering", "-q", "-o", "run"})).exit_code, 0);
  }
};

/// Every text of a document, keys included, with something else in its place.
json poisoned(const json& document, const std::string& poison) {
  if (document.is_string()) return document.get<std::string>() + poison;
  if (document.is_array()) {
    json list = json::array();
    for (const json& one : document) list.push_back(poisoned(one, poison));
    return list;
  }
  if (!document.is_object()) return document;
  json object = json::object();
  for (const auto& [key, value] : document.items()) object[key] = poisoned(value, poison);
  return object;
}

TEST_F(ReportTrust, FindsForeignMarkup) {
  EXPECT_TRUE(foreign_markup("<p>a &lt;script&gt;</p><svg class=\"onload=x\"></svg>").empty());
  for (const char* page : {"<script>alert(1)</script><script>x</script>", "<p onclick=x>", "<img>",
                           "<a href=\"x\" onmouseover=\"y\">", "<iframe>"}) {
    EXPECT_FALSE(foreign_markup(page).empty()) << page;
  }
}

TEST_F(ReportTrust, NamesFromFilesAreText) {
  const std::string name = "a<img src=x onerror=alert(1)>&\"'b.txt";
  write(name, "3 3\n1 2 1\n2 3 1\n1 3 1\n");
  ASSERT_EQ(run({"solve", name, "--device", "cpu", "--sweeps", "20", "-q", "-o", "run"}).exit_code,
            0);
  const std::string html = read("run/report.html");
  EXPECT_EQ(foreign_markup(html), std::vector<std::string>{});
  EXPECT_NE(html.find("<h1>a&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;b.txt</h1>"),
            std::string::npos);
}

TEST_F(ReportTrust, EveryTextOfEveryDocumentIsEscaped) {
  tempering();
  for (const char* file : {"run/run.json", "run/result.json"}) {
    json document = json::parse(read(file));
    const json schema = document["schema"], command = document["command"];
    for (const char* name : {"memory", "profile", "hardware"}) {
      document[name] = {{"owners", {{{"owner", "o"}, {"bytes", 1}}}},
                        {"kernels", {{{"name", "k"}}}},
                        {"throttled", {"power"}}};
    }
    document["diagnostics"][hostile] = 1.0;
    document["series"][hostile] = {1.0, 2.0, 4.0};
    document = poisoned(document, hostile);
    document["schema"] = schema;
    if (document["objective"].is_object()) document["objective"]["sense"] = "maximize";
    write(file, document.dump());
  }
  json event = {{"time_s", 1},        {"event", "alert"}, {"code", hostile},
                {"message", hostile}, {"fix", hostile},   {hostile, 3}};
  write("run/events.ndjson", event.dump() + "\n");
  const std::string html = page();
  EXPECT_EQ(foreign_markup(html), std::vector<std::string>{});
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos) << "it is shown as a text";
  EXPECT_NE(html.find("Content-Security-Policy\" content=\"default-src &#39;none&#39;") +
                html.find("Content-Security-Policy\" content=\"default-src 'none'"),
            2 * std::string::npos);
}

TEST_F(ReportTrust, IncompleteLogsAreReadUpToTheDamage) {
  tempering();
  const std::string trace = read("run/trace.csv");
  write("run/trace.csv", trace + "0.9,60,nonsense\n1,70,1,1,1,1,1,1\n2,80");
  write("run/events.ndjson", read("run/events.ndjson") + "{\"time_s\": 3, \"eve\n");
  const json document = json::parse(run({"report", "run", "--json"}).out);
  ASSERT_EQ(document["notes"].size(), 2u) << document;
  EXPECT_EQ(document["notes"][0], "trace.csv: line " + std::to_string(count_lines(trace) + 1) +
                                      " is damaged; the report shows the lines before it");
  EXPECT_EQ(document["sections"][0], "notes");
}

/// A result that is cut short or altered is refused or shown, and nothing else happens.
class Altered : public ReportTrust {
 protected:
  void check(const std::string& file, const std::string& content, const std::string& what) const {
    write(file, content);
    const Outcome outcome = run({"report", "run", "-o", "-"});
    ASSERT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3)
        << file << ", " << what << ": " << outcome.exit_code << "\n"
        << outcome.err;
    if (outcome.exit_code == 3) {
      EXPECT_EQ(outcome.err.rfind("error[", 0), 0u) << outcome.err;
      EXPECT_EQ(outcome.out, "");
    } else {
      EXPECT_EQ(foreign_markup(outcome.out), std::vector<std::string>{}) << file << ", " << what;
      EXPECT_LE(outcome.out.size(), 500'000u);
    }
  }

  void check_all(std::uint32_t seed) const {
    std::mt19937 generator(seed);
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run")) {
      const std::string name = "run/" + entry.path().filename().string(), whole = read(name);
      if (name.ends_with("report.html") || name.find("chain_") != std::string::npos) continue;
      for (int i = 0; i < 6; ++i) {
        const std::size_t size = generator() % (whole.size() + 1);
        check(name, whole.substr(0, size), std::to_string(size) + " bytes");
      }
      for (int i = 0; i < 10; ++i) {
        std::string changed = whole;
        for (int n = 0; n < 1 << (i % 5); ++n) {
          const std::size_t at = generator() % changed.size();
          changed[at] = "\"<>{}[],.-:0e9\n\x00\xff"[generator() % 17];
        }
        check(name, changed, "change " + std::to_string(i));
      }
      write(name, whole);
    }
  }
};

TEST_F(Altered, FilesOfATemperingRun) {
  tempering();
  check_all(1);
}

TEST_F(Altered, FilesOfASamplingRun) {
  ASSERT_EQ(run({"sample", "posterior:eight-schools", "--draws", "20", "--warmup", "20", "--chains",
                 "4", "--device", "cpu", "-q", "-o", "run"})
                .exit_code,
            0);
  check_all(2);
}

TEST_F(Altered, FilesOfASearchWithAModel) {
  ASSERT_EQ(run({"solve", "function:branin", "--schedule", "bayesian-optimization", "--evaluations",
                 "8", "--device", "cpu", "-q", "-o", "run"})
                .exit_code,
            0);
  check_all(3);
}

TEST_F(Altered, FilesOfARunForAFront) {
  ASSERT_EQ(run({"solve", "dtlz:2", "--generations", "4", "--device", "cpu", "-q", "-o", "run"})
                .exit_code,
            0);
  check_all(4);
}

// Numbers of any size, and documents of the right form with the wrong types.
TEST_F(Altered, NumbersAndTypesThatNoRunWrites) {
  tempering();
  const json result = json::parse(read("run/result.json"));
  const std::vector<json> values{nullptr,
                                 true,
                                 "text",
                                 -1,
                                 1e308,
                                 -1e308,
                                 1e-320,
                                 18446744073709551615u,
                                 json::array(),
                                 json::object(),
                                 json::array({1e308, -1e308, nullptr})};
  for (const char* path : {"/objective/best", "/objective/best_known", "/time/run_s",
                           "/work/sweeps", "/series/acceptance", "/series/beta",
                           "/series/mean_energy", "/diagnostics/barrier", "/advice", "/incumbents",
                           "/memory", "/profile", "/front", "/summary", "/sample", "/model"}) {
    for (const json& value : values) {
      json changed = result;
      changed[json::json_pointer(path)] = value;
      check("run/result.json", changed.dump(), std::string(path) + " = " + value.dump());
    }
  }
}

TEST_F(Altered, TracesOfAnySizeOfNumber) {
  tempering();
  const std::string header =
      "time_s,sweeps,attempts,best,mean,acceptance_rate,beta,attempts_per_ns\n";
  for (const char* rows :
       {"", "0,0,0,1,1,1,1,1\n", "1e308,1e308,1,1e308,-1e308,1e308,1e308,1e308\n",
        "0,0,0,1e308,-1e308,0,0,0\n1,1,1,-1e308,1e308,1,1,1\n", "1,1,1,,,,,\n2,2,2,,,,,\n",
        "1e-320,1,1,1,1,1,1,1\n1e300,2,2,2,2,2,2,2\n",
        "1,1,1,nan,inf,1,1,1\n2,1,1,nan,-inf,1,1,1\n"}) {
    check("run/trace.csv", header + rows, rows);
  }
}

}  // namespace
}  // namespace kiln::test::report_trust_test
