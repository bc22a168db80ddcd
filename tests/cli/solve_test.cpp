// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "program.hpp"

namespace kiln::test::solve_test {
namespace {

using nlohmann::json;
using Solve = ProgramTest;

TEST_F(Solve, JsonIsOneDocumentWithTheSchemaFields) {
  const Outcome outcome = run(short_run({"--json"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["schema"], "kiln.result/2");
  for (const char* field : {"problem", "schedule", "device", "seed", "objective", "energy", "stop",
                            "verified", "work", "time", "solution"}) {
    EXPECT_TRUE(result.contains(field)) << field;
  }
  EXPECT_EQ(result["seed"], 1);
  EXPECT_EQ(result["stop"], "sweep_limit");
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["work"]["sweeps"], 50);
  EXPECT_TRUE(result["objective"]["best"].is_number_integer());
  EXPECT_TRUE(result["objective"]["best_known"].is_null());
  EXPECT_TRUE(result["objective"]["gap"].is_null());
  EXPECT_EQ(result["solution"].size(), 64u);
}

// More than 64 threads, or four for each processor, would only wait.
TEST_F(Solve, MakesFewerThreadsThanAreOfNoUseAndSaysSo) {
  if (std::thread::hardware_concurrency() >= 1024) GTEST_SKIP() << "4096 are of use here";
  const Outcome few = run(short_run({"--json", "--threads", "1"}));
  const Outcome many = run(short_run({"--json", "--threads", "4096"}));

  EXPECT_EQ(few.err.find("warning[device.threads]"), std::string::npos) << few.err;
  EXPECT_EQ(many.exit_code, 0);
  EXPECT_NE(many.err.find("warning[device.threads]: running on "), std::string::npos) << many.err;
  EXPECT_NE(many.err.find(" of 4096 threads: "), std::string::npos) << many.err;
  EXPECT_EQ(json::parse(many.out)["solution"], json::parse(few.out)["solution"]);
}

TEST_F(Solve, ResultsGoToStandardOutputAndTheRestToStandardError) {
  const Outcome outcome = run(short_run({}));

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out.rfind("done   sweep limit after ", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("   recomputed on the CPU in integers: equal\n"), std::string::npos);
  EXPECT_EQ(outcome.err.rfind("kiln ", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find("replicas "), std::string::npos);
  EXPECT_NE(outcome.err.find("seed 1\n"), std::string::npos);
  EXPECT_NE(outcome.err.find("\nstop         after 50 sweeps\n"), std::string::npos);
  EXPECT_NE(outcome.err.find("moves/s"), std::string::npos);
  EXPECT_EQ(outcome.err.find("done"), std::string::npos);
}

TEST_F(Solve, ShowsWhatTemperingReports) {
  const std::vector<std::string> tempering = {"--schedule", "parallel-tempering", "-p", "rungs=2"};
  const Outcome text = run(short_run(tempering));
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.err.find("advice       Rungs 0 and 1 (beta "), std::string::npos) << text.err;
  EXPECT_EQ(text.out.find("advice"), std::string::npos);

  std::vector<std::string> as_json = tempering;
  as_json.insert(as_json.end(), {"--json", "-q"});
  const Outcome document = run(short_run(as_json));
  const json result = json::parse(document.out);
  EXPECT_EQ(document.err, "");
  EXPECT_EQ(result["series"]["beta"].size(), 2u);
  EXPECT_EQ(result["diagnostics"]["rungs"], 2);
  EXPECT_GE(result["advice"].size(), 1u);
}

TEST_F(Solve, WritesNoEscapeCodesIntoAPipe) {
  const Outcome outcome = run(short_run({"-v"}));

  EXPECT_EQ((outcome.out + outcome.err).find_first_of("\x1b\r"), std::string::npos);
}

TEST_F(Solve, QuietLeavesTheResultLineOnly) {
  const Outcome outcome = run(short_run({"-q", "-o", "run"}));

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
}

TEST_F(Solve, VerboseShowsStagesCountersAndParameters) {
  const Outcome outcome = run(short_run({"-v"}));

  for (const char* text : {"set-up ", "in ticks ", "allocations ", "parameter    beta_max = "}) {
    EXPECT_NE(outcome.err.find(text), std::string::npos) << text;
  }
}

TEST_F(Solve, SameSeedGivesTheSameAnswerForAnyNumberOfThreads) {
  const json first = json::parse(run(short_run({"--json", "--threads", "1"})).out);
  const json again = json::parse(run(short_run({"--json", "--threads", "1"})).out);
  const json two = json::parse(run(short_run({"--json", "--threads", "2"})).out);
  const json other = json::parse(run(short_run({"--json", "--seed", "2"})).out);

  for (const char* field : {"objective", "energy", "solution", "work"}) {
    EXPECT_EQ(first[field], again[field]) << field;
    EXPECT_EQ(first[field], two[field]) << field;
  }
  EXPECT_NE(first["work"]["accepted"], other["work"]["accepted"]);
}

TEST_F(Solve, StopsAtTheTarget) {
  const Outcome outcome = run({"solve", "gset:G1", "--device", "cpu", "--target", "11400",
                               "--time-limit", "20s", "--json"});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["stop"], "target_reached");
  EXPECT_GE(result["objective"]["best"], 11400);
  EXPECT_EQ(result["objective"]["best_known"], 11624);
  EXPECT_EQ(result["energy"], 19176 - 2 * result["objective"]["best"].get<int>());
}

TEST_F(Solve, StopsAtTheTimeLimit) {
  const Outcome outcome =
      run(Call{{"solve", "torus:8x8,1", "--device", "cpu", "--time-limit", "200ms", "--json"}});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["stop"], "time_limit");
}

TEST_F(Solve, TakesParametersOfTheSchedule) {
  const Outcome outcome =
      run(short_run({"--json", "-p", "beta_max=3.5", "-p", "cooling=geometric"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json parameters = json::parse(outcome.out)["schedule"]["parameters"];
  EXPECT_EQ(parameters["beta_max"], "3.5");
  EXPECT_EQ(parameters["cooling"], "geometric");
}

// The device is opened while the problem is read.
TEST_F(Solve, SaysWhatIsWrongWithTheProblemBeforeTheDevice) {
  const std::map<std::string, std::string> no_module{{"KILN_CUDA_MODULE", "/nonexistent"}};
  const Outcome outcome = run(Call{{"solve", "nowhere.txt", "--device", "cuda"}, {}, no_module});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, run({"solve", "nowhere.txt", "--device", "cpu"}).err);
}

TEST_F(Solve, ExplicitCudaNeverFallsBack) {
  const Outcome outcome = run(
      Call{{"solve", "gset:G1", "--device", "cuda"}, {}, {{"KILN_CUDA_MODULE", "/nonexistent"}}});

  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.rfind("error[device.", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find("--device cpu"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\n  more: kiln doctor\n"), std::string::npos) << outcome.err;
}

TEST_F(Solve, AutomaticDeviceSaysWhyItFellBack) {
  const Outcome outcome = run(Call{{"solve", "torus:8x8,1", "--sweeps", "50", "-q"},
                                   {},
                                   {{"KILN_CUDA_MODULE", "/nonexistent"}}});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err.rfind("warning[device.fallback]: no usable GPU (", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find("): running on "), std::string::npos);
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1);
}

struct EndingSignal {
  int number;
  int exit_code;
  std::string stop;
};

class SolveSignal : public ProgramTest, public testing::WithParamInterface<EndingSignal> {};

TEST_P(SolveSignal, WritesTheBestBeforeItEnds) {
  const Outcome outcome =
      run(Call{{"solve", "torus:8x8,1", "--device", "cpu", "--time-limit", "60s", "-o", "run"},
               {},
               {},
               GetParam().number,
               "moves/s"});

  EXPECT_EQ(outcome.exit_code, GetParam().exit_code);
  EXPECT_EQ(outcome.out.rfind("done   " + GetParam().stop + " after ", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.err.find("Press Ctrl-C again to stop now"), std::string::npos) << outcome.err;
  const json result = json::parse(read("run/result.json"));
  EXPECT_EQ(result["stop"], GetParam().stop);
  EXPECT_EQ(result["verified"], true);
  EXPECT_TRUE(exists("run/solution.txt"));
  EXPECT_TRUE(exists("run/trace.csv"));
}

INSTANTIATE_TEST_SUITE_P(All, SolveSignal,
                         testing::Values(EndingSignal{SIGINT, 130, "interrupted"},
                                         EndingSignal{SIGTERM, 143, "terminated"},
                                         EndingSignal{SIGHUP, 143, "terminated"}),
                         [](const auto& tested) {
                           return "Signal" + std::to_string(tested.param.number);
                         });

// Files of the run must not take the numbers of the streams, or words would be among their rows.
TEST_F(Solve, WithoutStandardStreamsWritesRowsIntoItsFilesAlone) {
  Call call{{"solve", "torus:8x8,1", "--device", "cpu", "--sweeps", "300", "-o", "run"}};
  call.no_streams = true;
  EXPECT_EQ(run(call).exit_code, 6);
  EXPECT_EQ(json::parse(read("run/result.json"))["stop"], "sweep_limit");
  for (const std::string& line : lines_of(read("run/events.ndjson"))) {
    EXPECT_TRUE(json::accept(line)) << line;
  }
  for (const std::string& line : lines_of(read("run/trace.csv"))) {
    EXPECT_EQ(line.find_first_of(" *"), std::string::npos) << line;
  }
}

TEST_F(Solve, ClosedPipeIsAQuietExit) {
  Call call{short_run({"-q"})};
  call.closed_output = true;

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 141);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Solve, FullStandardOutputIsCodeSix) {
  Call call{short_run({"-q"})};
  call.output_file = "/dev/full";

  const Outcome outcome = run(call);

  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(outcome.err,
            "error[io.write]: writing to standard output failed: No space left on device\n");
}

}  // namespace
}  // namespace kiln::test::solve_test
