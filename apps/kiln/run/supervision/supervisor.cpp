// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/supervision/supervisor.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "kiln/device/device_wait.hpp"

#include "output/console.hpp"
#include "output/text.hpp"
#include "run/supervision/supervised_child.hpp"

namespace kiln::cli {
namespace {

constexpr int max_vain = 3;  // restarts in a row from the same place
constexpr double patience_growth = 4;

// Handlers reach nothing but static variables.
std::atomic<int> heard{0}, last_heard{0};
std::atomic<bool> asks_checkpoint{false};

extern "C" void on_signal_to_pass(int signal) {
  if (signal == SIGUSR1) {
    asks_checkpoint = true;
    return;
  }
  ++heard;
  last_heard = signal;
}

double now_s() {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  return now.count();
}

/// Passes signals on while it lives. What the terminal, or kill of a group, sends to both processes
/// has come to the child already: the number of those that it heard says so.
class PassedSignals {
 public:
  PassedSignals() {
    ::sigemptyset(&child_);
    ::sigaddset(&child_, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child_, nullptr);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
      struct sigaction action = {}, former = {};
      ::sigaction(signal, nullptr, &former);
      if (former.sa_handler == SIG_IGN) continue;
      action.sa_handler = on_signal_to_pass;
      ::sigaction(signal, &action, nullptr);
    }
  }

  static bool any() { return heard > 0; }
  static ExitCode exit_code() {
    return last_heard == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
  }

  /// Waits for a change of the child, for a moment.
  void wait() const {
    const timespec moment{0, 20'000'000};
    static_cast<void>(::sigtimedwait(&child_, nullptr, &moment));
  }
  /// Call it after a wait. What was sent to both, as by a terminal, the child counts itself, and
  /// on a busy machine it may be slow to.
  void pass_to(const SupervisedChild& child) {
    constexpr double grace_s = 0.25;
    if (asks_checkpoint.exchange(false)) ::kill(child.process(), SIGUSR1);
    const int due = heard - before_;
    if (due == passed_) return;
    if (std::exchange(waiting_, due) != due) since_s_ = now_s();
    const bool knows = due <= child.state().signals;
    if (!knows && now_s() - since_s_ < grace_s) return;
    if (!knows) ::kill(child.process(), last_heard);
    passed_ = due;
  }

 private:
  sigset_t child_ = {};
  int before_ = heard, passed_ = 0, waiting_ = 0;
  double since_s_ = 0;  // `waiting_` signals were heard
};

/// How a child ended.
struct End {
  int status = 0;     ///< of waitpid()
  bool hung = false;  ///< it, or the supervisor, ended it for that
};

// The child asks its run to stop after the limit and gives up after two; a child that does neither
// is ended after three.
End wait_for(const SupervisedChild& child, PassedSignals& signals) {
  const HangLimits& own = child.state().limits;
  HangWatch watch({3 * own.ticks, 3 * own.min_s, 3 * own.first_s});
  End end;
  for (;;) {
    const pid_t changed = ::waitpid(child.process(), &end.status, WNOHANG);
    if (changed == child.process()) break;
    signals.wait();
    signals.pass_to(child);
    if (!end.hung && watch.look(child.state().heartbeat.pulse(), now_s())) {
      end.hung = true;
      ::kill(child.process(), SIGKILL);
    }
  }
  end.hung |= child.state().hung;
  return end;
}

std::string text_of(const End& end) {
  if (end.hung) return "the run hung";
  if (WIFSIGNALED(end.status)) {
    const int signal = WTERMSIG(end.status);
    return fmt::format("the run ended by signal {} ({})", signal, ::strsignal(signal));
  }
  return "the run lost its device";
}

// A fault of the process or of the device. What the user can mend is no fault, nor an end that was
// asked for.
bool is_fault(const End& end, const SharedState& state) {
  if (end.hung) return true;
  if (WIFSIGNALED(end.status)) return true;
  const int code = WEXITSTATUS(end.status);
  return state.has_begun && code == static_cast<int>(ExitCode::device_fault);
}

ExitCode code_of(const End& end) {
  if (WIFEXITED(end.status) && !end.hung) return static_cast<ExitCode>(WEXITSTATUS(end.status));
  return ExitCode::device_fault;
}

void say_restart(const End& end, int restarts, const std::string& folder) {
  const std::string next = folder.empty()
                               ? "it begins anew, because it has no run folder (-o DIR) with a run"
                               : "it continues in " + shell_word(folder);
  if (::isatty(STDERR_FILENO) != 0) print_row("\r\x1b[K");  // a live row that nobody ended
  print_note(fmt::format("warning[supervise.restart]: {}; restart {}: {}\n", text_of(end), restarts,
                         clean(next)));
}

ExitCode give_up(const End& end, const std::string& folder) {
  std::string fix = "repeat the run with --device cpu, or with another --executor";
  if (!folder.empty()) {
    fix = fmt::format("kiln resume {} --device cpu continues the run", shell_word(folder));
  }
  print_note(
      fmt::format("error[supervise.vain]: {}, after {} restarts that did not get further\n"
                  "  fix: {}\n",
                  text_of(end), max_vain, clean(fix)));
  return ExitCode::device_fault;
}

HangLimits limits_after(int vain) {
  HangLimits limits;
  limits.first_s = std::chrono::duration<double>(device_timeout()).count();
  const double patience = std::pow(patience_growth, vain);
  limits.ticks *= patience;
  limits.min_s *= patience;
  return limits;
}

bool reads_input(const Arguments& arguments) {
  const auto is_input = [](const std::vector<std::string>& words) {
    return std::ranges::find(words, "-") != words.end();
  };
  const auto reads = [&](const char* option) {
    const auto given = arguments.options.find(option);
    return given != arguments.options.end() && is_input(given->second);
  };
  return is_input(arguments.positional) || reads("data") || reads("repeat") || reads("initial");
}

// The words of the command, of which run.json has what decides the answer.
Arguments continued(const Arguments& arguments, const std::string& folder) {
  constexpr std::array<std::string_view, 12> kept{
      "supervise", "json",    "quiet",   "verbose",       "save",      "plugin",
      "device",    "threads", "profile", "allow-command", "allow-jit", "no-report"};
  Arguments now;
  for (const auto& [name, texts] : arguments.options) {
    if (std::ranges::find(kept, name) != kept.end()) now.options[name] = texts;
  }
  now.options["output"] = {folder};
  now.options["repeat"] = {(std::filesystem::path(folder) / "run.json").string()};
  // The command named the program or the source text; run.json was written by its process.
  for (const std::string& problem : arguments.positional) {
    if (problem.starts_with("command:")) now.options["allow-command"] = {""};
    if (problem.starts_with("source:")) now.options["allow-jit"] = {""};
  }
  return now;
}

}  // namespace

bool wants_supervisor(const Arguments& arguments) {
  return arguments.has("supervise") && !arguments.has("dry-run") && shared_state() == nullptr;
}

ExitCode supervise(const RunVerb& verb, const Arguments& arguments,
                   const std::vector<std::string>& words) {
  std::vector<std::string> command{verb.name};
  command.insert(command.end(), words.begin(), words.end());
  const SharedInput input(reads_input(arguments));
  PassedSignals signals;
  int vain = 0;
  std::string folder;          // of the run, once there is one
  std::uint64_t farthest = 0;  // steps of a checkpoint that a process continued from
  for (int restarts = 0;; ++restarts) {
    const SupervisedChild child(command, input, limits_after(vain), restarts, folder);
    const End end = wait_for(child, signals);
    const SharedState& state = child.state();
    if (state.answered >= 0) return static_cast<ExitCode>(state.answered.load());
    if (!is_fault(end, state)) return code_of(end);
    if (PassedSignals::any()) return PassedSignals::exit_code();
    if (state.has_begun) folder = state.folder.data();
    if (state.continues_from > farthest) {
      farthest = state.continues_from;
      vain = 0;
    }
    if (vain++ == max_vain) return give_up(end, folder);
    say_restart(end, restarts + 1, folder);
  }
}

Session prepare_supervised(const RunVerb& verb, const Arguments& arguments) {
  const SharedState* const state = shared_state();
  const std::string folder = state == nullptr ? "" : state->folder.data();
  if (folder.empty()) return prepare(verb, arguments);
  return prepare(verb, continued(arguments, folder), ResumedFolder{folder, {}});
}

}  // namespace kiln::cli
