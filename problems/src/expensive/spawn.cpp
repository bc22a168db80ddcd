// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "spawn.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

extern char** environ;

namespace kiln::problems::detail {
namespace {

constexpr std::size_t max_kept = std::size_t{1} << 20;

}  // namespace

Pipe::Pipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0) reason_ = errno;
}

Pipe::~Pipe() {
  close_reader();
  close_writer();
}

void Pipe::close_end(int& end) noexcept {
  if (end >= 0) ::close(std::exchange(end, -1));
}

void Pipe::drain(std::string& text) {
  std::array<char, 4096> block;
  for (;;) {
    if (reader() < 0) return;
    const ssize_t n = ::read(reader(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return close_reader();
    text.append(block.data(), static_cast<std::size_t>(n));
    if (text.size() > 2 * max_kept) text.erase(0, text.size() - max_kept);
  }
}

SpawnPlan::SpawnPlan(const ChildStreams& streams) {
  ::posix_spawn_file_actions_init(&actions_);
  if (streams.input < 0) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&actions_, streams.input, STDIN_FILENO);
  }
  ::posix_spawn_file_actions_adddup2(&actions_, streams.output, STDOUT_FILENO);
  if (streams.errors >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions_, streams.errors, STDERR_FILENO);
  }
  ::posix_spawnattr_init(&attributes_);
  ::posix_spawnattr_setpgroup(&attributes_, 0);
  sigset_t none, usual;
  ::sigemptyset(&none);
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::sigaddset(&usual, signal);
  ::posix_spawnattr_setsigmask(&attributes_, &none);
  ::posix_spawnattr_setsigdefault(&attributes_, &usual);
  ::posix_spawnattr_setflags(
      &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

SpawnPlan::~SpawnPlan() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

int SpawnPlan::start(const std::vector<std::string>& words, const std::string& entry,
                     pid_t& child) const {
  std::vector<char*> arguments, environment;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string name = entry.substr(0, entry.find('=') + 1);
  for (char** one = environ; *one != nullptr; ++one) {
    if (name.empty() || !std::string_view(*one).starts_with(name)) environment.push_back(*one);
  }
  if (!entry.empty()) environment.push_back(const_cast<char*>(entry.c_str()));
  environment.push_back(nullptr);
  return ::posix_spawnp(&child, arguments.front(), &actions_, &attributes_, arguments.data(),
                        environment.data());
}

bool has_ended(pid_t child) {
  siginfo_t info = {};
  const int status = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return status == 0 ? info.si_pid == child : errno != EINTR;
}

}  // namespace kiln::problems::detail
