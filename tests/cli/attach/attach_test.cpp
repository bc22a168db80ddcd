// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands to a run in progress, as a user types them and as a broken client sends them.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kiln/commands/command.hpp"

#include "program.hpp"

namespace kiln::test::attach_test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class AttachedRun : public ProgramTest {
 protected:
  ~AttachedRun() override {
    if (!run_.joinable()) return;
    attach({"stop"});
    run_.join();
  }

  /// Begins a run that ends by a command, and waits until it listens.
  void begin(const Words& more = {}, const std::string& folder = "out",
             bool killed_by_pause = false) {
    out_ = folder;
    Words words{"solve", "torus:10x10,1", "--replicas", "64", "--device", "cpu", "--threads",
                "1",     "--seed",        "3",          "-o", folder};
    if (more.empty() || more.front() != "loud") words.emplace_back("-q");
    words.insert(words.end(), more.begin() + (words.back() == "-q" ? 0 : 1), more.end());
    if (std::ranges::find(more, "--sweeps") == more.end()) {
      words.insert(words.end(), {"--time-limit", "25s"});
    }
    Call call{.words = words};
    if (killed_by_pause) call.signal = SIGKILL, call.signal_at = "paused";
    run_ = std::thread([this, call] { finished_ = run(call); });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!exists(folder + "/attach.sock") && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(exists(folder + "/attach.sock")) << "the run does not listen";
  }
  Outcome attach(const Words& words) const {
    Words all{"attach", out_};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  void end() {
    const Outcome outcome = attach({"stop"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    run_.join();
    EXPECT_EQ(finished_.exit_code, 0) << finished_.err;
  }
  json result() const { return json::parse(read(out_ + "/result.json")); }
  std::vector<json> log(const std::string& folder) const {
    std::vector<json> all;
    for (const std::string& line : lines_of(read(folder + "/commands.ndjson"))) {
      all.push_back(json::parse(line));
    }
    return all;
  }
  /// Sends bytes and closes; the answer, if it waits for one.
  std::string send(std::string_view bytes, bool waits) const {
    const int folder = ::open((folder_ / out_).c_str(), O_RDONLY | O_DIRECTORY);
    const int one = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string place = "/proc/self/fd/" + std::to_string(folder) + "/attach.sock";
    std::memcpy(address.sun_path, place.c_str(), place.size() + 1);
    EXPECT_EQ(::connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(one, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    std::string answer;
    for (char next = 0; waits && ::recv(one, &next, 1, 0) == 1;) answer += next;
    ::close(one);
    ::close(folder);
    return answer;
  }

  std::thread run_;
  Outcome finished_;
  std::string out_ = "out";
};

std::string bytes_of(const Command& command) {
  std::string bytes(sizeof command, '\0');
  std::memcpy(bytes.data(), &command, sizeof command);
  return bytes;
}

TEST_F(AttachedRun, PausesGoesOnAndStops) {
  begin({"loud"});
  const Outcome paused = attach({"pause"});
  EXPECT_EQ(paused.exit_code, 0) << paused.err;
  EXPECT_TRUE(paused.out.starts_with("pause  applied after tick ")) << paused.out;
  EXPECT_TRUE(paused.out.ends_with(" sweeps of each replica)\n")) << paused.out;
  const std::string at = paused.out.substr(paused.out.find("tick"));
  const Outcome status = attach({"status"});
  EXPECT_EQ(status.out, "paused  after " + at);
  const Outcome watched = run({"watch", "out", "--once"});
  EXPECT_NE(watched.out.find("paused by a command; kiln attach out resume"), std::string::npos)
      << watched.out;
  EXPECT_EQ(json::parse(run({"watch", "out", "--once", "--json"}).out)["paused"], true);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(attach({"status"}).out, "paused  after " + at) << "a paused run does no tick";
  EXPECT_EQ(attach({"resume"}).out, "resume  applied after " + at);
  const json now = json::parse(attach({"status", "--json"}).out);
  EXPECT_EQ(now["command"], "status");
  EXPECT_EQ(now["applied"], true);
  EXPECT_EQ(now["paused"], false);
  EXPECT_GT(now["tick"], 0);
  end();
  const json found = result();
  EXPECT_EQ(found["stop"], "interrupted");
  EXPECT_EQ(found["verified"], true);
  EXPECT_EQ(found["commands"], (json{{"applied", 6}, {"refused", 0}}));
  EXPECT_NE(finished_.err.find("paused; kiln attach out resume lets the run go on"),
            std::string::npos);
  std::vector<std::string> events;
  for (const std::string& line : lines_of(read("out/events.ndjson"))) {
    const std::string event = json::parse(line)["event"];
    if (event == "pause" || event == "continue") events.push_back(event);
  }
  EXPECT_EQ(events, (std::vector<std::string>{"pause", "continue"}));
  EXPECT_EQ(log("out").size(), 3u) << "status is in no log";
  EXPECT_FALSE(exists("out/attach.sock"));
}

TEST_F(AttachedRun, WritesACheckpointFromWhichTheRunCanContinue) {
  begin({"--checkpoint-every", "1h"});
  EXPECT_FALSE(exists("out/checkpoint.kiln"));
  const Outcome outcome = attach({"checkpoint"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(exists("out/checkpoint.kiln"));
  end();
}

TEST_F(AttachedRun, ARepeatObeysTheLogAndHasTheSameAnswer) {
  begin({"--schedule", "parallel-tempering", "-p", "rungs=4"});
  std::string ones;
  for (int i = 0; i < 100; ++i) ones += "1\n";
  write("ones.txt", ones);
  const Outcome set = attach({"temperatures", "4,2,1,0.5"});
  EXPECT_TRUE(set.out.starts_with("temperatures  applied after tick ")) << set.err;
  EXPECT_EQ(first_line(attach({"temperatures", "3,1.5"})),
            "error[commands.temperatures]: parallel-tempering takes one temperature for each of "
            "its 4 rungs, and 2 were given; expected the hottest first");
  EXPECT_EQ(attach({"pause"}).exit_code, 0);
  const Outcome put = attach({"inject", "ones.txt"});
  EXPECT_TRUE(put.out.starts_with("inject  applied after tick ")) << put.err;
  end();
  const json first = result();

  const Outcome again = run({"solve", "--repeat", "out", "-o", "again", "-q"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const json second = json::parse(read("again/result.json"));
  EXPECT_EQ(read("out/solution.txt"), read("again/solution.txt"));
  EXPECT_EQ(first["objective"], second["objective"]);
  EXPECT_EQ(first["work"]["sweeps"], second["work"]["sweeps"]);
  EXPECT_EQ(first["work"]["accepted"], second["work"]["accepted"]);
  EXPECT_EQ(first["series"], second["series"]);
  std::vector<json> decided = log("out");
  std::erase_if(decided, [](const json& one) { return one["kind"] == "pause" || !one["applied"]; });
  EXPECT_EQ(decided.size(), 3u);
  EXPECT_EQ(log("again"), decided);
  const std::string notes = json::parse(read("again/run.json"))["notes"].dump();
  EXPECT_NE(notes.find("the recorded run was told 3 commands, which this run repeats"),
            std::string::npos)
      << notes;
}

// What was answered is kept. The log ends where the checkpoint does, as the others of the folder.
TEST_F(AttachedRun, ARunThatWasKilledHasTheCommandsThatItAnswered) {
  begin({"loud", "--schedule", "parallel-tempering", "-p", "rungs=4", "--sweeps", "120000"}, "out",
        true);
  EXPECT_EQ(attach({"temperatures", "4,2,1,0.5"}).exit_code, 0);
  EXPECT_EQ(attach({"temperatures", "8,4,2,1"}).exit_code, 0);
  attach({"pause"});
  run_.join();
  ASSERT_EQ(finished_.exit_code, 128 + SIGKILL) << finished_.err;
  EXPECT_GE(log("out").size(), 2u);
  const Outcome resumed = run({"resume", "out", "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const std::vector<json> kept = log("out");
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept.front()["temperatures"], (json{4.0, 2.0, 1.0, 0.5}));
  EXPECT_EQ(kept.back()["temperatures"], (json{8.0, 4.0, 2.0, 1.0}));

  const Outcome again = run({"solve", "--repeat", "out", "-o", "again", "-q"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const json first = result(), second = json::parse(read("again/result.json"));
  EXPECT_EQ(read("out/solution.txt"), read("again/solution.txt"));
  EXPECT_EQ(first["work"]["accepted"], second["work"]["accepted"]);
  EXPECT_EQ(first["series"], second["series"]);
  EXPECT_EQ(json::parse(lines_of(read("again/repeated_commands.ndjson")).front()), kept.front());
}

// A run that was stopped and continued ends at its limit, and so does its repeat.
TEST_F(AttachedRun, ARepeatDoesNotStopWhereARunWentOn) {
  begin({"--schedule", "parallel-tempering", "-p", "rungs=4", "--sweeps", "120000"});
  EXPECT_EQ(attach({"temperatures", "4,2,1,0.5"}).exit_code, 0);
  end();
  EXPECT_EQ(result()["stop"], "interrupted");
  EXPECT_EQ(run({"resume", "out", "-q"}).exit_code, 0);
  const json first = result();
  EXPECT_EQ(first["work"]["sweeps"], 120000);
  const Outcome again = run({"solve", "--repeat", "out", "-o", "again", "-q"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const json second = json::parse(read("again/result.json"));
  EXPECT_EQ(second["work"]["sweeps"], 120000);
  EXPECT_EQ(first["work"]["accepted"], second["work"]["accepted"]);
  EXPECT_EQ(read("out/solution.txt"), read("again/solution.txt"));

  // The commands were meant for the problem of the run.
  const Outcome other =
      run({"solve", "torus:12x12,1", "--repeat", "out", "--sweeps", "10", "-o", "other"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  const std::string notes = json::parse(read("other/run.json"))["notes"].dump();
  EXPECT_NE(notes.find("which this run does not repeat"), std::string::npos) << notes;
}

TEST_F(AttachedRun, SaysWhyItRefuses) {
  begin();
  const auto refusal = [&](const Words& words) {
    const Outcome outcome = attach(words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return first_line(outcome);
  };
  EXPECT_EQ(refusal({"resume"}),
            "error[commands.not_paused]: the run is not paused, so it goes on anyway");
  EXPECT_EQ(refusal({"temperatures", "1,2"}).find("error[commands.temperatures]: schedule "), 0u);
  write("short.txt", "1 1 1\n");
  EXPECT_NE(attach({"inject", "short.txt"}).err.find("3 values for 100 variables"),
            std::string::npos);
  write("words.txt", "one two\n");
  EXPECT_NE(attach({"inject", "words.txt"}).err.find("'one' is not a number"), std::string::npos);
  EXPECT_EQ(attach({"inject", "nowhere.txt"}).exit_code, 3);
  EXPECT_EQ(refusal({"paus"}),
            "error[attach.command]: unknown command 'paus'; the nearest is 'pause'");
  EXPECT_EQ(refusal({"pause", "now"}), "error[attach.command]: pause takes nothing behind it");
  EXPECT_EQ(refusal({"inject"}), "error[attach.command]: inject needs a file");
  EXPECT_EQ(refusal({"temperatures"}), "error[attach.command]: temperatures needs temperatures");
  EXPECT_EQ(refusal({"temperatures", "1,x"}).find("error["), 0u);
  EXPECT_EQ(refusal({}), "error[cli.missing]: kiln attach needs a run and a command");
  EXPECT_EQ(attach({"status"}).exit_code, 0) << "a refusal ends no run";
  end();
}

TEST_F(AttachedRun, ClientsThatBreakOffChangeNothing) {
  begin();
  const std::string whole = bytes_of(sealed({.kind = CommandKind::pause}));
  send(whole.substr(0, 20), false);
  send("", false);
  Command long_one;
  long_one.kind = CommandKind::inject;
  long_one.payload = 1000;
  send(bytes_of(sealed(long_one)) + "1 1 1", false);
  long_one.payload = std::uint64_t{1} << 40;
  EXPECT_NE(send(bytes_of(sealed(long_one)), true).find("attach.size"), std::string::npos);
  Command damaged = sealed({.kind = CommandKind::stop});
  damaged.checksum ^= 1;
  EXPECT_NE(send(bytes_of(damaged), true).find("its checksum is wrong"), std::string::npos);
  const Command newer = sealed({.version = 2, .kind = CommandKind::stop});
  EXPECT_NE(send(bytes_of(newer), true).find("it has version 2; this run reads version 1"),
            std::string::npos);
  EXPECT_EQ(attach({"status"}).out.substr(0, 7), "running");
  send(whole, false);  // whole: the run obeys, whether anybody hears of it or not
  while (attach({"status"}).out.substr(0, 6) != "paused") {
  }
  end();
  EXPECT_EQ(result()["commands"]["refused"], 2);
}

TEST_F(AttachedRun, ServesSeveralAtOnce) {
  begin();
  const std::string half = bytes_of(sealed({.kind = CommandKind::pause})).substr(0, 30);
  std::vector<std::thread> clients;
  std::vector<Outcome> outcomes(6);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    clients.emplace_back([&, i] { outcomes[i] = attach({i % 2 == 0 ? "status" : "checkpoint"}); });
  }
  send(half, false);
  for (std::thread& one : clients) one.join();
  for (const Outcome& one : outcomes) EXPECT_EQ(one.exit_code, 0) << one.err;
  end();
}

TEST_F(AttachedRun, ItsSocketIsOfTheUserAloneAndItsPathMayBeLong) {
  const std::string folder = std::string(100, 'a') + "/" + std::string(100, 'b') + "/out";
  begin({}, folder);
  struct stat found {};
  ASSERT_EQ(::stat((folder_ / folder / "attach.sock").c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  EXPECT_EQ(attach({"status"}).exit_code, 0);
  end();
}

TEST_F(AttachedRun, ARunThatHasEndedObeysNobody) {
  begin({}, "out/g22");
  end();
  const Outcome ended = attach({"pause"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err,
            "error[attach.finished]: out/g22: the run has ended (interrupted)\n"
            "  fix: kiln resume out/g22 continues it\n");
  EXPECT_EQ(run({"attach", "nowhere", "pause"}).exit_code, 2);
  EXPECT_EQ(first_line(run({"attach", "nowhere", "pause"})).find("error[attach.no_run]: "), 0u);
}

TEST_F(AttachedRun, ARunWhoseProcessIsGoneIsNamedSo) {
  const Outcome killed = run(Call{.words = {"solve", "torus:10x10,1", "--time-limit", "25s", "-o",
                                            "dead", "--device", "cpu", "--threads", "1"},
                                  .signal = SIGKILL,
                                  .signal_at = "time"});
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL) << killed.err;
  const Outcome outcome = run({"attach", "dead", "pause"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "error[attach.gone]: dead: the process of the run is gone\n"
            "  fix: kiln resume dead continues it from its last checkpoint\n");
}

}  // namespace
}  // namespace kiln::test::attach_test
