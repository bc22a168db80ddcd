// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "spawn.hpp"

namespace kiln::problems::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int look_ms = 20;
constexpr std::chrono::seconds grace{1};

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
  const SpawnPlan plan({.output = output.writer(), .errors = errors.writer()});
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
