// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Signals to verbs that are not a run under way: what they leave on a screen, and say.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::interruption_test {
namespace {

using nlohmann::json;

/// The program on a terminal, while it runs.
class Screen {
 public:
  Screen(const std::filesystem::path& folder, std::vector<std::string> words) {
    words.insert(words.begin(), "kiln");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    termios mode = {};
    ::cfmakeraw(&mode);
    const winsize size{24, 80, 0, 0};
    child_ = ::forkpty(&screen_, nullptr, &mode, &size);
    if (child_ != 0) return;
    ::setenv("TERM", "xterm", 1);
    become_program(folder, pointers.data(), environ);
  }
  ~Screen() {
    if (child_ > 0) end();
    ::close(screen_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Whether the text appears before the program ends, or gives no sign for a minute.
  bool shows(const std::string& wanted) {
    while (text_.find(wanted) == std::string::npos) {
      if (!read_some()) return false;
    }
    return true;
  }
  void send(int signal) const { ::kill(child_, signal); }
  /// Reads to the end and gives the exit code, 1000 + N if signal N ended it.
  int end() {
    while (read_some()) {
    }
    ::kill(child_, SIGKILL);  // of no effect unless it hangs
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  const std::string& text() const { return text_; }

 private:
  bool read_some() {
    pollfd file{screen_, POLLIN, 0};
    if (::poll(&file, 1, 60'000) <= 0) return false;
    std::array<char, 65536> block;
    const ssize_t n = ::read(screen_, block.data(), block.size());
    if (n > 0) text_.append(block.data(), static_cast<std::size_t>(n));
    return n > 0;
  }
  int screen_ = -1;
  pid_t child_ = -1;
  std::string text_;
};

/// What is left on the screen: the last row that was begun by a carriage return, and all after it;
/// lines that were broken to fit are whole again.
std::string left_standing(const std::string& text) {
  const std::size_t row = text.rfind("\r\x1b[2K");
  std::string left = row == std::string::npos ? text : text.substr(row + 5);
  for (std::size_t at = 0; (at = left.find("\n  ")) != std::string::npos;) left.replace(at, 3, " ");
  return left;
}

class Interruption : public ProgramTest {
 protected:
  // Gives back when the program has opened the pipe, and so waits for what never comes.
  void wait_until_it_reads(const std::string& pipe) const {
    int end = -1;
    for (int i = 0; i < 3000 && end < 0; ++i) {  // half a minute
      end = ::open((folder_ / pipe).c_str(), O_WRONLY | O_NONBLOCK);
      if (end < 0) ::usleep(10'000);
    }
    ASSERT_GE(end, 0) << "the program did not open " << pipe;
    held_.push_back(end);
  }
  void TearDown() override {
    for (const int end : held_) ::close(end);
  }
  mutable std::vector<int> held_;
};

TEST_F(Interruption, ACheckTakesItsRowAwayAndSaysWhatEnded) {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 143}}) {
    Screen screen(folder_, {"check", "density:gaussian-2000,1", "--starts", "1000"});
    ASSERT_TRUE(screen.shows("checking the gradient at 1000 random starts, ")) << screen.text();
    screen.send(signal);
    EXPECT_EQ(screen.end(), code) << screen.text();
    EXPECT_EQ(left_standing(screen.text()),
              "error[run.interrupted]: interrupted while checking density:gaussian-2000,1; "
              "Kiln has found nothing yet\n");
  }
}

TEST_F(Interruption, FilesThatAreWaitedForAreNoEndWithoutAWord) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const auto expect = [&](const std::vector<std::string>& words, const std::string& doing) {
    Screen screen(folder_, words);
    wait_until_it_reads("pipe");
    screen.send(SIGTERM);
    EXPECT_EQ(screen.end(), 143) << screen.text();
    EXPECT_EQ(left_standing(screen.text()), "error[run.interrupted]: interrupted while " + doing +
                                                "; Kiln has found nothing yet\n");
  };
  expect({"check", "pipe"}, "checking pipe");
  expect({"diagnose", "pipe"}, "reading pipe");
  expect({"solve", "torus:8x8,1", "--config", "pipe"}, "reading the options");
  expect({"solve", "--repeat", "pipe"}, "reading the options");
  expect({"sample", "--repeat", "pipe"}, "reading the options");
}

TEST_F(Interruption, ABenchPrintsTheRowsThatWereMeasured) {
  Call call{{"bench", "kernels", "--device", "cpu", "--quick"}};
  call.signal = SIGINT;
  call.signal_at = "measuring  3 of ";
  Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  // The rows of the table that were announced before the one under way, in their order.
  std::istringstream said(outcome.err);
  std::vector<std::string> measured;
  for (std::string line; std::getline(said, line);) {
    if (line.starts_with("measuring ")) measured.push_back(line.substr(line.find(": ") + 2));
  }
  ASSERT_GE(measured.size(), 3u);
  std::istringstream table(outcome.out);
  std::vector<std::string> rows;
  for (std::string line; std::getline(table, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), measured.size() - 1 + 3) << outcome.out;  // below head, gap and names
  for (std::size_t i = 0; i + 1 < measured.size(); ++i) {
    EXPECT_TRUE(rows[i + 3].starts_with(measured[i].substr(0, measured[i].find(' '))))
        << rows[i + 3] << "\n"
        << measured[i];
  }
  EXPECT_NE(outcome.err.find("error[run.interrupted]: interrupted while measuring "),
            std::string::npos)
      << outcome.err;

  call.words.push_back("--json");
  call.signal = SIGTERM;
  outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 143) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["interrupted"], true);
  EXPECT_GE(document["rows"].size(), 2u);
  EXPECT_EQ(document["method"], "loop");
}

TEST_F(Interruption, ABenchTakesItsRowAway) {
  Screen screen(folder_, {"bench", "sweep", "--device", "cpu", "--sweeps", "1G"});
  ASSERT_TRUE(screen.shows("measuring  1 of ")) << screen.text();
  screen.send(SIGTERM);
  EXPECT_EQ(screen.end(), 143) << screen.text();
  const std::string left = left_standing(screen.text());
  EXPECT_TRUE(left.starts_with("error[run.interrupted]: interrupted while measuring 1 of "))
      << left;
  EXPECT_NE(left.find("no rows were"), std::string::npos) << left;
}

// Both are there when the program goes on: the second ends it before anything is printed.
TEST_F(Interruption, ASecondSignalEndsABenchAtOnce) {
  Call call{{"bench", "kernels", "--device", "cpu", "--quick"}};
  call.signal = SIGINT;
  call.second_signal = SIGTERM;
  call.signal_at = "measuring  3 of ";
  const Outcome outcome = run(call);
  EXPECT_TRUE(outcome.exit_code == 130 || outcome.exit_code == 143) << outcome.exit_code;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.find("error["), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace kiln::test::interruption_test
