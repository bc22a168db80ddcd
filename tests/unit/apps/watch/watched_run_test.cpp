// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What events and rows make of a run, and what hostile ones do not.
#include "watch/watched_run.hpp"

#include <gtest/gtest.h>

#include <string>

#include "watch/panel.hpp"

namespace kiln::cli::watched_run_test {
namespace {

constexpr const char* start_line =
    R"({"time_s":0.0,"event":"start","problem":"gset:G22","schedule":"simulated-annealing",)"
    R"("device":"cpu","objective":"cut","sense":"maximize","replicas":512,"seed":7,)"
    R"("verb":"solve","host":"node3","step":"sweep","variables":2000,"best_known":13359,)"
    R"("limits":{"time_s":10.0,"steps":null,"target":null}})";

void take(WatchedRun& run, const std::string& line) {
  const std::optional<EventJson> event = parse_event(line);
  ASSERT_TRUE(event) << line;
  run.apply(*event);
}

WatchedRun started() {
  WatchedRun run;
  take(run, start_line);
  return run;
}

TEST(WatchedRuns, FollowTheEvents) {
  WatchedRun run = started();
  EXPECT_EQ(run.problem, "gset:G22");
  EXPECT_EQ(run.seed, 7U);
  EXPECT_EQ(run.time_left_s(4.0), 6.0);
  for (int i = 1; i <= 7; ++i) {
    take(run, R"({"time_s":)" + std::to_string(i) + R"(,"event":"improvement","sweeps":)" +
                  std::to_string(100 * i) + R"(,"best":)" + std::to_string(13000 + i) +
                  R"(,"mean":12000.5,"acceptance_rate":0.2,"beta":null,"attempts_per_ns":2.5,)" +
                  R"("time_left_s":2.0,"tried":8})");
  }
  EXPECT_EQ(run.best, "13007");
  EXPECT_EQ(run.gap(), "2.635 %");
  EXPECT_EQ(run.improvement_count, 7);
  ASSERT_EQ(run.improvements.size(), 5U);
  EXPECT_EQ(run.improvements.front().text, "13007");
  EXPECT_EQ(run.improvements.back().text, "13003");
  EXPECT_EQ(run.improvements.back().value, 13003);
  EXPECT_FALSE(run.beta);
  ASSERT_EQ(run.notes.size(), 1U);
  EXPECT_EQ(run.notes[0].first, "tried");
  // Two seconds were left at 7 s, and the time limit leaves three.
  EXPECT_EQ(run.time_left_s(7.5), 1.5);
  take(run, R"({"time_s":8,"event":"checkpoint"})");
  EXPECT_EQ(run.checkpoint_s, 8);
}

TEST(WatchedRuns, RaiseAndEndAlerts) {
  WatchedRun run = started();
  take(run, R"({"time_s":1,"event":"alert","code":"memory","message":"much","fix":"less"})");
  ASSERT_EQ(run.alerts.size(), 1U);
  EXPECT_EQ(run.alerts.at("memory").message, "much");
  take(run, R"({"time_s":2,"event":"alert_end","code":"acceptance"})");
  EXPECT_EQ(run.alerts.size(), 1U);
  take(run, R"({"time_s":2,"event":"alert_end","code":"memory"})");
  EXPECT_TRUE(run.alerts.empty());
}

TEST(WatchedRuns, EndAndGoOn) {
  WatchedRun run = started();
  take(run, R"({"time_s":10,"event":"stop","stop":"time_limit","best":13350,"sweeps":9,)"
            R"("verified":true,"line":"done   time limit after 10.0 s"})");
  ASSERT_TRUE(run.stop);
  EXPECT_TRUE(run.stop->verified);
  EXPECT_EQ(run.best, "13350");
  EXPECT_EQ(end_text({"out", run, RunLife::finished}), "done   time limit after 10.0 s");
  take(run, R"({"time_s":10,"event":"resume","device":"cuda:0","host":"node4"})");
  EXPECT_FALSE(run.stop);
  EXPECT_EQ(run.device, "cuda:0");
  EXPECT_EQ(run.host, "node4");
  EXPECT_FALSE(run.time_left_s(10)) << "of the former limit";
}

TEST(WatchedRuns, RowsOfTheTraceAreNewerThanEvents) {
  WatchedRun run = started();
  const auto point = trace_point("1.0,100,1000000,13000,12000,0.5,1.5,2.0",
                                 "2.0,300,3000000,13001,12001,0.25,inf,9.0");
  ASSERT_TRUE(point);
  EXPECT_EQ(point->attempts_per_s, 2e6) << "over both rows, not of the last alone";
  EXPECT_FALSE(point->beta);
  run.apply(*point);
  EXPECT_EQ(run.time_s, 2);
  EXPECT_EQ(run.sweeps, 300);
  EXPECT_EQ(run.mean, 12001);
  TracePoint old = *point;
  old.time_s = 1;
  old.sweeps = 5;
  run.apply(old);
  EXPECT_EQ(run.sweeps, 300);
}

TEST(WatchedRuns, ReadNoHalfRowsAndNoOtherLines) {
  for (const char* row : {"", "time_s,sweeps,attempts,best,mean,acceptance_rate,beta,moves",
                          "1,2,3", "1,2,x,4,5,6,7,8", "nan,2,3,4,5,6,7,8", "1,2,3,4,5,6,7,8,9"}) {
    EXPECT_FALSE(trace_point("", row)) << row;
  }
  for (const char* line : {"", "{", "[]", "7", "{}", R"({"event":7})", R"({"event":"stop")",
                           "{\"event\":\"a\xff\"}", R"({"event":"stop"} {)"}) {
    EXPECT_FALSE(parse_event(line)) << line;
  }
}

// Values of other types, missing ones, and depth do no harm.
TEST(WatchedRuns, TakeHostileEvents) {
  WatchedRun run;
  take(run, R"({"event":"start","problem":{"a":1},"seed":-1,"limits":7,"best_known":"x"})");
  EXPECT_TRUE(run.started);
  EXPECT_EQ(run.problem, "");
  EXPECT_FALSE(run.seed);
  take(run, R"({"event":"improvement","time_s":"soon","best":"x","mean":[1],"beta":{}})");
  take(run, R"({"event":"stop","verified":"yes"})");
  EXPECT_FALSE(run.stop->verified);
  std::string deep = R"({"event":"progress","x":)";
  for (int i = 0; i < 100000; ++i) deep += '[';
  for (int i = 0; i < 100000; ++i) deep += ']';
  const std::optional<EventJson> event = parse_event(deep + "}");
  ASSERT_TRUE(event);
  EXPECT_LT(event->dump().size(), 100U) << "what is deep is left out";
  for (int i = 0; i < 100; ++i) {
    take(run, R"({"event":"alert","code":"c)" + std::to_string(i) + R"("})");
  }
  EXPECT_LE(run.alerts.size(), 16U);
}

TEST(WatchedRuns, TextsAreHarmlessAndShort) {
  WatchedRun run;
  take(run, R"({"event":"start","problem":"evil\u001b[2J\u202ename","schedule":")" +
                std::string(5000, 's') + "\"}");
  EXPECT_EQ(run.problem, "evil?[2J?name");
  EXPECT_LT(run.schedule.size(), 210U);
}

WatchedRun busy() {
  WatchedRun run = started();
  take(run, R"({"time_s":4,"event":"improvement","sweeps":464,"best":13358,"mean":13299,)"
            R"("acceptance_rate":0.04,"beta":2.94,"attempts_per_ns":4.6,"time_left_s":6})");
  take(run, R"({"time_s":4,"event":"alert","code":"memory","message":"93 % of the memory of the )"
            R"(host is in use, 93.0 GiB of 100.0 GiB","fix":"end other programs there"})");
  return run;
}

TEST(Panels, ShowTheRun) {
  const WatchedRun run = busy();
  const RunView view{"out/g22", run, RunLife::running, 5.0, 1.0, ""};
  std::string text;
  for (const std::string& line : panel_lines(view, 79, 40, false)) text += line + "\n";
  EXPECT_EQ(text,
            "kiln watch   out/g22   running\n"
            "problem      gset:G22   maximise cut   best known 13359\n"
            "schedule     simulated-annealing   replicas 512   seed 7\n"
            "device       cpu   host node3\n"
            "elapsed      5.0s   [############------------] 50 %   5.0s left\n"
            "best         13358   gap 0.007 %   found 1.0s ago\n"
            "alert        memory (since 4.0s): 93 % of the memory of the host is in use,\n"
            "             93.0 GiB of 100.0 GiB\n"
            "  fix        end other programs there\n"
            "now          mean 13299   accept 4.0 %   beta 2.94\n"
            "work         464 sweeps   4.6G attempts/s\n"
            "improved     13358 at 4.0s\n");
}

TEST(Panels, FitNarrowAndLowTerminals) {
  const WatchedRun run = busy();
  const RunView view{"out/g22", run, RunLife::running, 5.0, 1.0, ""};
  for (const std::size_t columns : {19U, 30U, 39U, 59U, 79U}) {
    for (const std::string& line : panel_lines(view, columns, 100, false)) {
      EXPECT_LE(line.size(), columns) << line;
    }
  }
  EXPECT_EQ(panel_lines(view, 79, 3, false).size(), 3U);
}

TEST(Panels, HaveColoursOnlyOnRequest) {
  const WatchedRun run = busy();
  const RunView view{"out/g22", run, RunLife::running, 5.0, 1.0, ""};
  std::string plain, colored;
  for (const std::string& line : panel_lines(view, 79, 100, false)) plain += line;
  for (const std::string& line : panel_lines(view, 79, 100, true)) colored += line;
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(colored.find("\x1b[1mbest"), std::string::npos);
  EXPECT_NE(colored.find("\x1b[33malert"), std::string::npos);
}

TEST(Panels, TellOfSamplersWhatSamplersDo) {
  WatchedRun run;
  take(run, R"({"event":"start","verb":"sample","schedule":"hmc","step":"transition",)"
            R"("replicas":16,"warmup":1000,"variables":10})");
  take(run, R"({"time_s":1,"event":"progress","sweeps":1200,"best":3.5,"mean":40.5,)"
            R"("acceptance_rate":0.09})");
  std::string text;
  for (const std::string& line :
       panel_lines({"out", run, RunLife::running, 1, 0, ""}, 79, 40, false)) {
    text += line + "\n";
  }
  EXPECT_NE(text.find("sampling   mean lp -40.5   moved 90.0 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("best"), std::string::npos) << text;
}

TEST(Panels, TellOfAProcessThatEndedWithoutAResult) {
  const WatchedRun run = busy();
  EXPECT_EQ(end_text({"out/dead", run, RunLife::died, 0.9, 5, "kiln resume out/dead"}),
            "out/dead: the process of the run ended after 0.9s without a result\n"
            "  fix: kiln resume out/dead");
}

TEST(Panels, DocumentsHaveTheStateOfTheRun) {
  const WatchedRun run = busy();
  const EventJson json = watch_json({"out", run, RunLife::died, 5.0, 1.0, "kiln resume out"});
  EXPECT_EQ(json["schema"], "kiln.watch/1");
  EXPECT_EQ(json["state"], "died");
  EXPECT_EQ(json["best"], 13358);
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["alerts"][0]["code"], "memory");
  EXPECT_EQ(json["next"], "kiln resume out");
  EXPECT_TRUE(json["stop"].is_null());
  EXPECT_TRUE(json["time_left_s"].is_null());
}

}  // namespace
}  // namespace kiln::cli::watched_run_test
