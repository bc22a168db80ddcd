// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/program_keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#include "output/console.hpp"
#include "run/process_table.hpp"

extern char** environ;

namespace kiln::cli {
namespace {

/// What the watcher is told: a group has begun, or has ended.
struct Message {
  int group = 0;
  int begins = 0;
};

constexpr std::string_view mark_name = "KILN_CALL=";
constexpr std::chrono::milliseconds pause{2};
constexpr int max_rounds = 500;

class Keeper final : public ProgramKeeper {
 public:
  ~Keeper() override {
    if (watcher_socket_ >= 0) ::close(watcher_socket_);
  }

  int start(const std::function<int(const std::string&)>& start) override {
    const std::lock_guard lock(mutex_);
    if (mark_.empty()) begin();
    const std::string entry = fmt::format("{}{}", mark_, ++calls_);
    const int process = start(entry);
    if (process <= 0) return process;
    groups_.emplace(process, entry);
    tell({process, 1});
    return process;
  }

  void ended(int process) override {
    const std::lock_guard lock(mutex_);
    std::string entry = groups_[process];
    entry += '\0';  // all of it: call 1 is not call 12
    for (int round = 0; round < max_rounds && end_adopted(process, entry); ++round) {
      std::this_thread::sleep_for(pause);
    }
    tell({process, 0});
    groups_.erase(process);
  }

 private:
  void begin() {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    mark_ = fmt::format("{}{}-{:x}.", mark_name, ::getpid(), now);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const int reason = start_watcher();
    if (reason == 0) return;
    print_note(fmt::format(
        "warning[command.watcher]: the process that ends called programs if kiln is killed did not "
        "start ({}): called programs may then keep running\n",
        std::strerror(reason)));
  }

  // In a session of its own, so that what is typed at the terminal does not reach it.
  int start_watcher() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::string name = "kiln", verb = end_programs_verb;
    char* words[] = {name.data(), verb.data(), mark_.data(), nullptr};
    // Without the mark of a call that this process may be itself: the watcher has to outlive it.
    std::vector<char*> environment;
    for (char** one = environ; *one != nullptr; ++one) {
      if (!std::string_view(*one).starts_with(mark_name)) environment.push_back(*one);
    }
    environment.push_back(nullptr);
    const int reason = ::posix_spawn(&watcher_, "/proc/self/exe", &actions, &attributes, words,
                                     environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    if (reason == 0) {
      watcher_socket_ = ends[0];
    } else {
      ::close(ends[0]);
    }
    return reason;
  }

  // A watcher that somebody ended is not worth the run.
  void tell(const Message& message) const {
    if (watcher_socket_ < 0) return;
    static_cast<void>(::send(watcher_socket_, &message, sizeof message, MSG_NOSIGNAL));
  }

  // Ends the children of this process that belong to a call, all of which were adopted: the one
  // that was started is known. Whether there were any that live.
  bool end_adopted(int process, const std::string& entry) {
    bool some = false;
    for (const int child : children_of_this()) {
      if (child == watcher_ || groups_.contains(child)) continue;
      const ProcessStatus status = status_of(child);
      const bool of_call = status.group == process;
      if (status.zombie) {
        // One that has left its group and ended belongs to nobody else.
        const bool left = status.group != ::getpgrp() && !groups_.contains(status.group);
        if (of_call || left) ::waitpid(child, nullptr, WNOHANG);
      } else if (of_call || has_in_environment(child, entry)) {
        ::kill(child, SIGKILL);
        some = true;
      }
    }
    return some;
  }

  std::mutex mutex_;  // also keeps a process that starts apart from those that are adopted
  std::string mark_;  // of all calls: KILN_CALL=<process>-<time>.
  std::uint64_t calls_ = 0;
  std::map<int, std::string> groups_;  // of calls under way: the entry in their environment
  pid_t watcher_ = -1;
  int watcher_socket_ = -1;
};

// The groups that are there when the other end is closed.
std::map<int, bool> hear_of_groups() {
  std::map<int, bool> groups;
  for (;;) {
    Message message;
    const ssize_t n = ::recv(STDIN_FILENO, &message, sizeof message, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n != sizeof message) return groups;
    if (message.begins != 0) {
      groups[message.group] = true;
    } else {
      groups.erase(message.group);
    }
  }
}

}  // namespace

std::shared_ptr<ProgramKeeper> make_program_keeper() { return std::make_shared<Keeper>(); }

ExitCode end_programs(const std::vector<std::string>& words) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  [[maybe_unused]] const int changed = ::chdir("/");
  const std::map<int, bool> groups = hear_of_groups();
  for (const auto& [group, begun] : groups) ::kill(-group, SIGTERM);
  constexpr int grace_rounds = 500;
  const auto any_lives = [&] {
    for (const auto& [group, begun] : groups) {
      if (::kill(-group, 0) == 0) return true;
    }
    return false;
  };
  for (int round = 0; round < grace_rounds && any_lives(); ++round) {
    std::this_thread::sleep_for(pause);
  }
  for (const auto& [group, begun] : groups) ::kill(-group, SIGKILL);
  if (words.empty()) return ExitCode::ok;
  for (int round = 0; round < max_rounds; ++round) {
    bool some = false;
    for (const int process : all_processes()) {
      if (process == ::getpid() || !has_in_environment(process, words.front())) continue;
      some |= ::kill(process, SIGKILL) == 0;
    }
    if (!some) break;
    std::this_thread::sleep_for(pause);
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
