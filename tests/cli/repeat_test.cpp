// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Going on from what an earlier run left: its options, its solution.
#include <nlohmann/json.hpp>
#include <set>

#include "kiln/registry.hpp"

#include "program.hpp"

namespace kiln::test::repeat_test {
namespace {

using nlohmann::json;
using Repeat = ProgramTest;

TEST_F(Repeat, GivesTheSameAnswerFromTheRunFolder) {
  const json first = result_of(run(
      short_run({"-o", "run", "--json", "--seed", "5", "-p", "beta_max=2", "--replicas", "64"})));

  const json again = result_of(run({"solve", "--repeat", "run", "--json", "--device", "cpu"}));
  const json other = result_of(run({"solve", "--repeat", "run/run.json", "--json", "--seed", "6"}));

  EXPECT_EQ(again["solution"], first["solution"]);
  EXPECT_EQ(again["work"], first["work"]);
  EXPECT_EQ(again["schedule"], first["schedule"]);
  EXPECT_EQ(other["seed"], 6);
  EXPECT_NE(other["work"]["accepted"], first["work"]["accepted"]);
}

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Where a schedule ends by itself nothing is said of the end. `--repeat` names the schedule.
TEST_F(Repeat, OfEveryScheduleEndsAsTheRunDid) {
  std::vector<Words> runs{
      {"solve", "torus:6x6,1", "--sweeps", "30"},
      {"solve", "torus:6x6,1", "--schedule", "parallel-tempering", "--sweeps", "30"},
      {"solve", "torus:6x6,1", "--schedule", "population-annealing", "--sweeps", "30"},
      {"solve", "torus:6x6,1", "--schedule", "replica-exchange", "--sweeps", "30"},
      {"solve", "function:branin", "--schedule", "hmc", "--sweeps", "30"},
      {"sample", "posterior:eight-schools", "--draws", "20", "--warmup", "20", "--chains", "8"},
      {"solve", "coloring:queen5,min"},
      {"solve", "constrained:gramacy", "-p", "evaluations=8"},
      {"solve", "function:branin", "--schedule", "bayesian-optimization", "--evaluations", "8"},
      {"solve", "zdt:1"},
      {"solve", "zdt:1", "--generations", "30"},
      {"solve", "zdt:1", "--schedule", "evolutionary", "-p", "generations=30"},
      {"solve", "zdt:1", "--schedule", "amosa", "--sweeps", "30"},
      {"solve", "re:24", "--schedule", "bayesian-front", "--evaluations", "8"},
      {"solve", "zdt:1", "--schedule", "simulated-annealing", "--sweeps", "9", "--replicas", "8",
       "--scalarize", "weighted-sum"},
  };
  // Those that have no end of their own are run on their example.
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    if (entry->few_evaluations || entry->several_objectives) continue;
    runs.push_back({"solve", entry->example, "--schedule", entry->name, "--sweeps", "9"});
  }
  std::set<std::string> schedules;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string folder = "run" + std::to_string(i);
    const Words output{"--device", "cpu", "--json", "-q"};
    const json first = result_of(run(joined(joined(runs[i], output), {"-o", folder})));
    const json again = result_of(run(joined({runs[i][0], "--repeat", folder}, output)));
    for (const char* part : {"schedule", "stop", "work", "objective", "solution", "front"}) {
      EXPECT_EQ(again.value(part, json()), first.value(part, json())) << i << ": " << part;
    }
    schedules.insert(first["schedule"]["name"].get<std::string>());
  }
  const json listed = json::parse(run(Words{"list", "schedules", "--json"}).out)["schedules"];
  for (const json& one : listed) EXPECT_TRUE(schedules.contains(one["name"])) << one["name"];
}

// 250 generations unless others are given; ten seconds would make thousands.
TEST_F(Repeat, WhoNamesAScheduleDoesNotChangeItsEnd) {
  write("run.toml", "[schedule]\nname = \"evolutionary\"\n");
  const Words own{"solve", "zdt:1", "--device", "cpu", "--json", "-q"};
  const json first = result_of(run(own));
  EXPECT_EQ(first["work"]["sweeps"], 250);
  for (const Words& more :
       {Words{"--schedule", "evolutionary"}, {"--schedule", "mo"}, {"--config", "run.toml"}}) {
    const json named = result_of(run(joined(own, more)));
    EXPECT_EQ(named["stop"], "converged") << more[1];
    for (const char* part : {"work", "front"}) EXPECT_EQ(named[part], first[part]) << more[1];
  }
  const json limited =
      result_of(run(joined(own, {"--schedule", "evolutionary", "--time-limit", "100ms"})));
  EXPECT_EQ(limited["stop"], "time_limit");
}

// A posterior is solved by hmc with mode=anneal, which nobody asked for and no other schedule
// knows.
TEST_F(Repeat, LeavesOutWhatSuitedTheScheduleThatIsReplaced) {
  const json first =
      result_of(run({"solve", "posterior:eight-schools", "--device", "cpu", "--sweeps", "9",
                     "--replicas", "32", "--json", "--save", "run.json"}));
  EXPECT_EQ(first["schedule"]["parameters"]["mode"], "anneal");

  // A run file names no device, and hmc has the same bits on the same device alone.
  const json again = result_of(run({"solve", "--repeat", "run.json", "--device", "cpu", "--json"}));
  const json other =
      result_of(run({"solve", "--repeat", "run.json", "--schedule", "sa", "--json"}));

  EXPECT_EQ(again["schedule"], first["schedule"]);
  EXPECT_EQ(again["solution"], first["solution"]);
  EXPECT_EQ(other["schedule"]["name"], "simulated-annealing");
}

TEST_F(Repeat, SavesWhatRepeatsARunWithoutAFolder) {
  write("g.txt", "3 3\n1 2 1\n2 3 1\n1 3 1\n");
  const json first = result_of(run(
      {"solve", "g.txt", "--device", "cpu", "--sweeps", "9", "--json", "--save", "again.json"}));

  EXPECT_EQ(result_of(run({"solve", "--repeat", "again.json", "--json"}))["work"], first["work"]);

  write("g.txt", "3 3\n1 2 1\n2 3 1\n1 3 2\n");
  const Outcome changed = run(std::vector<std::string>{"solve", "--repeat", "again.json"});
  EXPECT_EQ(changed.exit_code, 3);
  EXPECT_EQ(changed.err,
            "error[repeat.changed]: g.txt: the data differ from the data of the recorded run\n"
            "  fix: to repeat only the options, name the problem on the command line\n");
  EXPECT_EQ(run(std::vector<std::string>{"solve", "g.txt", "--repeat", "again.json"}).exit_code, 0);
}

TEST_F(Repeat, RefusesWhatIsNoRecordOfARun) {
  write("bad.json", "{\"schema\": \"kiln.result/1\"}");
  const Outcome bad = run(std::vector<std::string>{"solve", "--repeat", "bad.json"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_EQ(bad.err,
            "error[input.parse]: bad.json: the document does not have the schema kiln.run/2\n"
            "  expected: the run.json that kiln solve or kiln sample wrote (-o or --save)\n");
  EXPECT_EQ(run(std::vector<std::string>{"solve", "--repeat", "none"}).exit_code, 3);
  write("run.toml", "sweeps = 5\n");
  EXPECT_EQ(run(std::vector<std::string>{"solve", "--repeat", "bad.json", "--config", "run.toml"})
                .exit_code,
            2);
}

json with(json document, const std::string& key, const json& value) {
  document[key] = value;
  return document;
}

// Versions that drew by words only did not say so.
TEST_F(Repeat, KeepsHowAFormerRunNamedItsDraws) {
  const Words own{"solve", "torus:6x6,1", "--device", "cpu", "--sweeps", "30", "--json", "-q"};
  const Words many = joined(own, {"--replicas", "64"});
  const json planes = result_of(run(joined(many, {"--save", "run.json"})));
  const json words = result_of(run(joined(many, {"--draw-naming", "words"})));
  json former = json::parse(read("run.json"));
  EXPECT_EQ(former["draws"], "planes");
  former.erase("draws");
  write("former.json", former.dump());
  const auto repeated = [&](const std::string& file, const Words& more) {
    return result_of(run(joined({"solve", "--repeat", file, "--json", "-q"}, more)));
  };

  EXPECT_EQ(planes["draws"], "planes");
  EXPECT_EQ(words["draws"], "words");
  EXPECT_NE(words["work"]["accepted"], planes["work"]["accepted"]);
  EXPECT_EQ(repeated("run.json", {})["work"], planes["work"]);
  EXPECT_EQ(repeated("former.json", {})["work"], words["work"]);
  EXPECT_EQ(repeated("former.json", {})["draws"], "words");
  EXPECT_EQ(repeated("former.json", {"--draw-naming", "auto"})["work"], planes["work"]);
  EXPECT_EQ(repeated("run.json", {"--replicas", "20"})["draws"], "words");
  EXPECT_EQ(run(joined(own, {"--replicas", "20", "--draw-naming", "planes"})).exit_code, 2);
}

TEST_F(Repeat, KeepsSharedNoise) {
  const Words own{"solve",      "torus:6x6,1", "--device", "cpu",          "--sweeps", "30",
                  "--replicas", "64",          "-p",       "noise=shared", "--json",   "-q"};
  const json shared = result_of(run(joined(own, {"--save", "run.json"})));
  EXPECT_EQ(shared["draws"], "shared");
  EXPECT_EQ(shared["schedule"]["parameters"]["noise"], "shared");
  EXPECT_EQ(json::parse(read("run.json"))["draws"], "shared");
  const auto repeated = [&](const Words& more) {
    return run(joined({"solve", "--repeat", "run.json", "--json", "-q"}, more));
  };
  EXPECT_EQ(result_of(repeated({}))["work"], shared["work"]);
  EXPECT_EQ(result_of(repeated({}))["draws"], "shared");
  EXPECT_EQ(result_of(repeated({"-p", "noise=independent"}))["draws"], "planes");
  EXPECT_EQ(repeated({"--replicas", "20"}).exit_code, 2);
  EXPECT_EQ(repeated({"--schedule", "parallel-tempering"}).exit_code, 2);
}

// Defaults of another version: the run that is repeated had other rounds and another end.
TEST_F(Repeat, NamesParametersThatCameOutDifferently) {
  const Words own{"solve", "torus:6x6,1", "--device", "cpu", "--time-limit", "20ms", "-q"};
  ASSERT_EQ(run(joined(own, {"--save", "run.json"})).exit_code, 0);
  json former = json::parse(read("run.json"));
  json& parameters = former["schedule"]["parameters"];
  EXPECT_EQ(parameters["anneal_sweeps"], "512");
  EXPECT_EQ(parameters["beta_max"], "3.5");
  parameters.update(
      {{"anneal_sweeps", "1000"}, {"beta_max", "4.5"}, {"lost", "1"}, {"moves", "a; b"}});
  parameters.erase("noise");
  write("former.json", former.dump());
  const auto note_of = [&](const Words& more) {
    const Outcome outcome = run(joined({"solve", "--repeat", "former.json", "--json"}, more));
    const json notes = result_of(outcome)["problem"]["notes"];
    for (const json& note : notes) EXPECT_NE(outcome.err.find(note), std::string::npos) << note;
    return notes.empty() ? std::string() : notes[0].get<std::string>();
  };
  const std::string head =
      "this run has other parameters than the run of former.json, so the answer may differ: ";
  const std::string sweeps =
      "anneal_sweeps was 1000 and is 512 (-p anneal_sweeps=1000 -p growth=2 restores it)";
  const std::string beta = "beta_max was 4.5 and is 3.5 (-p beta_max=4.5 restores it)";
  EXPECT_EQ(note_of({}), head + sweeps + ", " + beta);
  EXPECT_EQ(note_of({"--seed", "3"}), head + sweeps + ", " + beta);
  EXPECT_EQ(note_of({"-p", "beta_max=4.5"}), head + sweeps);
  EXPECT_EQ(note_of({"-p", "beta_max=2"}), head + sweeps);
  EXPECT_EQ(note_of({"-p", "beta_max=4.5", "-p", "anneal_sweeps=1000", "-p", "growth=2"}), "");
  EXPECT_EQ(note_of({"--sweeps", "9"}), "") << "changes the defaults";
  EXPECT_EQ(note_of({"--replicas", "2048"}), "");
  EXPECT_EQ(note_of({"--schedule", "random-search"}), "");
}

// What a hand has altered.
TEST_F(Repeat, RefusesDrawsThatContradictTheNoise) {
  const Words own{"solve", "torus:6x6,1", "--device", "cpu", "--sweeps", "8", "--replicas", "64"};
  ASSERT_EQ(run(joined(own, {"-p", "noise=shared", "--save", "shared.json"})).exit_code, 0);
  ASSERT_EQ(run(joined(own, {"--save", "planes.json"})).exit_code, 0);
  const json shared = json::parse(read("shared.json")), planes = json::parse(read("planes.json"));
  const auto says = [&](const json& document, const std::string& why) {
    write("altered.json", document.dump());
    const Outcome outcome = run({"solve", "--repeat", "altered.json", "-q"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find(why), std::string::npos) << why;
  };
  says(with(shared, "draws", "planes"),
       "'draws' is 'planes', and the parameter 'noise' is 'shared'");
  says(with(planes, "draws", "shared"),
       "'draws' is 'shared', and the parameter 'noise' is not 'shared'");
  for (const json& given : {json::array(), json()}) {
    json document = planes;
    document["schedule"]["given"] = given;
    says(document, "the given parameters are not a JSON object");
  }
}

TEST_F(Repeat, SaysWhatItDoesNotKnow) {
  ASSERT_EQ(run(short_run({"--save", "run.json"})).exit_code, 0);
  const json saved = json::parse(read("run.json"));
  EXPECT_EQ(run({"solve", "--repeat", "run.json", "--device", "cpu"}).err.find("note"),
            std::string::npos);

  json other = with(saved, "kiln", "99.0.0");
  other["options"]["sweps"] = {{"value", "3"}, {"origin", "config"}};
  write("other.json", other.dump());
  const Outcome outcome = run({"solve", "--repeat", "other.json", "--device", "cpu"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("other.json was written by kiln 99.0.0, and this is kiln "),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(
      outcome.err.find("Kiln ignored these options of other.json, which kiln solve does not have: "
                       "'sweps'\n"),
      std::string::npos)
      << outcome.err;
}

TEST_F(Repeat, RefusesNumbersOfReplicasAsTheyStandThere) {
  ASSERT_EQ(run(short_run({"--save", "run.json"})).exit_code, 0);
  const json saved = json::parse(read("run.json"));
  const auto complaint_about = [&](const json& replicas) {
    write("bad.json", with(saved, "replicas", replicas).dump());
    const Outcome outcome = run(std::vector<std::string>{"solve", "--repeat", "bad.json"});
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.exit_code, 1);
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_NE(complaint_about(std::uint64_t{18446744073709551615u}).find("18446744073709551615"),
            std::string::npos);
  EXPECT_EQ(complaint_about(-1),
            "error[config.range]: bad.json: replicas=-1 is outside 1 .. 2147483648");
  EXPECT_EQ(complaint_about(1.5),
            "error[input.parse]: bad.json: the number of replicas is not a whole number");
}

TEST_F(Repeat, BoundsDocumentsBeforeTheyAreParsed) {
  const auto complaint_about = [&](const std::string& verb, const std::string& text) {
    write("d.json", text);
    const Outcome outcome = verb == "solve"
                                ? run(std::vector<std::string>{"solve", "--repeat", "d.json"})
                                : run(std::vector<std::string>{"diagnose", "d.json"});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_LT(outcome.err.size(), 3000u);
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  const std::string depth =
      "error[input.parse]: d.json: arrays and objects are nested more than 32 levels deep";
  const std::string opened(32, '['), closed(32, ']');
  for (const std::string verb : {"solve", "diagnose"}) {
    EXPECT_EQ(complaint_about(verb, std::string(1000000, '[')), depth);
    EXPECT_EQ(complaint_about(verb, "{\"a\\\"\":" + opened + closed + "}"), depth);
    // Brackets in a string nest nothing.
    EXPECT_NE(complaint_about(verb, "{\"\\\"" + std::string(100, '[') + "\": 1}"), depth);
    // What is quoted is cut.
    const std::string quote = complaint_about(verb, "{\"schema\": \"" + std::string(5000000, 'y'));
    EXPECT_NE(quote.find("missing closing quote"), std::string::npos) << quote;
    EXPECT_NE(quote.find("yyy ... yyy"), std::string::npos) << quote;
  }
  EXPECT_EQ(complaint_about("solve", "\"" + std::string(std::size_t{17} << 20, 'y') + "\""),
            "error[input.parse]: d.json: the file is larger than 16777216 bytes");
}

TEST_F(Repeat, BeginsInASolution) {
  const json first = result_of(run(short_run({"-o", "run", "--json"})));

  // Cold from the beginning: what is there stays there.
  const json again =
      result_of(run({"solve", "torus:8x8,1", "--device", "cpu", "--sweeps", "1", "--initial",
                     "run/solution.txt", "--json", "-p", "beta_min=9", "-p", "beta_max=9"}));

  EXPECT_GE(again["objective"]["best"], first["objective"]["best"]);
}

TEST_F(Repeat, RefusesStatesThatDoNotFit) {
  write("g.txt", "3 3\n1 2 1\n2 3 1\n1 3 1\n");
  const auto complaint_of = [&](const std::string& text) {
    write("s.txt", text);
    const Outcome outcome = run(std::vector<std::string>{"solve", "g.txt", "--initial", "s.txt"});
    EXPECT_NE(outcome.exit_code, 0);
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_EQ(complaint_of("0\n1\n"),
            "error[input.parse]: s.txt: the file has 2 values for 3 variables");
  EXPECT_EQ(complaint_of("0\n1\n  x"), "error[input.parse]: s.txt:3:3: 'x' is not a number");
  EXPECT_EQ(complaint_of("0 +-1 1"), "error[input.parse]: s.txt:1:3: '+-1' is not a number");
  EXPECT_EQ(complaint_of("0 1 1e400"), "error[input.parse]: s.txt:1:5: '1e400' is not a number");
  EXPECT_EQ(complaint_of("# sides\n0 1 2\n"),
            "error[state.value]: s.txt: the side of a vertex is 2");
}

TEST_F(Repeat, RefusesStatesThatCannotBeRead) {
  const auto complaint_about = [&](const std::string& path) {
    const Outcome outcome =
        run(std::vector<std::string>{"solve", "torus:8x8,1", "--initial", path});
    EXPECT_EQ(outcome.exit_code, 3);
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_EQ(complaint_about("none.txt"),
            "error[input.open]: none.txt: cannot be opened: No such file or directory");
  EXPECT_EQ(complaint_about("."), "error[input.open]: .: this is a folder, not a file");
  EXPECT_EQ(complaint_about("/proc/self/mem"), "error[input.read]: /proc/self/mem: reading failed");
  EXPECT_EQ(complaint_about("/dev/zero"),
            "error[input.parse]: /dev/zero:1: the line is longer than 1048576 bytes");
  write("nul.txt", std::string("1\n-1\0", 5));
  EXPECT_EQ(complaint_about("nul.txt"),
            "error[input.parse]: nul.txt:2: the line has a NUL byte; this is not a text file");
}

// A line of the longest length is read, and none that is longer.
TEST_F(Repeat, ReadsStatesFromLongLines) {
  write("g.txt", "2 1\n1 2 1\n");
  const std::vector<std::string> words{"solve",    "g.txt", "--initial", "s.txt",
                                       "--device", "cpu",   "--sweeps",  "1"};
  const std::string blanks((std::size_t{1} << 20) - 2, ' ');
  for (const std::string end : {"", "\n", "\n\n"}) {
    write("s.txt", "0" + blanks + "1" + end);
    EXPECT_EQ(run(words).exit_code, 0);
    write("s.txt", "0" + blanks + " 1" + end);
    EXPECT_EQ(run(words).exit_code, 3);
  }
}

// The example of docs/schedules/simulated_annealing.md.
TEST_F(Repeat, ComplainsAboutAllParametersAtOnce) {
  const Outcome outcome =
      run(std::vector<std::string>{"solve", "gset:G1", "-p", "beta_max=hot", "-p", "beta_min=-1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err.find("error[config.option]: beta_max: 'hot' is not a finite number"), 0u)
      << outcome.err;
  EXPECT_NE(outcome.err.find("\n  beta_min: -1 is out of range: >= 0\n"), std::string::npos);
}

TEST_F(Repeat, ListsTheBestSolutions) {
  write("path.txt", "4 3\n1 2 1\n2 3 2\n3 4 4\n");
  const std::vector<std::string> words{
      "solve", "path.txt", "--device", "cpu",           "--sweeps", "20",
      "--top", "2",        "-p",       "beta_max=0.01", "-p",       "polish_sweeps=0"};
  const Outcome shown = run(words);
  EXPECT_NE(shown.out.find("top   1  7   in "), std::string::npos) << shown.out;
  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const json result = result_of(run(as_json));
  ASSERT_GE(result["top"].size(), 1u);
  EXPECT_EQ(result["top"][0]["objective"], 7);
  EXPECT_EQ(result["top"][0]["solution"], result["solution"]);
}

}  // namespace
}  // namespace kiln::test::repeat_test
