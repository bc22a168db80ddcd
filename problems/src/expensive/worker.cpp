// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>
#include <utility>

namespace kiln::problems::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_answer = std::size_t{1} << 20;
constexpr int poll_ms = 20;
constexpr std::chrono::milliseconds step{2};
constexpr double grace_s = 1;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// While it lives, writing to a pipe that nobody reads gives EPIPE to this thread, whatever the
/// process does with SIGPIPE.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec none{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &none) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

}  // namespace

Worker::Worker(const std::vector<std::string>& words, std::shared_ptr<ProgramKeeper> keeper)
    : keeper_(std::move(keeper)) {
  for (const Pipe* pipe : {&input_, &output_}) {
    if (pipe->reason() != 0) reason_ = pipe->reason();
  }
  if (reason_ != 0) return;
  ::fcntl(input_.writer(), F_SETFL, O_NONBLOCK);
  ::fcntl(output_.reader(), F_SETFL, O_NONBLOCK);
  const SpawnPlan plan({.input = input_.reader(), .output = output_.writer()});
  const auto start = [&](const std::string& entry) {
    reason_ = plan.start(words, entry, child_);
    return reason_ == 0 ? static_cast<int>(child_) : -1;
  };
  static_cast<void>(keeper_ == nullptr ? start({}) : keeper_->start(start));
  if (reason_ != 0) child_ = 0;
  input_.close_reader();
  output_.close_writer();
}

Worker::~Worker() {
  if (child_ == 0) return;
  ::kill(-child_, SIGKILL);
  end(grace_s);
}

bool Worker::is_ready() {
  if (child_ == 0 || has_ended(child_)) return false;
  output_.drain(text_);
  return text_.empty() && output_.reader() >= 0;
}

// 0, or why nothing can be written any more.
int Worker::write_some(std::string_view& rest) const {
  const WithoutPipeSignal quiet;
  while (!rest.empty()) {
    const ssize_t n = ::write(input_.writer(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? 0 : errno;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

WorkerReply Worker::exchange(std::string_view request, double timeout_s,
                             const std::stop_token& stop) {
  const auto begin = Clock::now();
  std::string_view rest = request;
  bool open = true;
  for (;;) {
    if (open && write_some(rest) != 0) open = false;
    output_.drain(text_);
    if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
      WorkerReply reply{WorkerReply::End::line, text_.substr(0, end)};
      text_.erase(0, end + 1);
      return reply;
    }
    if (text_.size() > longest_answer) return {WorkerReply::End::too_long, {}};
    // What it printed before its end is read after that end was seen.
    if (output_.reader() < 0 || !open) return {WorkerReply::End::ended, {}};
    if (stop.stop_requested()) return {WorkerReply::End::stopped, {}};
    if (timeout_s > 0 && seconds_since(begin) > timeout_s) return {WorkerReply::End::timed_out, {}};
    if (has_ended(child_)) {
      output_.drain(text_);
      if (text_.find('\n') == std::string::npos) return {WorkerReply::End::ended, {}};
      continue;
    }
    std::array<pollfd, 2> streams{pollfd{output_.reader(), POLLIN, 0},
                                  pollfd{rest.empty() ? -1 : input_.writer(), POLLOUT, 0}};
    static_cast<void>(::poll(streams.data(), streams.size(), poll_ms));
  }
}

std::string Worker::end(double patience_s) {
  if (child_ == 0) return {};
  close_input();
  auto begin = Clock::now();
  bool told = false;
  while (!has_ended(child_)) {
    output_.drain(text_);  // one that prints must not wait for a reader
    const double waited = seconds_since(begin);
    if (!told && waited > patience_s) {
      ::kill(-child_, SIGTERM);
      told = true;
      begin = Clock::now();
    } else if (told && waited > grace_s) {
      break;
    }
    std::this_thread::sleep_for(step);
  }
  ::kill(-child_, SIGKILL);  // its number is taken until it is reaped
  if (keeper_ != nullptr) keeper_->ended(child_);
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace kiln::problems::detail
