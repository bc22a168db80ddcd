// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// solve --dry-run: the plan of a run.
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::dry_run_test {
namespace {

using nlohmann::json;
using DryRun = ProgramTest;

TEST_F(DryRun, ShowsThePlanAndRunsNothing) {
  write("run.toml", "replicas = 64\n[schedule]\nbeta_max = 2.5\n");
  const Outcome outcome = run(Call{
      short_run({"--config", "run.toml", "-o", "run", "--dry-run"}), {}, {{"KILN_SEED", "7"}}});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_FALSE(exists("run"));
  EXPECT_EQ(outcome.out.rfind("kiln ", 0), 0u);
  for (const char* line :
       {"schedule     simulated-annealing   replicas 64   groups 1   seed 7\n",
        "\nstop         after 50 sweeps\n", " KiB needed (batch ",
        "seed               7                     environment\n",
        "replicas           64                    config, run.toml:1:1\n",
        "sweeps             50                    command line\n",
        "threads            auto                  default\n",
        "beta_max        2.5           config, run.toml:3:1\n",
        "beta_min        automatic     default\n", "\ndry run: nothing was run"}) {
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << "\n" << outcome.out;
  }
}

TEST_F(DryRun, GivesThePlanAsJson) {
  const Outcome outcome = run(short_run({"--json", "--dry-run", "-p", "groups=4"}));

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
  const json plan = json::parse(outcome.out);
  EXPECT_EQ(plan["schema"], "kiln.plan/1");
  EXPECT_EQ(plan["problem"]["sizes"]["n"], "64");
  EXPECT_EQ(plan["replicas"], 512);
  EXPECT_EQ(plan["groups"], 4);
  EXPECT_EQ(plan["device"]["name"], "cpu");
  EXPECT_EQ(plan["schedule"]["parameters"]["groups"],
            (json{{"value", "4"}, {"origin", "command line"}}));
  const json& memory = plan["memory"];
  EXPECT_GT(memory["batch_bytes"], 0);
  EXPECT_EQ(memory["needed_bytes"], memory["batch_bytes"].get<std::int64_t>() +
                                        memory["problem_bytes"].get<std::int64_t>() +
                                        memory["schedule_bytes"].get<std::int64_t>());
  EXPECT_GT(memory["schedule_bytes"], 0);
  // 60 bytes of each of 512 replicas, and a bit for its improvement; two states of 64 bits.
  EXPECT_EQ(memory["batch_bytes"], 512 * (60 + 2 * 8) + 256);
  std::map<std::string, std::int64_t> owned;
  for (const json& one : memory["owners"]) {
    owned[one["owner"].get<std::string>()] = one["planned_bytes"].get<std::int64_t>();
  }
  EXPECT_EQ(owned["batch"], memory["batch_bytes"]);
  EXPECT_EQ(owned["problem"], memory["problem_bytes"]) << "the engine has what threads sweep in";
  EXPECT_EQ(owned["schedule"] + owned["engine"], memory["schedule_bytes"]);
  EXPECT_EQ(memory["owners"].back()["owner"], "copies");
  EXPECT_EQ(memory["owners"].back()["planned_bytes"], memory["copy_bytes"]);
  EXPECT_GT(memory["copy_bytes"], 512 * (52 + 2 * 8)) << "with what the schedule keeps";
}

// 2^31 - 1 replicas of 20000 bits, twice: more than any machine that runs tests has free.
TEST_F(DryRun, SaysThatMemoryDoesNotSuffice) {
  const std::vector<std::string> words{"solve",      "gset:G81",   "--device", "cpu",
                                       "--replicas", "2147483647", "--sweeps", "1"};
  std::vector<std::string> dry = words;
  dry.insert(dry.end(), {"--dry-run", "--json"});

  const Outcome planned = run(dry);

  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  const json memory = json::parse(planned.out)["memory"];
  if (memory["free_bytes"].is_null()) GTEST_SKIP() << "the system does not say what is free";
  EXPECT_EQ(memory["fits"], false);
  EXPECT_LT(memory["fitting_replicas"], 2147483647);
  const Outcome refused = run(words);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("error[run.memory]: 2147483647"), std::string::npos);
  EXPECT_NE(refused.err.find("\n  fix: --replicas "), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("\n  more: kiln solve ... --dry-run shows the plan\n"),
            std::string::npos);
}

TEST_F(DryRun, RefusesWhatARunWouldRefuse) {
  EXPECT_EQ(run(short_run({"--dry-run", "-p", "beta_mx=3"})).exit_code, 2);
  const Outcome outcome = run(short_run({"--dry-run", "--replicas", "128", "-p", "groups=3"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, run(short_run({"-q", "--replicas", "128", "-p", "groups=3"})).err);
}

}  // namespace
}  // namespace kiln::test::dry_run_test
