// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::config_test {
namespace {

using nlohmann::json;

class Config : public ProgramTest {
 protected:
  Outcome run_with(const std::string& toml, std::vector<std::string> more = {},
                   std::map<std::string, std::string> environment = {}) const {
    write("run.toml", toml);
    std::vector<std::string> words{"solve",    "torus:8x8,1", "--config", "run.toml",
                                   "--device", "cpu",         "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(Call{words, {}, std::move(environment)});
  }
};

TEST_F(Config, SetsOptionsAndParameters) {
  const Outcome outcome = run_with(
      "sweeps = 30\nseed = 5\nreplicas = \"1Ki\"\ngraph-capture = false\n"
      "[schedule]\nname = \"simulated-annealing\"\nbeta_max = 2.5\n");

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["seed"], 5);
  EXPECT_EQ(result["work"]["sweeps"], 30);
  EXPECT_EQ(result["work"]["replicas"], 1024);
  EXPECT_EQ(result["schedule"]["parameters"]["beta_max"], "2.5");
}

TEST_F(Config, IsWeakerThanTheEnvironmentAndThatThanTheCommandLine) {
  const std::string toml = "sweeps = 30\nseed = 5\n";
  const std::map<std::string, std::string> environment{{"KILN_SEED", "6"}};

  EXPECT_EQ(json::parse(run_with(toml).out)["seed"], 5);
  EXPECT_EQ(json::parse(run_with(toml, {}, environment).out)["seed"], 6);
  EXPECT_EQ(json::parse(run_with(toml, {"--seed", "7"}, environment).out)["seed"], 7);
}

TEST_F(Config, UnknownKeyIsRefusedWithItsPlace) {
  const Outcome outcome = run_with("seed = 1\n  sweps = 3\n");

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(
      outcome.err,
      "error[config.key]: run.toml:2:3: 'sweps' is not an option of kiln solve; the nearest "
      "is 'sweeps'\n"
      "  fix: kiln solve --help lists the options; parameters belong in the table [schedule]\n");
}

TEST_F(Config, UnknownParameterIsRefusedWithItsPlace) {
  const Outcome outcome = run_with("[schedule]\nbeta_mx = 3\n");

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[config.key]: run.toml:2:1: 'beta_mx' is not a parameter of schedule "
            "'simulated-annealing'; the nearest is 'beta_max'\n"
            "  fix: kiln describe simulated-annealing lists the parameters\n");
}

TEST_F(Config, BadValuesAreRefusedWithTheirPlace) {
  EXPECT_EQ(run_with("seed = -1\n").err,
            "error[config.range]: run.toml:1:1: seed=-1 is outside 0 .. 18446744073709551615\n"
            "  fix: give a non-negative number, for example --seed 1\n");
  EXPECT_EQ(run_with("[schedule]\nbeta_max = -3\n").err,
            "error[config.option]: run.toml:2:1: beta_max: -3 is out of range: >= 0\n"
            "  fix: kiln describe simulated-annealing lists the parameters\n");
  EXPECT_EQ(run_with("json = 1\n").err,
            "error[config.type]: run.toml:1:1: 'json' must be true or false\n");
}

TEST_F(Config, SyntaxErrorHasItsPlace) {
  const Outcome outcome = run_with("seed = 1\nsweeps = \n");

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err.rfind("error[config.syntax]: run.toml:2:", 0), 0u) << outcome.err;
}

// The parser goes one call deeper for each part of a key.
TEST_F(Config, LongKeysAreRefusedBeforeTheyAreParsed) {
  std::string key = "a";
  for (int i = 0; i < 50000; ++i) key += i % 2 == 0 ? ".a" : " . 'a.b'";
  for (const std::string& text :
       {key + " = 1\n", "[" + key + "]\n", "[[" + key + "]]\n", "x = { " + key + " = 1 }\n"}) {
    const Outcome outcome =
        run_with("# 1\nseed = 1 # 1.2.3.4.5.6.7.8.9.1.2.3.4.5.6.7.8.9\n" + text);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err,
              "error[config.depth]: run.toml:3: a key has more than 16 dot-separated parts\n");
  }
}

TEST_F(Config, DotsInValuesAreNoParts) {
  const std::string dots = "1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9";
  // Strings of all four kinds, with quotes and line feeds in them, then numbers.
  const std::vector<std::string> values{
      "\"\\\"" + dots + "\"", "'" + dots + "'", "\"\"\"\n" + dots + "\\\"\n\"\"\"",
      "'''\n" + dots + "\n'''",
      "[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8]"};
  for (const std::string& value : values) {
    const Outcome outcome = run_with("[schedule]\nbeta_max = " + value + "\n");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err.rfind("error[config.option]: run.toml:2:1: beta_max: ", 0), 0u)
        << outcome.err;
  }
}

TEST_F(Config, FilesThatCannotBeReadOrAreTooLargeAreRefused) {
  const auto complaint_about = [&](const std::string& path) {
    const Outcome outcome = run(std::vector<std::string>{"solve", "torus:8x8,1", "--config", path});
    EXPECT_EQ(outcome.exit_code, 2) << path;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_EQ(complaint_about("."), "error[config.open]: .: this is a folder, not a file\n");
  EXPECT_EQ(complaint_about("/proc/self/mem"),
            "error[config.read]: /proc/self/mem: reading failed\n");
  EXPECT_EQ(complaint_about("/dev/zero"),
            "error[config.size]: /dev/zero: the file is larger than 1048576 bytes\n");
}

TEST_F(Config, MissingFileIsRefused) {
  const Outcome outcome =
      run(std::vector<std::string>{"solve", "gset:G1", "--config", "none.toml"});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[config.open]: none.toml: the configuration file cannot be opened\n");
}

}  // namespace
}  // namespace kiln::test::config_test
