// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/signals.hpp"

#include <signal.h>  // sigaction
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <system_error>
#include <utility>

namespace kiln::cli {
namespace {

// Signal handlers reach nothing but static variables.
std::atomic<int> signal_count{0};
std::atomic<int> first_signal{0};
std::atomic<int> last_signal{3};  // ends the program in the handler
std::atomic<std::atomic<int>*> further_count{nullptr};
std::atomic<bool> checkpoint_asked{false};
std::atomic<bool> suspend_asked{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr std::array<int, 4> stop_signals{SIGINT, SIGTERM, SIGHUP, SIGXCPU};

ExitCode code_of(int signal) noexcept {
  if (signal == 0) return ExitCode::ok;
  return signal == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
}

extern "C" void on_stop_signal(int signal) {
  const int count = ++signal_count;
  if (count == 1) first_signal = signal;
  if (std::atomic<int>* const further = further_count; further != nullptr) ++*further;
  if (count >= last_signal) ::_exit(static_cast<int>(code_of(first_signal)));
}

extern "C" void on_checkpoint_signal(int) { checkpoint_asked = true; }

extern "C" void on_suspend_signal(int) { suspend_asked = true; }

// No SIG_IGN: programs that are called would inherit that.
extern "C" void on_failing_write(int) {}

void install(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// nohup ignores HUP on purpose, and a shell script INT in what it puts into the background.
bool is_ignored(int signal) {
  struct sigaction action = {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

void install_for_all(void (*handler)(int)) {
  for (const int signal : stop_signals) {
    if (!is_ignored(signal)) install(signal, handler);
  }
}

}  // namespace

void survive_failing_writes() {
  install(SIGPIPE, on_failing_write);
  install(SIGXFSZ, on_failing_write);
}

void hear_checkpoint_requests() { install(SIGUSR1, on_checkpoint_signal); }

bool take_checkpoint_request() noexcept { return checkpoint_asked.exchange(false); }

void count_stop_signals_in(std::atomic<int>& count) noexcept { further_count = &count; }

StopSignals::StopSignals(std::function<void()> on_first, int most)
    : on_first_(std::move(on_first)) {
  signal_count = 0;
  first_signal = 0;
  last_signal = most;
  install_for_all(on_stop_signal);
  try {
    watcher_ = std::jthread([this](const std::stop_token& done) { watch(done); });
  } catch (const std::system_error&) {
    install_for_all(SIG_DFL);
  }
}

// Waking up is not allowed in a handler, so somebody has to look.
void StopSignals::watch(const std::stop_token& done) {
  constexpr std::chrono::milliseconds interval{10};
  while (!done.stop_requested()) {
    if (signal_count > 0) {
      const std::lock_guard lock(mutex_);
      on_first_();
      return;
    }
    std::this_thread::sleep_for(interval);
  }
}

// The handlers stay: a signal that comes so late must not take the answer or the exit code, nor
// keep a folder from being given back.
StopSignals::~StopSignals() = default;

void StopSignals::answer_by(std::function<void()> on_first) {
  const std::lock_guard lock(mutex_);
  on_first_ = std::move(on_first);
}

int StopSignals::count() const noexcept { return signal_count; }

ExitCode StopSignals::exit_code() const noexcept { return exit_code_of_signal(); }

SuspendSignal::SuspendSignal() {
  suspend_asked = false;
  if (!is_ignored(SIGTSTP)) install(SIGTSTP, on_suspend_signal);
}

SuspendSignal::~SuspendSignal() {
  if (!is_ignored(SIGTSTP)) install(SIGTSTP, SIG_DFL);
}

bool SuspendSignal::asked() noexcept { return suspend_asked; }

void SuspendSignal::suspend() noexcept {
  install(SIGTSTP, SIG_DFL);
  ::raise(SIGTSTP);
  install(SIGTSTP, on_suspend_signal);
  suspend_asked = false;
}

ExitCode exit_code_of_signal() noexcept { return code_of(first_signal); }

}  // namespace kiln::cli
