// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A schedule whose kernel fails once: KILN_FAULT says how (loop, kill, segv), KILN_FAULT_TICK when,
// KILN_FAULT_MARK names the file that it makes before. Without a mark it fails each time.
#include "faulty.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "stand_still.hpp"

bool kiln::test::is_first() {
  const char* const mark = std::getenv("KILN_FAULT_MARK");
  return mark == nullptr || ::open(mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) >= 0;
}

namespace {

void fail() {
  const char* const fault = std::getenv("KILN_FAULT");
  const std::string_view kind = fault == nullptr ? "" : fault;
  if (kind == "kill") ::raise(SIGKILL);
  if (kind == "segv") ::raise(SIGSEGV);
  while (kind == "loop") std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void count(const kiln::test::CountTicks& kernel, kiln::Queue&) {
  kernel.count[0] += 1;
  std::this_thread::sleep_for(std::chrono::microseconds(500));
  const char* const tick = std::getenv("KILN_FAULT_TICK");
  if (tick != nullptr && kernel.count[0] == std::atof(tick) && kiln::test::is_first()) fail();
}

void add(kiln::PluginRegistrar& plugin) {
  plugin.add(kiln::test::stand_still_entry("fails-once"));
  plugin.add_cpu_kernels(kiln::KernelSet<kiln::test::TestPluginComponent>(&count));
#if defined(WITH_CUDA)
  plugin.add_cuda_kernels(
      kiln::KernelSet<kiln::test::TestPluginComponent>(&kiln::test::count_on_cuda));
#endif
}

}  // namespace

KILN_PLUGIN("faulty", "1.0", "a plug-in whose kernel fails", add)
