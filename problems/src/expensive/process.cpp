// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

extern char** environ;

namespace kiln::problems::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_kept = std::size_t{1} << 20;
constexpr int look_ms = 20;
constexpr std::chrono::seconds grace{1};

/// Both ends of a pipe; closed by exec, so that no other child inherits them.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) reason_ = errno;
  }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reason() const noexcept { return reason_; }
  int reader() const noexcept { return ends_[0]; }
  int writer() const noexcept { return ends_[1]; }
  void close_reader() noexcept { close_end(ends_[0]); }
  void close_writer() noexcept { close_end(ends_[1]); }

  /// Takes what is there; closes the reader at the end.
  void drain(std::string& text) {
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

 private:
  static void close_end(int& end) noexcept {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
  std::array<int, 2> ends_{-1, -1};
  int reason_ = 0;
};

/// Attributes and file actions of a child.
class SpawnPlan {
 public:
  SpawnPlan(int output, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
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
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// 0, or why it cannot be started.
  /// @param entry  NAME=VALUE for its environment; may be empty
  int start(const std::vector<std::string>& words, const std::string& entry, pid_t& child) const {
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

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Whether the child has ended. It is not reaped: its number, and so its group, stays taken.
bool has_ended(pid_t child) {
  siginfo_t info = {};
  const int status = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return status == 0 ? info.si_pid == child : errno != EINTR;
}

// Waits for output, or a little while.
void wait_a_little(Pipe& output, Pipe& errors) {
  std::array<pollfd, 2> sources{pollfd{output.reader(), POLLIN, 0},
                                pollfd{errors.reader(), POLLIN, 0}};
  // With both at their end the child is about to exit; a negative descriptor is passed over.
  const bool open = output.reader() >= 0 || errors.reader() >= 0;
  static_cast<void>(::poll(sources.data(), sources.size(), open ? look_ms : 1));
}

// Follows a child until it has ended, and ends it where that has to be.
ProcessResult follow(pid_t child, Pipe& output, Pipe& errors, double timeout_s,
                     const std::stop_token& stop) {
  ProcessResult result;
  const auto begin = Clock::now();
  Clock::time_point told{};
  bool killed = false;
  for (;;) {
    const bool ended = has_ended(child);
    output.drain(result.output);
    errors.drain(result.errors);
    if (ended) return result;
    const auto now = Clock::now();
    const bool late =
        timeout_s > 0 && std::chrono::duration<double>(now - begin).count() > timeout_s;
    const bool was_told = told != Clock::time_point{};
    if (!was_told && (late || stop.stop_requested())) {
      result.end = late ? ProcessResult::End::timed_out : ProcessResult::End::stopped;
      told = now;
      ::kill(-child, SIGTERM);
    } else if (was_told && !killed && now - told > grace) {
      killed = true;
      ::kill(-child, SIGKILL);
    }
    wait_a_little(output, errors);
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& words, double timeout_s,
                          const std::stop_token& stop, ProgramKeeper* keeper) {
  using End = ProcessResult::End;
  if (stop.stop_requested()) return {End::stopped, 0, {}, {}};
  Pipe output, errors;
  for (const Pipe* pipe : {&output, &errors}) {
    if (pipe->reason() != 0) return {End::not_started, pipe->reason(), {}, {}};
    ::fcntl(pipe->reader(), F_SETFL, O_NONBLOCK);
  }
  pid_t child = 0;
  int reason = 0;
  const SpawnPlan plan(output.writer(), errors.writer());
  const auto start = [&](const std::string& entry) {
    reason = plan.start(words, entry, child);
    return reason == 0 ? static_cast<int>(child) : -1;
  };
  static_cast<void>(keeper == nullptr ? start({}) : keeper->start(start));
  if (reason != 0) return {End::not_started, reason, {}, {}};
  output.close_writer();
  errors.close_writer();
  ProcessResult result = follow(child, output, errors, timeout_s, stop);
  // The leader is a zombie yet, so that its group cannot be another one.
  ::kill(-child, SIGKILL);
  if (keeper != nullptr) keeper->ended(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (result.end != End::exited) return result;
  if (WIFSIGNALED(status)) {
    result.end = End::killed;
    result.code = WTERMSIG(status);
  } else {
    result.code = WEXITSTATUS(status);
  }
  return result;
}

}  // namespace kiln::problems::detail
