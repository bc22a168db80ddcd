// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The verbs describe and doctor: what the program says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "program.hpp"

namespace kiln::test::describe_test {
namespace {

using nlohmann::json;
using Describe = ProgramTest;
using Doctor = ProgramTest;

TEST_F(Describe, ShowsAProblemFamily) {
  const Outcome outcome = run({"describe", "torus"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "torus: a family of problems\n"
            "  Max-Cut on an A x B torus with random weights -1 and +1\n"
            "\n"
            "name:\n"
            "  torus:AxB,SEED\n"
            "\n"
            "examples:\n"
            "  kiln solve torus:50x40,1\n");
}

// Not the sentence of their family, whatever their size is.
TEST_F(Describe, SaysOfAProblemWhatItIs) {
  const auto sentence_of = [&](const std::string& name) {
    return json::parse(run({"describe", name, "--json"}).out)["sentence"].get<std::string>();
  };
  for (const char* family : {"zdt", "dtlz", "wfg"}) {
    const json names = json::parse(run({"describe", family, "--json"}).out)["names"];
    EXPECT_GE(names.size(), 6U) << family;
    std::set<std::string> sentences;
    for (const json& name : names) {
      const std::string said = sentence_of(family + (":" + name["name"].get<std::string>()));
      EXPECT_EQ(said, name["sentence"].get<std::string>());
      sentences.insert(said);
    }
    EXPECT_EQ(sentences.size(), names.size()) << family;
  }
  EXPECT_EQ(sentence_of("zdt:1,20"), sentence_of("zdt:1"));
  EXPECT_EQ(sentence_of("constrained:ackley-7"), sentence_of("constrained:ackley"));
  EXPECT_NE(sentence_of("constrained:ackley-7"), sentence_of("constrained:gramacy"));
}

// The oracles are the definitions: G22 has 2000 vertices, an 8 x 8 torus 64, and a Potts glass of
// 30 x 20 places with four values 600 of them.
TEST_F(Describe, TellsOfEveryProblemThatCanBeNamed) {
  for (const auto& [name, kind, count, upper] : {std::tuple{"gset:G22", "spin", 2000, 1},
                                                 {"torus:8x8,1", "spin", 64, 1},
                                                 {"potts:30x20,4,1", "category", 600, 3}}) {
    const json problem = json::parse(run({"describe", name, "--json"}).out);
    EXPECT_EQ(problem["name"], name);
    EXPECT_EQ(problem["objectives"][0]["sense"], name[0] == 'p' ? "minimize" : "maximize");
    ASSERT_EQ(problem["variables"].size(), 1u);
    EXPECT_EQ(problem["variables"][0]["kind"], kind);
    EXPECT_EQ(problem["variables"][0]["count"], count);
    EXPECT_EQ(problem["variables"][0]["upper"], upper);
  }
  for (const std::string family : {"table", "command", "posterior"}) {
    const std::string name = family + (family == "posterior" ? ":linear-regression" : ":./none");
    const Outcome outcome = run({"describe", name});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.rfind(name + " is a problem of the family " + family + ".", 0), 0u);
    EXPECT_NE(outcome.out.find(run({"describe", family}).out), std::string::npos);
  }
  EXPECT_EQ(run({"describe", "gset:G999"}).exit_code, 2);
  EXPECT_EQ(run({"describe", "posterior:linear-regresion"}).exit_code, 2);
}

TEST_F(Describe, LeadsFromTheNameOfAnInstanceToItsFamily) {
  for (const std::string known : {"posterior:eight-schools", "gset:G22", "function:rastrigin-10"}) {
    const std::string instance = known.substr(known.find(':') + 1);
    const Outcome outcome = run({"describe", instance});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("\n  fix: kiln describe " + known + "\n"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(run({"describe", known}).exit_code, 0);
    const Outcome solved = run({"solve", instance});
    EXPECT_EQ(solved.exit_code, 3);
    EXPECT_NE(solved.err.find("\n  fix: for the generated instance, write " + known + "\n"),
              std::string::npos)
        << solved.err;
  }
}

TEST_F(Describe, ShowsTheOptionsOfAFamily) {
  Outcome outcome = run({"describe", "command"});
  EXPECT_NE(outcome.out.find("\noptions:\n"), std::string::npos) << outcome.out;
  for (const char* option : {"--var NAME=KIND", "--constraints N", "--timeout TIME", "--sense"}) {
    EXPECT_NE(outcome.out.find(option), std::string::npos) << option;
  }
  EXPECT_EQ(outcome.out.find("--objective"), std::string::npos) << "it is for tables";
  outcome = run({"describe", "table", "--json"});
  EXPECT_EQ(json::parse(outcome.out)["options"][0]["name"], "objective");
  EXPECT_EQ(run({"describe", "gset"}).out.find("options:"), std::string::npos);
}

// What lies at an end of a range is taken, what lies beyond it is refused.
TEST_F(Describe, ShowsTheRangesThatAreEnforced) {
  const json fields = json::parse(run({"describe", "amosa", "--json"}).out)["parameters"];
  for (const char* name : {"mutation_index", "temperature_spread", "mutation_probability"}) {
    std::string range;
    for (const json& field : fields) {
      if (field["name"] == name) range = field["range"].get<std::string>();
    }
    const std::size_t dots = range.find(" .. ");
    ASSERT_NE(dots, std::string::npos) << name << ": " << range;
    const double low = std::stod(range), high = std::stod(range.substr(dots + 4));
    const auto code_of = [&](double value) {
      return run({"solve", "zdt:1", "--schedule", "amosa", "--device", "cpu", "--dry-run", "-p",
                  fmt::format("{}={}", name, value)})
          .exit_code;
    };
    EXPECT_EQ(code_of(low), 0) << name;
    EXPECT_EQ(code_of(high), 0) << name;
    EXPECT_EQ(code_of(high * 1.01), 2) << name;
    EXPECT_EQ(code_of(low > 0 ? low / 1.01 : -0.01), 2) << name;
  }
}

TEST_F(Describe, ShowsAFormat) {
  const Outcome outcome = run({"describe", "rudy"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "rudy: a file format\n"
            "  Weighted graph as an edge list with a header: the format of the G-set.\n"
            "\n"
            "suffixes:\n"
            "  .rud .rudy .mc .gset .graph\n"
            "\n"
            "grammar:\n"
            "  file   = header edge*\n"
            "  header = <number of vertices> <number of edges>\n"
            "  edge   = <vertex> <vertex> [<weight>]            vertices counted from 1\n"
            "\n"
            "example:\n"
            "  3 3\n"
            "  1 2 1\n"
            "  1 3 -2\n"
            "  2 3 0.5\n");
}

TEST_F(Describe, ShowsEveryParameterOfASchedule) {
  const Outcome text = run({"describe", "simulated-annealing"});
  const json document = json::parse(run({"describe", "simulated-annealing", "--json"}).out);

  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(document["kind"], "schedule");
  ASSERT_GE(document["parameters"].size(), 8u);
  for (const json& field : document["parameters"]) {
    const auto name = field["name"].get<std::string>();
    EXPECT_NE(text.out.find("\n  " + name + " "), std::string::npos) << name;
    for (const char* key : {"type", "default", "range", "sentence"}) EXPECT_NE(field[key], "");
  }
  EXPECT_NE(text.out.find("  beta_max          real, 1/energy, >= 0 (default automatic)\n"),
            std::string::npos)
      << text.out;
}

// Words with one blank between them.
std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

TEST_F(Describe, ShowsEveryFieldOfEverySchedule) {
  const json listed = json::parse(run({"list", "schedules", "--json"}).out);
  ASSERT_GE(listed["schedules"].size(), 2u);
  for (const json& schedule : listed["schedules"]) {
    const auto schedule_name = schedule["name"].get<std::string>();
    const Outcome text = run({"describe", "schedule", schedule_name});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_NE(schedule["sentence"], "") << schedule_name;
    for (const json& field : schedule["parameters"]) {
      const auto name = field["name"].get<std::string>();
      for (const char* key : {"type", "range", "default", "sentence"}) {
        EXPECT_NE(field[key].get<std::string>(), "")
            << schedule_name << ": " << name << ", " << key;
      }
      const auto unit = field["unit"].get<std::string>();
      const std::string facts = field["type"].get<std::string>() +
                                (unit.empty() ? "" : ", " + unit) + ", " +
                                field["range"].get<std::string>() + " (default " +
                                field["default"].get<std::string>() + ") ";
      const auto sentence = field["sentence"].get<std::string>();
      // Facts may be broken into lines, the sentence stands on one.
      const std::size_t line =
          text.out.find("\n  " + name + " ", text.out.find("\nparameters, for -p "));
      ASSERT_NE(line, std::string::npos) << schedule_name << ": " << name;
      const std::string entry = one_line(text.out.substr(line));
      const std::string expected = name + " " + facts + sentence;
      EXPECT_EQ(entry.substr(0, expected.size()), expected) << schedule_name;
      EXPECT_NE(text.out.find("\n    " + sentence + "\n"), std::string::npos) << sentence;
    }
    std::istringstream lines(text.out);
    for (std::string one; std::getline(lines, one);) EXPECT_LE(one.size(), 80u) << one;
  }
}

TEST_F(Describe, ShowsAKernel) {
  const Outcome exact = run({"describe", "track_best"});
  const Outcome display = run({"describe", "kernel", "summarize"});

  EXPECT_EQ(exact.exit_code, 0);
  EXPECT_EQ(exact.out,
            "track_best: a kernel\n"
            "  updates the best state of each replica at the end of a tick\n"
            "\n"
            "accuracy:\n"
            "  class E: the same bits on every backend, for every launch shape and number of\n"
            "  threads\n"
            "\n"
            "more:\n"
            "  docs/kernels/run.md and the header kiln/kernels/run/track_best.hpp\n"
            "\n"
            "example:\n"
            "  kiln bench kernels --only track_best\n");
  EXPECT_EQ(display.exit_code, 0);
  EXPECT_NE(display.out.find("\n  class D: sums in double precision, "), std::string::npos)
      << display.out;
}

// Of a product the order of sums does not matter where they are exact.
TEST_F(Describe, TellsWhichResultsOfAKernelHaveEqualBits) {
  const Outcome product = run({"describe", "matrix_product"});
  EXPECT_NE(product.out.find(
                "accuracy:\n"
                "  class D: sums in double precision, in an order that depends on the backend;\n"
                "  all backends agree within 1e-12 of the sum of magnitudes; products by the\n"
                "  path int8, and of integers whose sums are exact in the path, are class E: the\n"
                "  same bits on every backend, for every launch shape and number of threads\n"),
            std::string::npos)
      << product.out;
  EXPECT_NE(run({"list", "kernels"}).out.find("matrix_product             D, E "),
            std::string::npos);
}

TEST_F(Describe, TellsWhichVariantOfASweepServesAModel) {
  const std::string sweep = run({"describe", "kernel", "metropolis_sweep"}).out;
  EXPECT_NE(
      sweep.find("\nvariants, all with the same bits:\n  In stored units, S = |h| + sum |J| "),
      std::string::npos)
      << sweep;
}

TEST_F(Describe, KnowsEverythingThatIsListed) {
  const std::map<std::string, std::string> kinds{{"schedules", "schedule"},
                                                 {"problems", "problem"},
                                                 {"formats", "format"},
                                                 {"kernels", "kernel"}};
  std::map<std::string, int> times;
  for (const auto& [topic, kind] : kinds) {
    const json listed = json::parse(run(std::vector<std::string>{"list", topic, "--json"}).out);
    for (json entry : listed[topic]) {
      const auto name = entry["name"].get<std::string>();
      const Outcome by_name = run({"describe", name, "--json"});
      const Outcome by_kind = run({"describe", kind, name, "--json"});
      entry["kind"] = kind;
      EXPECT_EQ(json::parse(by_name.out), entry);
      EXPECT_EQ(by_kind.out, by_name.out);
      EXPECT_EQ(++times[name], 1) << name << " names two things: describe NAME shows one of them";
    }
  }
}

TEST_F(Describe, LooksAmongTheKindThatIsNamed) {
  const Outcome other_kind = run({"describe", "problem", "rudy"});
  EXPECT_EQ(other_kind.exit_code, 2);
  EXPECT_EQ(other_kind.out, "");
  EXPECT_EQ(other_kind.err.rfind("error[cli.unknown]: no problem is named 'rudy'", 0), 0u)
      << other_kind.err;
  EXPECT_EQ(other_kind.err.find("simulated-annealing"), std::string::npos) << other_kind.err;

  const Outcome no_kind = run({"describe", "formt", "rudy"});
  EXPECT_EQ(no_kind.exit_code, 2);
  EXPECT_EQ(no_kind.err,
            "error[cli.unknown]: unknown kind 'formt'; the nearest is 'format'\n"
            "  available: schedule, problem, format, kernel\n"
            "  fix: kiln describe schedule simulated-annealing\n");
}

TEST_F(Describe, GivesExamplesThatAreRead) {
  for (const char* format : {"rudy", "qubo", "coo"}) {
    const json document = json::parse(run({"describe", format, "--json"}).out);
    const Outcome outcome = run(Call{{"check", "-", "--json"}, document["example"]});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["format"], format);
  }
}

TEST_F(Doctor, FindsAMachineWithoutCudaHealthy) {
  const std::map<std::string, std::string> environment{{"KILN_CUDA_MODULE", ""},
                                                       {"CUDA_VISIBLE_DEVICES", ""}};
  const Outcome outcome = run(Call{{"doctor"}, {}, environment});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
  for (const char* line :
       {"ok    kiln      ", "\nok    cpu       ", "\nnote  cuda      ", "\n                fix: ",
        "\nok    kernels   cpu: short runs report the correct values of their states\n",
        "\nok    folder    ", ": files can be written, synchronised and renamed\n"}) {
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << "\n" << outcome.out;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "the doctor leaves nothing behind";
}

TEST_F(Doctor, FindsABrokenModuleBad) {
  write("libkiln_cuda.so", "this is no library");
  const Outcome outcome =
      run(Call{{"doctor", "--json"}, {}, {{"KILN_CUDA_MODULE", "./libkiln_cuda.so"}}});

  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "kiln.doctor/1");
  EXPECT_EQ(document["healthy"], outcome.exit_code == 0);
  const json& checks = document["checks"];
  const auto cuda = std::ranges::find_if(checks, [](const json& c) { return c["name"] == "cuda"; });
  ASSERT_NE(cuda, checks.end());
  EXPECT_NE((*cuda)["status"], "ok");
  EXPECT_TRUE((*cuda)["fix"].is_string());
  // The driver is asked first: without one the module does not matter.
  EXPECT_EQ(outcome.exit_code, (*cuda)["status"] == "bad" ? 4 : 0) << outcome.out;
}

}  // namespace
}  // namespace kiln::test::describe_test
