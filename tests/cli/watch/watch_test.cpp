// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// kiln watch on folders of runs: finished, in progress, dead, damaged, hostile and gone.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "terminal_program.hpp"

namespace kiln::test::watch_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::chrono_literals;

/// Folders of runs that the test writes, as a run does: with a lock on them while they are running.
class Watch : public Terminal {
 protected:
  ~Watch() override { end_process(); }

  void begin_run(const std::string& problem = "gset:G22") {
    fs::create_directory(folder_ / "out");
    lock_ = ::open((folder_ / "out").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(lock_, LOCK_EX | LOCK_NB), 0);
    add(json{{"time_s", 0.0},
             {"event", "start"},
             {"problem", problem},
             {"schedule", "simulated-annealing"},
             {"device", "cpu"},
             {"objective", "cut"},
             {"sense", "maximize"},
             {"seed", 1},
             {"step", "sweep"},
             {"limits", {{"time_s", 10.0}}}}
            .dump() +
        "\n");
  }
  void add(const std::string& text) const {
    std::ofstream(folder_ / "out/events.ndjson", std::ios::app) << text;
  }
  void improve(double time_s, int best) const {
    add(json{{"time_s", time_s}, {"event", "improvement"}, {"best", best}, {"sweeps", 10}}.dump() +
        "\n");
  }
  void stop() const {
    add(R"({"time_s":9.0,"event":"stop","stop":"time_limit","best":15,"sweeps":90,)"
        R"("verified":true,"line":"done   time limit after 9.0 s   cut 15"})"
        "\n");
  }
  void end_process() {
    if (lock_ >= 0) ::close(lock_);
    lock_ = -1;
  }
  /// Does something while the program watches.
  std::future<void> later(std::chrono::milliseconds after, std::function<void()> action) const {
    return std::async(std::launch::async, [=] {
      std::this_thread::sleep_for(after);
      action();
    });
  }

  int lock_ = -1;
};

TEST_F(Watch, AFinishedRunIsALinePerEventAndItsLastLine) {
  const Outcome solved = run(short_run({"-o", "out"}));
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  const Outcome outcome = run({"watch", "out"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_EQ(static_cast<std::int64_t>(lines.size()), count_lines(read("out/events.ndjson")) + 1);
  EXPECT_NE(lines.front().find("start"), std::string::npos);
  EXPECT_EQ(lines.back(), lines_of(solved.out).front());
  EXPECT_TRUE(lines.back().starts_with("done   sweep limit after ")) << lines.back();
}

// The group of the test's terminal has no shell, so that the program goes on at once.
TEST_F(Watch, GivesTheFirstScreenBackWhileItIsStopped) {
  begin_run();
  improve(1.0, 12);
  auto ending = later(1500ms, [&] {
    stop();
    end_process();
  });
  const Outcome outcome = run_on_screen({"watch", "out"}, columns, SIGTSTP, "\x1b[?1049h");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const auto places_of = [&](const std::string& text) {
    std::vector<std::size_t> places;
    for (std::size_t at = outcome.out.find(text); at != std::string::npos;
         at = outcome.out.find(text, at + 1)) {
      places.push_back(at);
    }
    return places;
  };
  const std::vector<std::size_t> open = places_of("\x1b[?1049h"), close = places_of("\x1b[?1049l");
  ASSERT_EQ(open.size(), 2u) << "opened, and opened again";
  ASSERT_EQ(close.size(), 2u);
  EXPECT_LT(close[0], open[1]);
  EXPECT_GT(outcome.out.find("\x1b[H", open[1]), open[1]);
  EXPECT_LT(outcome.out.find("\x1b[H", open[1]), close[1]) << "a frame after it";
}

TEST_F(Watch, AFinishedRunIsOneDocument) {
  const json result = result_of(run(short_run({"-o", "out", "--json"})));
  const Outcome outcome = run({"watch", "out", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count_lines(outcome.out), 1);
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "kiln.watch/1");
  EXPECT_EQ(document["state"], "finished");
  EXPECT_EQ(document["best"], result["objective"]["best"]);
  EXPECT_EQ(document["sweeps"], result["work"]["sweeps"]);
  EXPECT_EQ(document["stop"]["reason"], result["stop"]);
  EXPECT_EQ(document["stop"]["verified"], true);
}

TEST_F(Watch, ARealRunIsFollowedToItsEnd) {
  auto solving = std::async(std::launch::async, [&] {
    return run(solve("gset:G1", {"--time-limit", "2.5", "-o", "out", "-q"}));
  });
  while (!exists("out/events.ndjson")) std::this_thread::sleep_for(10ms);
  const Outcome outcome = run({"watch", "out"});
  const Outcome solved = solving.get();
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).back(), lines_of(solved.out).front());
}

TEST_F(Watch, EventsAreShownAsTheyComeAndHalfLinesWhenTheyAreWhole) {
  begin_run();
  add(R"({"time_s":1,"event":"improve)");
  const auto end = later(600ms, [&] {
    add(R"(ment","best":11,"sweeps":3})"
        "\n");
    std::this_thread::sleep_for(600ms);
    improve(2, 12);
    stop();
  });
  const Outcome outcome = run({"watch", "out", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  std::vector<std::string> events;
  for (const std::string& line : lines_of(outcome.out))
    events.push_back(json::parse(line)["event"]);
  EXPECT_EQ(events, (std::vector<std::string>{"start", "improvement", "improvement", "stop"}));
}

TEST_F(Watch, TwoWatchersSeeTheSame) {
  begin_run();
  const auto end = later(700ms, [&] {
    improve(1, 11);
    stop();
  });
  auto other = std::async(std::launch::async, [&] { return run({"watch", "out"}); });
  const Outcome one = run({"watch", "out"}), two = other.get();
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(two.exit_code, 0);
  EXPECT_EQ(one.out, two.out);
}

TEST_F(Watch, ATruncatedFileBeginsAnew) {
  begin_run();
  improve(5, 14);
  const auto end = later(700ms, [&] {
    const std::string first = lines_of(read("out/events.ndjson")).front();
    std::ofstream(folder_ / "out/events.ndjson", std::ios::trunc) << first << "\n";
    std::this_thread::sleep_for(600ms);
    improve(1, 11);
    std::this_thread::sleep_for(600ms);
    stop();
  });
  const Outcome outcome = run({"watch", "out"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("best 14"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("best 11"), std::string::npos) << outcome.out;
}

TEST_F(Watch, ARunWhoseProcessWasKilledIsToldAsSuch) {
  Call call{solve("gset:G1", {"--time-limit", "60", "-o", "out"})};
  call.signal = SIGKILL;
  call.signal_at = "*";
  ASSERT_EQ(run(call).exit_code, 128 + SIGKILL);
  const Outcome outcome = run({"watch", "out"});
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_TRUE(
      outcome.err.starts_with("error[watch.died]: out: the process of the run ended after "))
      << outcome.err;
  EXPECT_NE(outcome.err.find(" without a result\n  fix: kiln resume out\n"), std::string::npos)
      << outcome.err;
  const Outcome document = run({"watch", "out", "--json"});
  EXPECT_EQ(document.exit_code, 9);
  EXPECT_EQ(json::parse(document.out)["state"], "died");
  EXPECT_EQ(json::parse(document.out)["next"], "kiln resume out");
  // What the fix says is true, and the run that continues is followed as any other.
  EXPECT_EQ(run({"resume", "out", "--time-limit", "0.5", "-q"}).exit_code, 0);
  EXPECT_EQ(run({"watch", "out"}).exit_code, 0);
}

TEST_F(Watch, AProcessThatDiesWhileItIsWatchedIsMissedWithinSeconds) {
  begin_run();
  const auto end = later(500ms, [&] { end_process(); });
  const Outcome outcome = run({"watch", "out"});
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_NE(outcome.err.find("error[watch.died]"), std::string::npos) << outcome.err;
}

// The lock of a process on another machine cannot be seen: nothing is said about its death.
TEST_F(Watch, ARunOnAnotherHostIsNotCalledDead) {
  fs::create_directory(folder_ / "out");
  add(R"({"time_s":0,"event":"start","problem":"p","host":"another host"})"
      "\n");
  const Outcome outcome = run({"watch", "out", "--once", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["state"], "running");
  fs::last_write_time(folder_ / "out/events.ndjson", fs::file_time_type::clock::now() - 1h);
  const Outcome silent = run({"watch", "out", "--once"});
  EXPECT_EQ(silent.exit_code, 0);
  EXPECT_NE(silent.out.find("the files have not changed for"), std::string::npos) << silent.out;
  EXPECT_NE(silent.out.find("host another host"), std::string::npos) << silent.out;
}

TEST_F(Watch, ARunThatReadsItsProblemIsWaitedFor) {
  fs::create_directory(folder_ / "out");
  lock_ = ::open((folder_ / "out").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock_, LOCK_EX | LOCK_NB), 0);
  const Outcome once = run({"watch", "out", "--once"});
  EXPECT_EQ(once.out, "kiln watch   out   setting_up\nstate        the run reads its problem\n");
  const auto end = later(600ms, [&] {
    add(R"({"time_s":0,"event":"start","problem":"p"})"
        "\n");
    stop();
  });
  EXPECT_EQ(run({"watch", "out"}).exit_code, 0);
}

TEST_F(Watch, WhatIsNoRunIsAUsageError) {
  write("file", "");
  fs::create_directory(folder_ / "empty");
  EXPECT_EQ(run({"watch", "out/g22"}).err,
            "error[watch.no_run]: out/g22 is not a run folder\n"
            "  a folder that kiln solve -o or kiln sample -o has made\n"
            "  fix: kiln solve PROBLEM -o DIR, and then kiln watch DIR\n");
  for (const char* name : {"nothing", "file", "empty", "-"}) {
    const Outcome outcome = run({"watch", name});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_EQ(first_line(outcome),
              "error[watch.no_run]: " + std::string(name) + " is not a run folder");
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(run({"watch"}).exit_code, 2);
  EXPECT_EQ(run({"watch", "a", "b"}).exit_code, 2);
}

TEST_F(Watch, AFolderWithoutEventsIsAnInputError) {
  fs::create_directory(folder_ / "out");
  write("out/run.json", "{}");
  const Outcome outcome = run({"watch", "out"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(first_line(outcome),
            "error[watch.no_events]: out has no events.ndjson, and no run writes to it");
}

TEST_F(Watch, AFolderThatVanishesEndsIt) {
  begin_run();
  const auto end = later(700ms, [&] { fs::remove_all(folder_ / "out"); });
  const Outcome outcome = run({"watch", "out"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(first_line(outcome),
            "error[watch.vanished]: out: the run folder was removed or renamed");
}

// Everything that files say: names, messages, codes, event names, and lines that are none.
TEST_F(Watch, NothingInTheFilesReachesTheTerminalAsAControl) {
  begin_run("evil\x1b[2J\x07\xe2\x80\xae name");
  add(R"({"time_s":1,"event":"al\u001bert","code":"c\u001b[31m","message":"m\u001b]0;x\u0007"})"
      "\n\x1b[2J no event\n{\"event\":\"x\xff\"}\n");
  add(R"({"time_s":1,"event":"alert","code":"memory\u001b[0m","message":"m\u009b","fix":"f\r\n"})"
      "\n");
  stop();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"watch", "out"},
                                                {"watch", "out", "--once"},
                                                {"watch", "out", "--json"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0);
    for (const char c : outcome.out + outcome.err) {
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
    }
    EXPECT_EQ(outcome.out.find("\xe2\x80\xae"), std::string::npos);
  }
  EXPECT_NE(run({"watch", "out", "--once"}).out.find("2 lines of events.ndjson cannot be read"),
            std::string::npos);
}

TEST_F(Watch, AnInterruptEndsTheViewAndNotTheRun) {
  begin_run();
  Call call{{"watch", "out"}};
  call.signal = SIGINT;
  call.signal_at = "start";
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(outcome.err, "");
  call.signal = SIGTERM;
  EXPECT_EQ(run(call).exit_code, 143);
}

TEST_F(Watch, OutputsThatFail) {
  begin_run();
  Call full{{"watch", "out"}};
  full.output_file = "/dev/full";
  EXPECT_EQ(run(full).exit_code, 6);
  Call closed{{"watch", "out"}};
  closed.closed_output = true;
  EXPECT_EQ(run(closed).exit_code, 141);
}

/// The frames of a screen, each as its lines.
std::vector<std::vector<std::string>> frames_of(const std::string& text) {
  std::vector<std::vector<std::string>> frames;
  constexpr std::string_view home = "\x1b[H", end = "\x1b[J";
  for (std::size_t at = text.find(home); at != std::string::npos; at = text.find(home, at)) {
    at += home.size();
    std::string frame = text.substr(at, text.find(end, at) - at);
    std::vector<std::string> lines{""};
    for (std::size_t i = 0; i < frame.size(); ++i) {
      if (frame[i] == '\x1b') {
        i = frame.find_first_of("mK", i);
      } else if (frame[i] == '\n') {
        lines.emplace_back();
      } else if (frame[i] != '\r') {
        lines.back() += frame[i];
      }
    }
    frames.push_back(lines);
  }
  return frames;
}

TEST_F(Watch, ATerminalHasAPanelThatFitsAndLeavesNothingBehind) {
  for (const std::size_t width : {std::size_t{80}, std::size_t{40}}) {
    fs::remove_all(folder_ / "out");
    begin_run();
    improve(1, 11);
    const auto end = later(1400ms, [&] { stop(); });
    const Outcome outcome = run_on_screen({"watch", "out"}, width);
    end_process();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    const auto frames = frames_of(outcome.out);
    ASSERT_GE(frames.size(), 2U);
    EXPECT_LE(frames.size(), 6U) << "two a second";
    for (const std::vector<std::string>& frame : frames) {
      EXPECT_LE(frame.size(), 24U);
      for (const std::string& line : frame) EXPECT_LT(line.size(), width) << line;
      EXPECT_EQ(frame.back(), "Ctrl-C ends this view, not the run");
    }
    const std::string& text = outcome.out;
    const std::size_t opened = text.find("\x1b[?1049h"), closed = text.find("\x1b[?1049l");
    EXPECT_EQ(opened, 0U);
    ASSERT_NE(closed, std::string::npos);
    // The last state and the last line stay on the first screen.
    const std::string rest = text.substr(closed);
    EXPECT_NE(rest.find("kiln watch   out   finished"), std::string::npos) << rest;
    EXPECT_NE(rest.find("done   time limit after 9.0 s   cut 15\n"), std::string::npos) << rest;
    EXPECT_EQ(rest.find("Ctrl-C"), std::string::npos) << rest;
  }
}

TEST_F(Watch, WithoutColoursOrCursorTheTerminalIsRespected) {
  begin_run();
  improve(1, 11);
  stop();
  EXPECT_NE(run_on_screen({"watch", "out"}).out.find("\x1b[1m"), std::string::npos);
  ::setenv("NO_COLOR", "1", 1);
  const Outcome plain = run_on_screen({"watch", "out"});
  ::unsetenv("NO_COLOR");
  EXPECT_EQ(plain.out.find('\x1b'), std::string::npos) << plain.out;
}

}  // namespace
}  // namespace kiln::test::watch_test
