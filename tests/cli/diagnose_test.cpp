// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The verb diagnose: what a finished run says of itself.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::diagnose_test {
namespace {

using nlohmann::json;

class Diagnose : public ProgramTest {
 protected:
  /// A short run on a ladder of three rungs, the same on every machine, in the folder `run`.
  void run_tempering() const {
    const Outcome outcome =
        run(short_run({"--schedule", "parallel-tempering", "-q", "-o", "run", "--replicas", "96",
                       "-p", "betas=0.25,0.5,1", "-p", "ladder=list", "-p", "cluster_moves=off"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  std::string complaint_about(const std::string& file) const {
    const Outcome outcome = run({"diagnose", file});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }
};

TEST_F(Diagnose, ShowsTheLadderOfATemperingRun) {
  run_tempering();

  const Outcome outcome = run({"diagnose", "run"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "parallel-tempering on torus:8x8,1, seed 1:\n"
            "sweep limit after 50 sweeps of 96 replicas, cut 48 (maximised)\n"
            "\n"
            "gap     beta    to   acceptance   rejection\n"
            "0 - 1   0.25   0.5     0.061731    0.938269\n"
            "1 - 2    0.5     1    0.0192206    0.980779\n"
            "\n"
            "rung   beta   mean energy   energy deviation     log Z   best energy\n"
            "0      0.25      -31.3882            11.2271         0           -62\n"
            "1       0.5      -60.4836            9.98698    11.624           -86\n"
            "2         1      -84.8947             4.3997   49.6511           -90\n"
            "\n"
            "rung   best share\n"
            "0               0\n"
            "1         0.03125\n"
            "2         0.96875\n"
            "\n"
            "burn-in      ended, and the ladder is fixed; sweeps between swap phases: 1\n"
            "barrier      Lambda = 1.91905 over 2 gaps between rungs\n"
            "             2 Lambda + 1 = 5 rungs suffice; this ladder has 3 rungs\n"
            "round trips  0 in 32 ladders and 38 swap phases\n"
            "             measured rate per ladder: 0 per phase, 0 per sweep\n"
            "             predicted rate: 0.171289 = 1 / (2 + 2 Lambda) for many rungs, 0.00743752 "
            "for this "
            "ladder\n"
            "             measured / predicted = 0\n"
            "log Z        49.6511 +- 0.203729 at the last rung, relative to the first rung\n"
            "advice       Rungs 0 and 1 (beta 0.25 and 0.5) accept only 6 % of the attempts\n"
            "             to exchange replicas: give the ladder more rungs.\n"
            "advice       No replica went from the hottest rung to the coldest and back in\n"
            "             38 swap phases: run longer, or raise beta_min (parameter_min for a\n"
            "             ladder of parameters).\n");
}

TEST_F(Diagnose, GivesTheLadderAsJson) {
  run_tempering();
  const json result = json::parse(read("run/result.json"));

  const json document = json::parse(run({"diagnose", "run/result.json", "--json"}).out);

  EXPECT_EQ(document["schema"], "kiln.diagnosis/1");
  EXPECT_EQ(document["source"], "run/result.json");
  EXPECT_EQ(document["schedule"], "parallel-tempering");
  EXPECT_EQ(document["best"], result["objective"]["best"]);
  EXPECT_EQ(document["seed"], 1);
  EXPECT_EQ(document["diagnostics"], result["diagnostics"]);
  EXPECT_EQ(document["advice"], result["advice"]);
  ASSERT_EQ(document["gaps"].size(), 2u);
  ASSERT_EQ(document["rungs"].size(), 3u);
  double barrier = 0;
  for (std::size_t r = 0; r < 2; ++r) {
    const json& gap = document["gaps"][r];
    EXPECT_EQ(gap["rungs"], (json{r, r + 1}));
    EXPECT_EQ(gap["beta"], (json{result["series"]["beta"][r], result["series"]["beta"][r + 1]}));
    EXPECT_EQ(gap["acceptance"], result["series"]["acceptance"][r]);
    barrier += gap["rejection"].get<double>();
  }
  EXPECT_NEAR(barrier, document["diagnostics"]["barrier"].get<double>(), 1e-12);
  for (std::size_t r = 0; r < 3; ++r) {
    for (const char* name : {"beta", "mean_energy", "energy_deviation", "log_z", "best_share"}) {
      EXPECT_EQ(document["rungs"][r][name], result["series"][name][r]) << name;
    }
  }
  EXPECT_EQ(document["series"], json::object()) << "all of it is in gaps and rungs";
}

TEST_F(Diagnose, WarnsOfALadderWithinItsBurnInBeforeItsNumbers) {
  const Outcome made =
      run(short_run({"--schedule", "parallel-tempering", "-q", "-o", "run", "--replicas", "96",
                     "-p", "rungs=3", "-p", "burn_in=100000"}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json result = json::parse(read("run/result.json"));
  ASSERT_EQ(result["diagnostics"]["adapted"], 0);
  ASSERT_TRUE(result["diagnostics"].contains("log_z_difference"));

  const std::string text = run({"diagnose", "run"}).out;

  const std::size_t warning = text.find("\nadvice       The run ended within its burn-in");
  ASSERT_NE(warning, std::string::npos) << text;
  EXPECT_LT(warning, text.find("\ngap ")) << text;
  EXPECT_EQ(text.find("\nadvice", warning + 1), std::string::npos) << "said once: " << text;
  EXPECT_EQ(text.find("+-"), std::string::npos) << text;
  EXPECT_EQ(text.find("log Z"), text.find("log Z        not shown: ")) << text;
}

TEST_F(Diagnose, SaysChainsDrawsAndTheBestLogDensityOfDraws) {
  ASSERT_EQ(run({"sample", "posterior:eight-schools", "--draws", "50", "--warmup", "40", "--chains",
                 "8", "--device", "cpu", "-q", "-o", "run"})
                .exit_code,
            0);
  // Of a state whose energy is the least, the energy is minus the log density.
  const double energy = json::parse(read("run/result.json"))["energy"].get<double>();

  const std::string text = run({"diagnose", "run"}).out;

  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            fmt::format("hmc on posterior:eight-schools, seed 1:\n"
                        "schedule finished: 8 chains x 50 draws after 40 warm-up transitions\n"
                        "best log density {:.10g}",
                        -energy));
}

// Keys of documents are for programs. What is in a document of a schedule, but not on the screen in
// words, would show up by its underscore.
TEST_F(Diagnose, TellsEverySchedulesRunInWords) {
  const std::vector<std::vector<std::string>> runs{
      {"torus:8x8,1", "simulated-annealing"},
      {"torus:8x8,1", "parallel-tempering"},
      {"torus:8x8,1", "replica-exchange"},
      {"torus:8x8,1", "population-annealing"},
      {"zdt:1", "evolutionary"},
      {"function:branin", "bayesian-optimization", "-p", "evaluations=9"},
      {"posterior:eight-schools", "hmc", "-p", "mode=anneal"},
      {"posterior:eight-schools", "hmc", "-p", "draws=20", "-p", "warmup=20"}};
  int number = 0;
  for (const std::vector<std::string>& one : runs) {
    const std::string folder = "r" + std::to_string(++number);
    std::vector<std::string> words{"solve", one[0],     "--schedule", one[1],     "-q", "-o",
                                   folder,  "--device", "cpu",        "--sweeps", "40"};
    words.insert(words.end(), one.begin() + 2, one.end());
    const Outcome made = run(words);
    ASSERT_EQ(made.exit_code, 0) << made.err;

    const Outcome outcome = run({"diagnose", folder});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::string shown = outcome.out.substr(0, outcome.out.find("\nadvice"));
    for (const std::string known : {"ess_bulk", "ess_tail", "r_hat", "lp__"}) {  // of the field
      for (std::size_t at = 0; (at = shown.find(known)) != std::string::npos;) {
        shown.erase(at, known.size());
      }
    }
    EXPECT_EQ(shown.find('_'), std::string::npos) << one[1] << "\n" << shown;
  }
}

// The screen and diagnose call the same end by the same name.
TEST_F(Diagnose, NamesTheLimitThatTheRunNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> runs{
      {{"zdt:1", "--sweeps", "6"}, "generation limit"},
      {{"zdt:1", "--schedule", "bayesian-front", "--sweeps", "2"}, "evaluation limit"},
      {{"function:branin", "--schedule", "bo", "--sweeps", "9"}, "evaluation limit"},
      {{"torus:8x8,1", "--sweeps", "9"}, "sweep limit"}};
  int number = 0;
  for (const auto& [more, limit] : runs) {
    const std::string folder = "r" + std::to_string(++number);
    std::vector<std::string> words{"solve", "--device", "cpu", "-q", "-o", folder};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome made = run(words);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_TRUE(made.out.starts_with("done   " + limit + " after ")) << made.out;
    const Outcome told = run({"diagnose", folder});
    EXPECT_NE(told.out.find("\n" + limit + " after "), std::string::npos) << told.out;
  }
  EXPECT_NE(
      run({"diagnose", "r1"}).out.find("\ngeneration limit after 6 generations of 100 replicas"),
      std::string::npos);
}

TEST_F(Diagnose, NamesTheVariablesOfAModel) {
  write("t.csv", "leaf,grams,score\n1,2,3\n2,5,5\n3,1,9\n4,4,4\n5,2,1\n6,3,8\n");
  const Outcome made = run({"solve", "table:t.csv", "--objective", "score", "-q", "-o", "r", "-p",
                            "initial=3", "-p", "evaluations=6"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json lengths = json::parse(read("r/result.json"))["model"]["lengths"];

  const std::string text = run({"diagnose", "r"}).out;

  EXPECT_NE(text.find("variable   length scale\n"), std::string::npos) << text;
  for (const char* name : {"leaf", "grams"}) {
    EXPECT_TRUE(lengths.contains(name));
    EXPECT_NE(text.find(std::string("\n") + name + " "), std::string::npos) << text;
  }
}

TEST_F(Diagnose, ReadsStandardInput) {
  run_tempering();
  const Outcome piped = run(Call{{"diagnose", "-"}, read("run/result.json")});

  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(piped.out, run({"diagnose", "run"}).out);
}

TEST_F(Diagnose, TellsWhichMemberOfAFrontWasHandedOut) {
  for (const auto& [problem, name] :
       {std::pair{"zdt:1", "knee"}, {"zdt:2", "solution"}, {"knapsack:30,2,1", "knee"}}) {
    const std::string folder = std::string(problem).substr(0, 3) + name;
    ASSERT_EQ(
        run({"solve", problem, "--device", "cpu", "--sweeps", "100", "-q", "-o", folder}).exit_code,
        0);
    const json front = json::parse(read(folder + "/result.json"))["front"];
    ASSERT_EQ(front["knee"].is_null(), std::string(name) == "solution");
    std::string row = fmt::format("\n{:13}", name);
    const auto chosen = front["chosen"].get<std::size_t>();
    for (std::size_t k = 0; k < 2; ++k) {
      row += fmt::format("{}{} = {:.6g}", k > 0 ? "   " : "",
                         front["objectives"][k].get<std::string>(),
                         front["points"][chosen][k].get<double>());
    }
    const Outcome outcome = run({"diagnose", folder});
    EXPECT_NE(outcome.out.find(row + "\n"), std::string::npos) << row << outcome.out;
    if (std::string(problem) == "knapsack:30,2,1") continue;  // without a true front
    EXPECT_NE(
        outcome.out.find("\nIGD+: IGD that counts only objectives in which the front is worse "),
        std::string::npos)
        << outcome.out;
  }
}

TEST_F(Diagnose, SaysThatAnnealingReportsNothing) {
  ASSERT_EQ(run(short_run({"-q", "-o", "run"})).exit_code, 0);

  const Outcome outcome = run({"diagnose", "run"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("simulated-annealing on torus:8x8,1, seed 1:\nsweep limit after 50 "
                             "sweeps of 512 replicas, cut "),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\nsimulated-annealing reports no diagnostics and no series\n"),
            std::string::npos)
      << outcome.out;
  // 64 variables, 512 replicas, 50 sweeps.
  const json work = json::parse(read("run/result.json"))["work"];
  EXPECT_EQ(work["attempts"], 64 * 512 * 50);
  const double share = work["accepted"].get<double>() / (64 * 512 * 50);
  EXPECT_NE(outcome.out.find(fmt::format("\nwork         1.6M attempted moves, {:.2g} % of them "
                                         "accepted\n",
                                         100 * share)),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\nfound        after "), std::string::npos) << outcome.out;
}

// A schedule that the program does not know, with series of different lengths and nulls.
TEST_F(Diagnose, ShowsWhatOtherSchedulesReportAsItIs) {
  write("r.json", R"({"schema": "kiln.result/1", "problem": {"name": "p\u001b[2J"}, "seed": 7,
    "schedule": {"name": "other"}, "stop": "converged", "objective": {"best": null},
    "work": {"sweeps": 3, "replicas": 32}, "diagnostics": {"barrier": 2, "steps": null},
    "series": {"beta": [0.5, 1], "family": [3, null, 12]}, "advice": ["Take more replicas."]})");

  const Outcome outcome = run({"diagnose", "r.json"});
  const json document = json::parse(run({"diagnose", "r.json", "--json"}).out);

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "other on p?[2J, seed 7:\nschedule finished after 3 sweeps of 32 replicas, best -\n"
            "\n"
            "barrier   2\n"
            "steps     -\n"
            "\n"
            "number   beta   family\n"
            "0         0.5        3\n"
            "1           1        -\n"
            "2                   12\n"
            "advice       Take more replicas.\n");
  EXPECT_EQ(document["series"], (json{{"beta", {0.5, 1}}, {"family", {3, nullptr, 12}}}));
  EXPECT_FALSE(document.contains("gaps"));
}

TEST_F(Diagnose, RefusesWhatIsNoResult) {
  const std::string expected =
      "  expected: a run folder, or what kiln solve --json or kiln sample --json printed\n";
  EXPECT_EQ(complaint_about("none"),
            "error[input.open]: none: cannot be opened: No such file or directory\n" + expected +
                "  fix: check the path, relative to the current folder\n");
  // A run that was killed has no report.
  ASSERT_EQ(run(short_run({"-q", "-o", "run", "--no-report"})).exit_code, 0);
  EXPECT_EQ(complaint_about("run/run.json"),
            "error[input.parse]: run/run.json: the document does not have the schema "
            "kiln.result/2\n" +
                expected);
  write("list.json", "[1, 2]");
  EXPECT_EQ(complaint_about("list.json"),
            "error[input.parse]: list.json: the document does not have the schema kiln.result/2\n" +
                expected);
  std::filesystem::remove(folder_ / "run" / "result.json");
  EXPECT_EQ(
      complaint_about("run"),
      "error[input.open]: run: the run was killed before it wrote a result; there are "
      "checkpoint.kiln, events.ndjson, incumbents.ndjson, run.json, solution.txt, telemetry.bin, "
      "trace.csv\n"
      "  expected: a folder with result.json, which a run writes every minute and at its end\n"
      "  fix: kiln resume run continues the run\n");
  {
    // As a run that is under way holds it.
    const int claim = ::open((folder_ / "run").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(claim, LOCK_EX | LOCK_NB), 0);
    const std::string meanwhile = complaint_about("run");
    ::close(claim);
    EXPECT_NE(
        meanwhile.find("run: the run is in progress and has written no result yet; there are "),
        std::string::npos)
        << meanwhile;
    EXPECT_NE(meanwhile.find("  fix: wait a minute, or read trace.csv"), std::string::npos);
  }
  write("cut.json", "{\"schema\": \"kiln.result/1\", ");
  EXPECT_EQ(complaint_about("cut.json").rfind("error[input.parse]: cut.json: ", 0), 0u);
  write("bare.json", "{\"schema\": \"kiln.result/1\"}");
  EXPECT_EQ(complaint_about("bare.json").rfind("error[input.parse]: bare.json: ", 0), 0u);
  write("odd.json", R"({"schema": "kiln.result/1", "problem": {"name": 3}})");
  EXPECT_EQ(complaint_about("odd.json").rfind("error[input.parse]: odd.json: ", 0), 0u);
}

TEST_F(Diagnose, NeedsARun) {
  const Outcome outcome = run({"diagnose"});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[cli.missing]: kiln diagnose needs a run\n"
            "  a run folder, or what kiln solve --json or kiln sample --json printed, or - for "
            "standard input\n"
            "  fix: kiln diagnose out/g32\n");
}

// Names of numbers in documents are no words for people.
TEST_F(Diagnose, SaysWhatItsNumbersMean) {
  run({"solve", "torus:10x10,1", "--schedule", "parallel-tempering", "-p", "cluster_moves=on",
       "--sweeps", "40", "-o", "torus", "-q"});
  const std::string ladder = run({"diagnose", "torus"}).out;
  EXPECT_NE(ladder.find("cluster moves enabled"), std::string::npos) << ladder;
  EXPECT_EQ(ladder.find("cluster open"), std::string::npos);
  run({"sample", "posterior:eight-schools", "-p", "draws=50", "-p", "metric=low_rank", "-o",
       "draws", "-q"});
  const std::string draws = run({"diagnose", "draws"}).out;
  EXPECT_NE(draws.find("number of directions in the low-rank metric"), std::string::npos) << draws;
  EXPECT_EQ(draws.find("metric rank"), std::string::npos);
}

}  // namespace
}  // namespace kiln::test::diagnose_test
