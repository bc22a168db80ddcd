// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

// The program on a terminal.
namespace kiln::test {

inline constexpr std::size_t columns = 80;

// Without the sequences that make letters bold or erase a line; what was erased stands on a line of
// its own, but for lines that were gone back to.
inline std::vector<std::string> screen_lines(const std::string& text) {
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
  std::vector<std::string> lines;
  std::istringstream in(plain);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class TerminalTest : public ProgramTest {
 public:
  // Both outputs are one terminal, which passes line feeds on as they are.
  Outcome run_on_screen(const std::vector<std::string>& words, std::size_t width = columns) const {
    termios mode = {};
    ::cfmakeraw(&mode);
    const winsize size{24, static_cast<unsigned short>(width), 0, 0};
    int screen = -1;
    const pid_t child = ::forkpty(&screen, nullptr, &mode, &size);
    if (child == 0) become_program(words);
    Outcome outcome;
    std::array<char, 65536> block;
    for (ssize_t n = 0; (n = ::read(screen, block.data(), block.size())) > 0;) {
      outcome.out.append(block.data(), static_cast<std::size_t>(n));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(screen);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
  }

 private:
  [[noreturn]] void become_program(const std::vector<std::string>& words) const {
    std::vector<std::string> texts{"kiln"};
    texts.insert(texts.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("KILN_DEVICE");
    // Tests in the background are started with interrupts ignored; a shell starts no program so.
    for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);
    if (::chdir(folder_.c_str()) == 0) ::execv(KILN_PROGRAM, pointers.data());
    ::_exit(127);
  }
};

}  // namespace kiln::test
