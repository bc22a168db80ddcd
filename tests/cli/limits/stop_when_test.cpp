// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Runs that end where their best value gains too little: --stop-when.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::stop_when_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class StopWhen : public ProgramTest {
 protected:
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(StopWhen, EndsARunItsRepeatAndItsContinuation) {
  const std::string condition = "gain<0.5% in 400 sweeps";
  const json first = result_of(
      run(solve("torus:16x16,1", {"--replicas", "32", "--stop-when", condition, "--threads", "1",
                                  "-p", "anneal_sweeps=1000", "-o", "run", "--json"})));
  EXPECT_EQ(first["stop"], "gain_limit");
  const std::int64_t sweeps = first["work"]["sweeps"];
  EXPECT_GT(sweeps, 400);

  const json again = result_of(run({"solve", "--repeat", "run", "--json", "--threads", "2"}));
  EXPECT_EQ(again["stop"], "gain_limit");
  EXPECT_EQ(again["work"], first["work"]);
  EXPECT_EQ(again["solution"], first["solution"]);

  const Outcome finished = run({"resume", "run"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(has(finished.err, "the run is finished (gain_limit)")) << finished.err;
  EXPECT_TRUE(has(finished.err, "a new limit: --time-limit, or a greater --sweeps"));
  // Refused before the folder is opened, so that the result stays.
  const Outcome unit = run({"resume", "run", "--stop-when", "gain<1% in 9 evaluations"});
  EXPECT_EQ(unit.exit_code, 2);
  EXPECT_TRUE(has(unit.err,
                  "error[resume.limit]: --stop-when in evaluations is no limit of this "
                  "run: schedule simulated-annealing counts attempts\n"))
      << unit.err;
  EXPECT_EQ(json::parse(read("run/result.json"))["stop"], "gain_limit");
  const std::string longer = "gain<0.001% in 3000 sweeps";
  const json more = result_of(run({"resume", "run", "--stop-when", longer, "--json"}));
  EXPECT_EQ(more["stop"], "gain_limit");
  EXPECT_GT(more["work"]["sweeps"], sweeps);
}

TEST_F(StopWhen, IsNoLimitOfAFrontThatGoesOn) {
  run(solve("zdt:1", {"--generations", "3", "--replicas", "100", "-o", "front", "-q"}));
  const std::string before = read("front/result.json");
  const Outcome more = run({"resume", "front", "--stop-when", "gain<1% in 5 sweeps"});
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_TRUE(has(more.err,
                  "error[resume.limit]: --stop-when is no limit of this run: schedule "
                  "evolutionary has no single best value\n"))
      << more.err;
  EXPECT_EQ(read("front/result.json"), before);
}

TEST_F(StopWhen, IsShownAndHasNoTimeLimitBesideIt) {
  const Outcome plan = run(solve(
      "torus:8x8,1", {"--replicas", "32", "--stop-when", "gain<2 in 1k sweeps", "--dry-run"}));
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_TRUE(has(plan.out, "stop         when gain<2 in 1000 sweeps\n")) << plan.out;
  const Outcome done =
      run(solve("torus:8x8,1", {"--replicas", "32", "--stop-when", "gain<2 in 1k sweeps", "-q"}));
  EXPECT_TRUE(has(done.out, "done   gained too little after ")) << done.out;
}

TEST_F(StopWhen, IsReadBeforeAnythingRuns) {
  const Outcome time = run(solve("torus:8x8,1", {"--stop-when", "gain<0.1% in 30s"}));
  EXPECT_EQ(time.exit_code, 2);
  EXPECT_EQ(time.err,
            "error[cli.range]: --stop-when=gain<0.1% in 30s, position 14: after a time each repeat "
            "would end at another place\n"
            "  sweeps, attempts or evaluations\n"
            "  fix: --time-limit 30s\n");
  const Outcome other = run(solve("torus:8x8,1", {"--stop-when", "loss"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.err,
            "error[cli.range]: --stop-when=loss, position 1: the condition begins with 'loss'\n"
            "  'gain', as in gain<0.1% in 1e9 attempts\n"
            "  fix: --stop-when 'gain<0.1% in 1e9 attempts', in quotes\n");
}

TEST_F(StopWhen, IsRefusedWhereThereIsNoSingleBestValue) {
  const Outcome front = run(solve("zdt:1", {"--stop-when", "gain<1% in 10 sweeps"}));
  EXPECT_EQ(front.exit_code, 2);
  EXPECT_TRUE(has(front.err,
                  "error[budget.stop_when]: schedule 'evolutionary' searches for a front, "
                  "which is no single best value\n"))
      << front.err;
  const Outcome unit = run(solve("function:branin", {"--schedule", "bayesian-optimization",
                                                     "--stop-when", "gain<1% in 10 attempts"}));
  EXPECT_EQ(unit.exit_code, 2);
  EXPECT_TRUE(has(unit.err,
                  "counts attempts, and schedule 'bayesian-optimization' counts "
                  "evaluations\n  evaluations or sweeps\n"))
      << unit.err;
  const json search = result_of(run(
      solve("function:branin", {"--schedule", "bayesian-optimization", "--stop-when",
                                "gain<1e-3 in 12 evaluations", "--evaluations", "200", "--json"})));
  EXPECT_EQ(search["stop"], "gain_limit");
  EXPECT_LT(search["work"]["evaluations"], 200);
}

}  // namespace
}  // namespace kiln::test::stop_when_test
