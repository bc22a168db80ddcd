// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/supervision/supervised_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "errors.hpp"

extern char** environ;

namespace kiln::cli {
namespace {

[[noreturn]] void refuse_start(int reason) {
  throw IoError("supervise.start",
                fmt::format("the process of the run does not start: {}", std::strerror(reason)), {},
                "run without --supervise, or with a higher limit of processes (ulimit -u)");
}

bool write_all(int file, const char* data, ssize_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(file, data, static_cast<std::size_t>(bytes));
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) data += n, bytes -= n;
  }
  return true;
}

}  // namespace

SharedInput::SharedInput(bool is_read) {
  if (!is_read) return;
  kept_ = ::memfd_create("kiln input", MFD_CLOEXEC);
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, block.data(), block.size());
    if (n == 0) return;
    if (n < 0 && errno == EINTR) continue;
    if (n > 0 && write_all(kept_, block.data(), n)) continue;
    throw InputError("io.read",
                     fmt::format("standard input cannot be read: {}", std::strerror(errno)));
  }
}

SharedInput::~SharedInput() {
  if (kept_ >= 0) ::close(kept_);
}

// By its name: a copy of the descriptor would stand where the process before has read to.
int SharedInput::open() const {
  if (kept_ < 0) return -1;
  return ::open(fmt::format("/proc/self/fd/{}", kept_).c_str(), O_RDONLY | O_CLOEXEC);
}

SupervisedChild::SupervisedChild(const std::vector<std::string>& words, const SharedInput& input,
                                 const HangLimits& limits, int restarts,
                                 const std::string& folder) {
  memory_ = ::memfd_create("kiln run", 0);  // the child inherits it
  if (memory_ < 0 || ::ftruncate(memory_, sizeof(SharedState)) != 0) refuse_start(errno);
  void* const memory =
      ::mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (memory == MAP_FAILED) refuse_start(errno);
  state_ = new (memory) SharedState;
  state_->limits = limits;
  state_->restarts = restarts;
  keep_folder(*state_, folder);
  const int file = input.open();
  start(words, file);
  if (file >= 0) ::close(file);
}

SupervisedChild::~SupervisedChild() {
  if (state_ != nullptr) ::munmap(state_, sizeof(SharedState));
  if (memory_ >= 0) ::close(memory_);
}

void SupervisedChild::start(const std::vector<std::string>& words, int input) {
  std::vector<std::string> texts = words;
  texts.insert(texts.begin(), "kiln");
  std::string entry = fmt::format("{}={},{}", supervised_name, memory_, ::getpid());
  std::vector<char*> arguments, environment;
  for (std::string& text : texts) arguments.push_back(text.data());
  for (char** one = environ; *one != nullptr; ++one) environment.push_back(*one);
  environment.push_back(entry.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  if (input >= 0) ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  sigset_t none;
  ::sigemptyset(&none);  // the supervisor waits with SIGCHLD blocked
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int reason = ::posix_spawn(&process_, "/proc/self/exe", &actions, &attributes,
                                   arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (reason != 0) refuse_start(reason);
}

}  // namespace kiln::cli
