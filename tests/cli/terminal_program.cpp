// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "terminal_program.hpp"

#include <pty.h>
#include <signal.h>  // kill
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace kiln::test {
namespace {

[[noreturn]] void become_program_on_screen(const std::filesystem::path& folder,
                                           const std::vector<std::string>& words) {
  std::vector<std::string> texts{"kiln"};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("KILN_DEVICE");
  become_program(folder, pointers.data(), environ);
}

}  // namespace

Outcome Terminal::run_on_screen(const std::vector<std::string>& words, std::size_t width) const {
  return run_on_screen(words, width, 0, {});
}

Outcome Terminal::run_on_screen(const std::vector<std::string>& words, std::size_t width,
                                int signal, const std::string& signal_at) const {
  termios mode = {};
  ::cfmakeraw(&mode);
  const winsize size{24, static_cast<unsigned short>(width), 0, 0};
  int screen = -1;
  const pid_t child = ::forkpty(&screen, nullptr, &mode, &size);
  if (child == 0) become_program_on_screen(folder_, words);
  Outcome outcome;
  std::array<char, 65536> block;
  for (ssize_t n = 0; (n = ::read(screen, block.data(), block.size())) > 0;) {
    outcome.out.append(block.data(), static_cast<std::size_t>(n));
    if (signal == 0 || outcome.out.find(signal_at) == std::string::npos) continue;
    ::kill(child, std::exchange(signal, 0));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(screen);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

void Terminal::expect_narrow(const std::vector<std::string>& words, int exit_code) const {
  std::string all;
  for (const std::string& word : words) all += word + " ";
  const Outcome outcome = run_on_screen(words);
  EXPECT_EQ(outcome.exit_code, exit_code) << all << outcome.out;
  EXPECT_FALSE(outcome.out.empty()) << all;
  for (const std::string& line : screen_lines(outcome.out)) {
    EXPECT_TRUE(fits(line)) << all << "\n" << line.size() << ": " << line;
  }
}

std::vector<std::string> screen_lines(const std::string& text) {
  std::string plain;
  std::size_t above = 0, begin = 0;  // of lines that a line feed ended
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      plain += '\n';
    } else if (text[i] == '\x1b') {
      while (i < text.size() && std::string("mKA").find(text[i]) == std::string::npos) ++i;
      if (i < text.size() && text[i] == 'A') {
        plain.erase(above, begin - above);
        begin = above;
      }
    } else {
      plain += text[i];
      if (text[i] == '\n') above = std::exchange(begin, plain.size());
    }
  }
  return lines_of(plain);
}

bool fits(const std::string& line) {
  const std::size_t blank = line.rfind(' ');
  return line.size() <= columns || blank == std::string::npos || blank < columns / 2;
}

std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at < row.size();) {
    const std::size_t end = std::min(row.find("   ", at), row.size());
    cells.push_back(row.substr(at, end - at));
    at = std::min(row.find_first_not_of(' ', end), row.size());
  }
  return cells;
}

}  // namespace kiln::test
