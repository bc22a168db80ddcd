// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/supervision/shared_state.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "run/signals.hpp"

namespace kiln::cli {
namespace {

SharedState* state_of_process = nullptr;

}  // namespace

void keep_folder(SharedState& state, const std::string& folder) noexcept {
  if (folder.size() < state.folder.size()) folder.copy(state.folder.data(), folder.size());
}

SharedState* shared_state() noexcept { return state_of_process; }

// Programs that are called must not believe that they are supervised.
void hear_of_supervisor() noexcept {
  const char* const text = std::getenv(supervised_name);
  if (text == nullptr) return;
  int file = -1, parent = 0;
  const bool is_said = std::sscanf(text, "%d,%d", &file, &parent) == 2;
  ::unsetenv(supervised_name);
  if (!is_said || parent != ::getppid()) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "kiln");  // it was started as /proc/self/exe
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::terminated));
  struct stat status = {};
  if (::fstat(file, &status) != 0 || status.st_size != sizeof(SharedState)) return;
  void* const memory =
      ::mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return;
  state_of_process = static_cast<SharedState*>(memory);
  count_stop_signals_in(state_of_process->signals);
}

}  // namespace kiln::cli
