// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Ask and tell from a shell: the points of a search in one process, each given to one worker,
// whatever is killed.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/problems/outside.hpp"

#include "program.hpp"

namespace kiln::study_test {
namespace {

using nlohmann::json;
using test::Call;
using test::lines_of;
using test::Outcome;
using Words = std::vector<std::string>;

namespace fs = std::filesystem;

class Study : public test::ProgramTest {
 protected:
  static Words variables() {
    return {"--var", "lr=real:1e-5:1e-1:log",    "--var", "depth=int:1:12",
            "--var", "opt=cat:adam,sgd momentum"};
  }
  void make(const Words& more = {}) const {
    Words words{"ask", "--new", "lab", "--device", "cpu"};
    for (const Words& part : {variables(), more})
      words.insert(words.end(), part.begin(), part.end());
    const Outcome outcome = run(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  std::string ask(const Words& more = {}) const {
    Words words{"ask", "lab"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  Outcome tell(const Words& more) const {
    Words words{"tell", "lab"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  void told(std::int64_t id, double value) const {
    const Outcome outcome = tell({std::to_string(id), fmt::format("{}", value)});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  json status() const { return json::parse(ask({"--status", "--json"})); }
};

double value_of(std::int64_t id) { return static_cast<double>((id * 7919) % 101) / 50 - 1; }

/// The same study in this process.
class InProcess {
 public:
  explicit InProcess(Sense sense)
      : problem_(
            problems::make_outside_problem({problems::parse_variable("lr=real:1e-5:1e-1:log"),
                                            problems::parse_variable("depth=int:1:12"),
                                            problems::parse_variable("opt=cat:adam,sgd momentum")},
                                           0, sense)),
        search_({.space = problem_.objective->space(), .coordinates = problem_.coordinates}, {}, 5,
                "cpu"),
        sign_(sense == Sense::maximize ? -1 : 1) {}

  /// As --values prints them.
  std::string ask(std::int64_t count) {
    std::string text;
    for (const Suggestion& one : search_.ask(count)) {
      text += std::to_string(one.id);
      for (const auto& [name, value] : problem_.solution.named_values(spans_of(one.state))) {
        text += "\t" + value;
      }
      text += "\n";
    }
    return text;
  }
  void tell(std::int64_t id, double value) { search_.tell(id, sign_ * value); }

 private:
  Problem problem_;
  BayesianOptimizer search_;
  double sign_;
};

// The state is written and read between every two calls, and once it is lost.
TEST_F(Study, PointsAreThoseOfASearchInOneProcess) {
  for (const Sense sense : {Sense::minimize, Sense::maximize}) {
    fs::remove_all(folder_ / "lab");
    make({"--seed", "5", "--sense", sense == Sense::maximize ? "maximize" : "minimize"});
    InProcess other(sense);
    const auto both_ask = [&](std::int64_t count) {
      EXPECT_EQ(ask({"--values", "-n", std::to_string(count)}), other.ask(count));
    };
    const auto both_tell = [&](std::int64_t id) {
      told(id, value_of(id));
      other.tell(id, value_of(id));
    };
    both_ask(3);
    both_ask(4);
    for (const int id : {3, 1, 7, 2}) both_tell(id);
    ASSERT_EQ(tell({"5", "--failed"}).exit_code, 0);
    other.tell(5, std::numeric_limits<double>::quiet_NaN());
    for (int id = 8; id < 14; ++id) {  // with 4 and 6 pending all the time
      both_ask(1);
      if (id == 10) fs::remove(folder_ / "lab" / "search.state");
      both_tell(id);
    }
    both_ask(3);
  }
}

TEST_F(Study, OfManyWhoAskEachGetsOtherPoints) {
  make();
  ask({"--publish", "-n", "13"});
  constexpr int workers = 8, each = 5;
  std::vector<std::vector<std::string>> got(workers);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : got) {
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) mine.push_back(ask({"--values"}));
      });
    }
  }
  std::set<int> ids;
  for (const auto& mine : got) {
    for (const std::string& line : mine) ids.insert(std::stoi(line));
  }
  EXPECT_EQ(ids.size(), std::size_t{workers * each});
  EXPECT_EQ(*ids.rbegin(), workers * each) << "published points are given first";
  EXPECT_EQ(status()["pending"].size(), std::size_t{workers * each});
}

TEST_F(Study, WorkersClaimPublishedPointsByRenaming) {
  make();
  ask({"--publish", "-n", "2"});
  fs::rename(folder_ / "lab/waiting/1.json", folder_ / "lab/claimed/1.json");
  EXPECT_EQ(json::parse(read("lab/claimed/1.json"))["point"].size(), 3u);
  EXPECT_TRUE(ask().starts_with("2 lr="));
  told(1, 0.5);
  EXPECT_FALSE(exists("lab/claimed/1.json"));
  ASSERT_EQ(tell({"2", "--release"}).exit_code, 0);
  EXPECT_TRUE(ask().starts_with("2 lr=")) << "a point that was released is given again";
  EXPECT_TRUE(ask().starts_with("3 lr="));
}

TEST_F(Study, ValuesNeverChange) {
  make();
  ask({"-n", "3"});
  told(2, -0.5);
  const std::string journal = read("lab/journal");
  EXPECT_EQ(tell({"2", "-0.5"}).exit_code, 0) << "as it was told";
  EXPECT_EQ(read("lab/journal"), journal);
  for (const Words& words :
       {Words{"2", "0.5"}, Words{"2", "--failed"}, Words{"4", "1"}, Words{"1", "0.5", "2"},
        Words{"1", "five"}, Words{"1"}, Words{"1.5", "2"}, Words{"1", "2", "--failed"},
        Words{"2", "--release"}}) {
    const Outcome outcome = tell(words);
    EXPECT_EQ(outcome.exit_code, 2) << words.front();
    EXPECT_TRUE(outcome.err.starts_with("error[")) << outcome.err;
  }
  Call lines{{"tell", "lab", "-"}};
  lines.input = "1 0.25\n3 0.75\n2 9\n";
  EXPECT_EQ(run(lines).exit_code, 2);
  EXPECT_EQ(read("lab/journal"), journal) << "all or none";
  lines.input = "# lab book\n\n3 0.75\n1 failed\n2 -0.5\n";
  EXPECT_EQ(run(lines).exit_code, 0);
  const json now = status();
  EXPECT_EQ(now["evaluations"], 3);
  EXPECT_EQ(now["failed"], 1);
  EXPECT_EQ(now["best"]["id"], 2);
}

TEST_F(Study, ConstraintsDecideWhatIsBest) {
  make({"--constraints", "1", "--maximize"});
  ask({"-n", "3"});
  ASSERT_EQ(tell({"1", "5", "0.1"}).exit_code, 0);
  ASSERT_EQ(tell({"2", "3", "-0.1"}).exit_code, 0);
  ASSERT_EQ(tell({"3", "2", "-1"}).exit_code, 0);
  EXPECT_EQ(status()["best"]["id"], 2);
}

TEST_F(Study, OnlyNumbersGoIntoTheJournal) {
  make({"--constraints", "1"});
  ask({"-n", "2"});
  for (const char* bad : {"nan", "inf", "-inf", "1e151"}) {
    const Outcome outcome = tell({"1", "0.5", bad});
    EXPECT_EQ(outcome.exit_code, 2) << bad;
    EXPECT_NE(outcome.err.find("study.value"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(tell({"1", "1e200", "0"}).exit_code, 2);
  EXPECT_EQ(tell({"1", "0.5", "-1"}).exit_code, 0);
  EXPECT_EQ(tell({"2", "nan", "nan"}).exit_code, 0);  // a failed point
  ask();
}

TEST_F(Study, AJournalThatLostLinesIsRefused) {
  make();
  ask({"-n", "3"});
  std::filesystem::remove(folder_ / "lab" / "journal");
  const Outcome outcome = run({"ask", "lab"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("error[study.journal]"), std::string::npos) << outcome.err;
}

TEST_F(Study, EndsWithNine) {
  make({"--evaluations", "3"});
  EXPECT_EQ(lines_of(ask({"-n", "8"})).size(), 3u);
  const Outcome outcome = run(Words{"ask", "lab"});
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_NE(outcome.err.find("error[study.complete]"), std::string::npos) << outcome.err;
  ASSERT_EQ(tell({"2", "--release"}).exit_code, 0);
  EXPECT_TRUE(ask().starts_with("2 "));
  ASSERT_EQ(run(Words{"ask", "--new", "few", "--device", "cpu", "--var", "x=int:1:2"}).exit_code,
            0);
  EXPECT_EQ(run(Words{"ask", "few", "-n", "2"}).exit_code, 0);
  EXPECT_EQ(run(Words{"ask", "few"}).exit_code, 9);
}

TEST_F(Study, APointThatCannotBePrintedWaits) {
  make();
  Call call{{"ask", "lab"}};
  call.output_file = "/dev/full";
  EXPECT_EQ(run(call).exit_code, 6);
  EXPECT_TRUE(exists("lab/waiting/1.json"));
  Call closed{{"ask", "lab"}};
  closed.closed_output = true;
  EXPECT_EQ(run(closed).exit_code, 141);
  EXPECT_TRUE(ask().starts_with("1 "));
}

TEST_F(Study, TornLinesNeverHappenedAndChangedOnesAreRefused) {
  make();
  ask({"-n", "2"});
  told(1, 0.5);
  const std::string journal = read("lab/journal");
  write("lab/journal", journal + "0123456789abcdef {\"tell\":2,\"val");
  EXPECT_EQ(status()["evaluations"], 1);
  told(2, 0.25);
  EXPECT_TRUE(read("lab/journal").starts_with(journal));
  EXPECT_EQ(lines_of(read("lab/journal")).size(), 3u);
  EXPECT_EQ(status()["evaluations"], 2);

  std::string changed = read("lab/journal");
  changed.replace(changed.find("0.5"), 3, "0.1");
  const std::vector<std::string> lines = lines_of(journal);
  for (const std::string& text : {changed, lines[1] + "\n", "\n" + journal, journal + "x\n"}) {
    write("lab/journal", text);
    const Outcome outcome = run(Words{"ask", "lab"});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_NE(outcome.err.find("lab/journal:"), std::string::npos) << outcome.err;
  }
}

TEST_F(Study, IsMadeOnceAndNeverChanges) {
  make();
  EXPECT_EQ(run(Words{"ask", "--new", "lab", "--var", "x=real:0:1"}).exit_code, 6);
  EXPECT_EQ(run(Words{"ask", "lab", "--seed", "3"}).exit_code, 2);
  EXPECT_EQ(run(Words{"ask", "none"}).exit_code, 3);
  EXPECT_EQ(run(Words{"tell", "none", "1", "2"}).exit_code, 3);
  EXPECT_EQ(run(Words{"ask", "--new", "b", "--var", "x=real:1:0"}).exit_code, 2);
  EXPECT_EQ(run(Words{"ask", "--new", "b"}).exit_code, 2);
  EXPECT_EQ(run(Words{"ask", "--new", "b", "--var", "x=real:0:1", "-p", "studies=2"}).exit_code, 2);
  EXPECT_EQ(run(Words{"ask", "--new", "b", "--var", "x=real:0:1", "-p", "bach=2"}).exit_code, 2);
  EXPECT_FALSE(exists("b"));
}

/// Kills a process that asks or tells after a random time, again and again.
class KilledStudy : public Study {
 protected:
  /// Runs the program with its output in a file, and kills it after that time.
  /// @return whether it ended by itself, with success
  bool killed_after(Words words, const std::string& out, std::chrono::microseconds time) const {
    words.insert(words.begin(), "kiln");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const int file = ::open((folder_ / out).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      ::dup2(file, STDOUT_FILENO);
      test::become_program(folder_, arguments.data(), environ);
    }
    std::this_thread::sleep_for(time);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};

TEST_F(KilledStudy, NothingIsLostAndNothingIsGivenTwice) {
  make({"--seed", "5"});
  std::mt19937 random(1);
  std::set<int> given;
  std::vector<int> open, known;
  int killed = 0;
  double longest = 40000;  // microseconds: about half of all processes are to end by themselves
  for (int i = 0; i < 100; ++i) {
    const auto share = std::uniform_real_distribution<double>(0, 1)(random);
    const std::chrono::microseconds time(static_cast<std::int64_t>(longest * share));
    const auto note = [&](bool done) {
      killed += done ? 0 : 1;
      longest *= done ? 0.9 : 1.1;
    };
    if (i % 3 == 2 && !open.empty()) {
      const int id = open.back();
      const bool done = killed_after(
          {"tell", "lab", std::to_string(id), fmt::format("{}", value_of(id))}, "out", time);
      // Who does not know whether it was told tells it again.
      if (!done) told(id, value_of(id));
      note(done);
      open.pop_back();
      known.push_back(id);
      continue;
    }
    write("out", "");
    note(killed_after({"ask", "lab", "--values"}, "out", time));
    const std::string line = read("out");
    if (!line.ends_with('\n')) continue;
    EXPECT_TRUE(given.insert(std::stoi(line)).second) << "given twice: " << line;
    open.push_back(std::stoi(line));
  }
  EXPECT_GT(killed, 20) << "the times are too long for this machine";
  EXPECT_GT(given.size(), 15u) << "the times are too short for this machine";
  ASSERT_FALSE(known.empty());
  // What was told is there, and no point is lost: who asks until there is none that waits gets all
  // that nobody has.
  const json now = status();
  EXPECT_EQ(now["evaluations"], known.size());
  std::set<int> all;
  for (const json& one : now["pending"]) all.insert(one["id"].get<int>());
  for (const int id : open) EXPECT_TRUE(all.contains(id)) << id;
  const int points = static_cast<int>(all.size() + known.size());
  EXPECT_TRUE(all.empty() || *all.rbegin() <= points) << "ids have no gaps";

  // The journal is that of a search that nobody killed.
  fs::copy(folder_ / "lab", folder_ / "copy", fs::copy_options::recursive);
  fs::remove(folder_ / "copy" / "search.state");
  const std::string next = ask({"--values", "-n", "8"});
  const Outcome again = run(Words{"ask", "copy", "--values", "-n", "8"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, next) << "with and without search.state";
}

}  // namespace
}  // namespace kiln::study_test
