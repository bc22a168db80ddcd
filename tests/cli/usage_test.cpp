// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program says to command lines that cannot be meant: exit code 2 and an exact message.
#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"

#include "program.hpp"

namespace kiln::test::usage_test {
namespace {

// Schedules, families and formats are added. Messages list all of them: these are the lists of the
// library, of which the unit tests know what must be in them.
std::string schedules() {
  const Registry registry = builtin_registry();
  std::string names;
  for (const ScheduleEntry* entry : registry.schedules()) {
    names += (names.empty() ? "" : ", ") + entry->name;
  }
  return names;
}

std::string families() {
  const Registry registry = builtin_registry();
  std::string names;
  for (const ProblemEntry* entry : registry.problems()) {
    names += (names.empty() ? "" : ", ") + entry->name;
  }
  return names;
}

std::string formats() {
  std::string names;
  for (const FormatInfo& info : problems::formats()) {
    names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

struct BadUsage {
  std::string name;
  std::vector<std::string> words;
  std::string message;
  std::map<std::string, std::string> environment{};
};

void PrintTo(const BadUsage& usage, std::ostream* out) { *out << usage.name; }

class Usage : public ProgramTest, public testing::WithParamInterface<BadUsage> {};

TEST_P(Usage, IsRefusedWithTheExactMessage) {
  const Outcome outcome = run(Call{GetParam().words, {}, GetParam().environment});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, GetParam().message);
}

const std::string seed_range =
    " is outside 0 .. 18446744073709551615\n"
    "  fix: give a non-negative number, for example --seed 1\n";
const std::string time_fix = "  fix: give a positive duration, for example --time-limit 30s\n";

INSTANTIATE_TEST_SUITE_P(
    Values, Usage,
    testing::Values(
        BadUsage{"NegativeSeedWithEquals",
                 {"solve", "gset:G1", "--seed=-1"},
                 "error[cli.range]: --seed=-1" + seed_range},
        BadUsage{"NegativeSeedWithBlank",
                 {"solve", "gset:G1", "--seed", "-1"},
                 "error[cli.range]: --seed=-1" + seed_range},
        BadUsage{"SeedAbove64Bits",
                 {"solve", "gset:G1", "--seed=18446744073709551616"},
                 "error[cli.range]: --seed=18446744073709551616" + seed_range},
        BadUsage{"NegativeSeedInTheEnvironment",
                 {"solve", "gset:G1"},
                 "error[cli.range]: KILN_SEED=-1" + seed_range,
                 {{"KILN_SEED", "-1"}}},
        BadUsage{"NegativeTimeLimit",
                 {"solve", "gset:G1", "--time-limit", "-3"},
                 "error[cli.range]: --time-limit=-3 is not greater than 0\n" + time_fix},
        BadUsage{"TimeLimitOfZero",
                 {"solve", "gset:G1", "--time-limit=0s"},
                 "error[cli.range]: --time-limit=0s is not greater than 0\n" + time_fix},
        BadUsage{"NoSweeps",
                 {"solve", "gset:G1", "--sweeps=0"},
                 "error[cli.range]: --sweeps=0 is outside 1 .. 9223372036854775807\n"
                 "  fix: give a positive number, for example --sweeps 10k\n"},
        BadUsage{"NegativeReplicas",
                 {"solve", "gset:G1", "--replicas=-5"},
                 "error[cli.range]: --replicas=-5 is outside 1 .. 2147483648\n"
                 "  fix: give a positive number, for example --replicas 1024\n"},
        BadUsage{"NoThreadsForABenchmark",
                 {"bench", "sweep", "--threads=0"},
                 "error[cli.range]: --threads=0 is outside 1 .. 4096\n"
                 "  fix: give a positive number, for example --threads 1\n"},
        BadUsage{"NoTimeForABenchmark",
                 {"bench", "sweep", "--time-limit=0s"},
                 "error[cli.range]: --time-limit=0s is not greater than 0\n" + time_fix},
        BadUsage{"TimeLimitInAnUnknownUnit",
                 {"solve", "gset:G1", "--time-limit", "1x"},
                 "error[option.value]: --time-limit: '1x' is not a duration such as 30, 30s, "
                 "500ms, 5m or 2h\n"
                 "  fix: --time-limit 30s\n"},
        BadUsage{"TargetInWords",
                 {"solve", "gset:G1", "--target", "foo"},
                 "error[option.value]: --target: 'foo' is not a finite number\n"
                 "  fix: give --target a number, or best-known\n"},
        BadUsage{"ColorsInWords",
                 {"solve", "graph.col", "--colors", "few"},
                 "error[option.value]: --colors: 'few' is not a whole number such as 1000, 1e6, "
                 "10k or 64Ki\n"
                 "  fix: --colors 4, or --colors min\n"},
        BadUsage{"ThreadsInWords",
                 {"bench", "sweep", "--threads", "all"},
                 "error[option.value]: --threads: 'all' is not a whole number such as 1000, 1e6, "
                 "10k or 64Ki\n"
                 "  fix: --threads 1\n"},
        BadUsage{"GraphCaptureMaybe",
                 {"solve", "gset:G1", "--graph-capture", "maybe"},
                 "error[cli.range]: --graph-capture=maybe is neither on nor off\n"
                 "  fix: --graph-capture on\n"},
        BadUsage{"UnknownExecutor",
                 {"solve", "gset:G1", "--executor", "persistent"},
                 "error[cli.range]: --executor=persistent is not one of auto, stream, graph, loop "
                 "and resident\n"
                 "  fix: --executor auto\n"},
        BadUsage{"ExecutorOfTheCpu",
                 {"solve", "torus:10x10,1", "--executor", "loop", "--device", "cpu", "-q"},
                 "error[executor.device]: executor loop does not apply to cpu: a CPU runs a kernel "
                 "where it is launched\n"
                 "  a GPU, whose ticks can be captured\n"
                 "  fix: --executor auto\n"},
        BadUsage{"ResidentOnTheCpu",
                 {"solve", "torus:10x10,1", "--executor", "resident", "--device", "cpu", "-q"},
                 "error[executor.device]: executor resident does not apply to cpu: a CPU runs a "
                 "kernel where it is launched\n"
                 "  a GPU, whose ticks can be captured\n"
                 "  fix: --executor auto\n"},
        BadUsage{"ExecutorTwice",
                 {"solve", "gset:G1", "--executor", "graph", "--graph-capture", "off"},
                 "error[cli.conflict]: --executor and --graph-capture exclude each other\n"
                 "  fix: --executor alone\n"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Names, Usage,
    testing::Values(
        BadUsage{"UnknownVerb",
                 {"slove"},
                 "error[cli.unknown]: unknown verb 'slove'; the nearest is 'solve'\n"
                 "  fix: kiln solve ...; kiln --help lists the verbs\n"},
        BadUsage{"UnknownSchedule",
                 {"solve", "gset:G1", "--schedule", "simulated-anealing"},
                 "error[schedule.unknown]: unknown schedule 'simulated-anealing'; the nearest is "
                 "'simulated-annealing'\n"
                 "  available: " +
                     schedules() +
                     "\n"
                     "  fix: kiln list schedules\n"},
        BadUsage{"UnknownOption",
                 {"solve", "gset:G1", "--sweps", "3"},
                 "error[cli.unknown]: unknown option '--sweps'; the nearest is '--sweeps'\n"},
        BadUsage{"AbbreviatedOption",
                 {"solve", "gset:G1", "--see", "7"},
                 "error[cli.unknown]: unknown option '--see'; the nearest is '--seed'\n"},
        BadUsage{"UnknownShortOption",
                 {"solve", "gset:G1", "-x"},
                 "error[cli.unknown]: unknown option '-x'\n"
                 "  fix: kiln solve --help lists all options\n"},
        BadUsage{"UnknownParameter",
                 {"solve", "gset:G1", "-p", "beta_mx=3"},
                 "error[cli.unknown]: -p 'beta_mx' is not a parameter of schedule "
                 "'simulated-annealing'; the nearest is 'beta_max'\n"
                 "  fix: kiln describe simulated-annealing lists the parameters\n"},
        BadUsage{"UnknownFamily",
                 {"solve", "gest:G22"},
                 "error[problem.unknown]: unknown problem 'gest'; the nearest is 'gset'\n"
                 "  available: " +
                     families() +
                     "\n"
                     "  fix: kiln list problems\n"},
        BadUsage{"AnotherNumber",
                 {"solve", "gset:G999"},
                 "error[problem.unknown]: unknown G-set instance 'G999'\n"
                 "  G1 .. G67, G70, G72, G77 or G81\n"
                 "  fix: kiln describe gset\n"},
        BadUsage{"AnotherNumberOfPalubeckis",
                 {"solve", "palubeckis:p3000.6"},
                 "error[problem.unknown]: unknown Palubeckis instance 'p3000.6'\n"
                 "  p3000.1 .. p3000.5, p4000.1 .. p4000.5, p5000.1 .. p5000.5, p6000.1 .. "
                 "p6000.3 or p7000.1 .. p7000.3\n"
                 "  fix: kiln describe palubeckis\n"},
        BadUsage{"ControlCharacterInAParameter",
                 {"solve", "gset:G1", "-p", "beta_max=3\x01"},
                 "error[cli.parameter]: -p beta_max=3? has a control character, or bytes that are "
                 "not UTF-8\n"
                 "  fix: type the value again: a number, a word, or a list of numbers or words\n"},
        BadUsage{"UnknownFormat",
                 {"solve", "g.txt", "--format", "rudi"},
                 "error[cli.unknown]: unknown format 'rudi'; the nearest is 'rudy'\n"
                 "  fix: kiln list formats shows all formats\n"},
        BadUsage{"UnknownName",
                 {"describe", "torsu"},
                 "error[cli.unknown]: no schedule, problem, format or kernel is named 'torsu'; the "
                 "nearest is 'torus'\n"
                 "  available: " +
                     schedules() + ", " + families() + ", " + formats() +
                     ", and the kernels that kiln list kernels shows\n"},
        BadUsage{
            "UnknownSuite",
            {"bench", "kernel"},
            "error[cli.unknown]: unknown suite 'kernel'; the nearest is 'kernels'\n"
            "  available: kernels, ticks, executors, commands, telemetry, api, sweep, scaling, "
            "schedules, latency, "
            "targets, tempering, "
            "time-to-target, sampling, pareto, bayes, information, products, "
            "forecast\n"
            "  fix: kiln list suites\n"},
        BadUsage{"UnknownTopic",
                 {"list", "devicse"},
                 "error[cli.unknown]: unknown topic 'devicse'; the nearest is 'devices'\n"
                 "  available: schedules problems formats devices kernels suites plugins\n"
                 "  fix: kiln list devices\n"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Shape, Usage,
    testing::Values(
        BadUsage{"NoProblem",
                 {"solve"},
                 "error[cli.missing]: kiln solve needs a problem\n"
                 "  a path, - for standard input, or an instance such as gset:G22\n"
                 "  fix: kiln solve gset:G22 --time-limit 10s\n"},
        BadUsage{"NothingToDescribe",
                 {"describe"},
                 "error[cli.missing]: kiln describe needs a name\n"
                 "  a schedule, a family of problems, a file format or a kernel\n"
                 "  fix: kiln describe simulated-annealing\n"},
        BadUsage{
            "NothingToMeasure",
            {"bench"},
            "error[cli.missing]: kiln bench needs a suite\n"
            "  kernels, ticks, executors, commands, telemetry, api, sweep, scaling, schedules, "
            "latency, targets, "
            "tempering, time-to-target, sampling, pareto, bayes, information, products, "
            "forecast\n"
            "  fix: kiln bench kernels\n"},
        BadUsage{"NoRowOfThatName",
                 {"bench", "sweep", "--device", "cpu", "--only", "gst:G22"},
                 "error[cli.range]: --only gst:G22 selects nothing; the nearest is "
                 "'gset:G22'\n"
                 "  fix: give a part of the name of a row, or leave --only out\n"},
        BadUsage{"TwoProblems",
                 {"solve", "gset:G1", "gset:G2"},
                 "error[cli.extra]: unexpected argument 'gset:G2'\n"
                 "  fix: kiln solve --help shows the arguments\n"},
        BadUsage{"OptionWithoutValue",
                 {"solve", "gset:G1", "--sweeps"},
                 "error[cli.value]: --sweeps needs a value\n"
                 "  fix: --sweeps N\n"},
        BadUsage{"OptionInPlaceOfAValue",
                 {"solve", "gset:G1", "--target", "--json"},
                 "error[cli.value]: --target needs a value\n"
                 "  fix: --target VALUE\n"},
        BadUsage{"OptionGivenTwice",
                 {"solve", "gset:G1", "--seed", "1", "--seed", "2"},
                 "error[cli.repeated]: --seed is given twice\n"
                 "  fix: give --seed once\n"},
        BadUsage{"ParameterWithoutValue",
                 {"solve", "gset:G1", "-p", "beta_max"},
                 "error[cli.parameter]: -p beta_max: this is not KEY=VALUE\n"
                 "  fix: for example -p beta_max=3.2\n"},
        BadUsage{"ControlCharactersInAnOption",
                 {"solve", "gset:G1", "--x\x1b[31my"},
                 "error[cli.unknown]: unknown option '--x?[31my'\n"
                 "  fix: kiln solve --help lists all options\n"}),
    [](const auto& tested) { return tested.param.name; });

using Help = ProgramTest;

TEST_F(Help, IsAResultAndNamesEveryVerb) {
  const Outcome outcome = run({"--help"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* verb :
       {"solve", "list", "describe", "check", "generate", "diagnose", "report", "doctor", "help"}) {
    EXPECT_NE(outcome.out.find("\n  " + std::string(verb) + " "), std::string::npos) << verb;
    EXPECT_EQ(run({"help", verb}).exit_code, 0) << verb;
  }
}

// Through a pipe to a pager, too, and without the last column of a terminal.
TEST_F(Help, OfEveryVerbFitsOnATerminal) {
  std::vector<std::string> names{""};
  for (const std::string& line : lines_of(run({"--help"}).out)) {
    if (!line.starts_with("  ") || line[2] == ' ') continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    if (run({"help", name}).exit_code == 0) names.push_back(name);
  }
  EXPECT_EQ(names.size(), 24U) << "and the overview";
  for (const std::string& name : names) {
    const Outcome help = name.empty() ? run({"--help"}) : run({name, "--help"});
    EXPECT_EQ(help.exit_code, 0) << name;
    for (const std::string& line : lines_of(help.out)) EXPECT_LT(line.size(), 80U) << line;
  }
}

TEST_F(Help, OfSolveListsOptionsAndParameters) {
  const Outcome outcome = run({"solve", "--help"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, run({"help", "solve"}).out);
  EXPECT_NE(outcome.out.find("--time-limit TIME"), std::string::npos);
  EXPECT_NE(outcome.out.find("\n  beta_max "), std::string::npos);
  EXPECT_NE(outcome.out.find("\nschedules (`kiln describe NAME` shows their parameters):\n"
                             "  amosa bayesian-front bayesian-optimization evolutionary hmc"),
            std::string::npos);
}

TEST_F(Help, WithoutAVerbGoesToStandardErrorWithCodeTwo) {
  const Outcome outcome = run(std::vector<std::string>{});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("usage: kiln VERB"), std::string::npos);
}

TEST_F(Help, VersionIsOneLine) {
  const Outcome outcome = run({"--version"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out.rfind("kiln ", 0), 0u);
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
}

// Whatever is not there, the error says what to do about it.
TEST_F(Help, EveryUnknownProblemHasAFix) {
  for (const char* problem : {"gest:1", "gset:X", "palubeckis:p3000.6", "function:rastrigan-30",
                              "constrained:gramasy", "density:bananas", "posterior:eight-schols",
                              "zdt:7", "dtlz:9", "wfg:10", "cdtlz:c9", "re:20"}) {
    const Outcome outcome = run({"solve", problem, "--dry-run"});
    EXPECT_TRUE(outcome.err.starts_with("error[problem.unknown]")) << outcome.err;
    EXPECT_NE(outcome.err.find("\n  fix: "), std::string::npos) << outcome.err;
  }
}

// What a verb does is said in sentences, below the line that says how it is called.
TEST_F(Help, IsMadeOfSentences) {
  for (const char* verb : {"solve", "sample", "list", "describe", "check", "generate", "bench",
                           "diagnose", "report", "doctor", "version"}) {
    const std::string text = run({"help", verb}).out;
    const std::size_t begin = text.find("\n\n"), end = text.find("\n\n", begin + 2);
    ASSERT_NE(end, std::string::npos) << verb;
    const std::string first = text.substr(begin + 2, end - begin - 2);
    const bool prose = first.find("\n  ") == std::string::npos;
    EXPECT_TRUE(!prose || first.back() == '.') << first;
  }
}

}  // namespace
}  // namespace kiln::test::usage_test
