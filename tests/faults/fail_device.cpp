// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Loaded before the program (LD_PRELOAD), it acts out faults of a device: it stands between the
// program, the engine and their queues.
//
//   KILN_FAIL_REPORTS=N      after N calls of the observer of a run
//     KILN_FAIL_DEVICE=E       the run ends as if a call into CUDA had returned the error E
//     KILN_FAIL_DEVICE=hang    the device never answers: the wait has the deadline of all waits,
//                              and a handler of exit() that never returns stands for the driver's
//   KILN_FAIL_ABOVE=BYTES    a device has no more memory than that
//   KILN_FAIL_FIRST=N        the first N arrays of queues fail with the error KILN_FAIL_DEVICE
//
// Where no further call can succeed, asking for a result ends the process by SIGABRT.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <utility>

#include "kiln/device/device_fault.hpp"
#include "kiln/device/device_wait.hpp"
#include "kiln/queue.hpp"
#include "kiln/run.hpp"

namespace {

bool has_failed = false;
std::atomic<long> used_bytes{0}, arrays{0};

int number(const char* name) {
  const char* const text = ::getenv(name);
  return text == nullptr ? 0 : ::atoi(text);
}

bool hangs() {
  const char* const text = ::getenv("KILN_FAIL_DEVICE");
  return text != nullptr && ::strcmp(text, "hang") == 0;
}

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

[[noreturn]] void wait_for_ever() {
  ::atexit([] { sleep_for_ever(); });
  const std::chrono::nanoseconds timeout = kiln::device_timeout();
  kiln::DeviceWait wait(std::chrono::milliseconds(1), timeout);
  while (wait.pause()) continue;
  kiln::throw_no_answer("wait for a summary", std::chrono::duration<double>(timeout).count());
}

bool ends_all() {
  return hangs() || kiln::ends_device(kiln::device_fault_of(number("KILN_FAIL_DEVICE")));
}

// A queue that only counts, for a plan, takes no memory of a device.
bool is_of_device(const kiln::Queue& queue) { return queue.kernels() != nullptr; }

}  // namespace

namespace kiln {

void* Queue::allocate(std::size_t bytes) {
  using Allocate = void* (*)(Queue*, std::size_t);
  static const auto real =
      reinterpret_cast<Allocate>(::dlsym(RTLD_NEXT, "_ZN4kiln5Queue8allocateEm"));
  if (real == nullptr) ::abort();
  if (!is_of_device(*this)) return real(this, bytes);
  if (++arrays <= number("KILN_FAIL_FIRST")) {
    throw_device_fault(number("KILN_FAIL_DEVICE"), "allocate device memory");
  }
  const long most = number("KILN_FAIL_ABOVE"), size = static_cast<long>(bytes);
  if (most > 0 && used_bytes + size > most) throw_device_fault(2, "allocate device memory");
  void* const memory = real(this, bytes);
  used_bytes += size;
  return memory;
}

void Queue::deallocate(void* memory, std::size_t bytes) noexcept {
  using Deallocate = void (*)(Queue*, void*, std::size_t);
  static const auto real =
      reinterpret_cast<Deallocate>(::dlsym(RTLD_NEXT, "_ZN4kiln5Queue10deallocateEPvm"));
  if (real == nullptr) ::abort();
  if (is_of_device(*this)) used_bytes -= static_cast<long>(bytes);
  real(this, memory, bytes);
}

Result Run::advance_to(const Budget& limit, const Observers& observers, std::stop_token stop) {
  using Advance = Result (*)(Run*, const Budget&, const Observers&, std::stop_token);
  const auto real = reinterpret_cast<Advance>(::dlsym(
      RTLD_NEXT,
      "_ZN4kiln3Run10advance_toERKNS_6BudgetERKSt6vectorINS_8ObserverESaIS5_EESt10stop_token"));
  if (real == nullptr) ::abort();
  Observers counting = observers;
  counting.emplace_back([left = number("KILN_FAIL_REPORTS")](const ReportPoint&) mutable -> Next {
    if (left == 0 || --left > 0) return Next::go_on;
    has_failed = true;
    if (hangs()) wait_for_ever();
    throw_device_fault(number("KILN_FAIL_DEVICE"), "launch sweep");
  });
  return real(this, limit, counting, std::move(stop));
}

Result Run::result_so_far(Stop stop) {
  using SoFar = Result (*)(Run*, Stop);
  if (has_failed && ends_all()) ::abort();
  const auto real =
      reinterpret_cast<SoFar>(::dlsym(RTLD_NEXT, "_ZN4kiln3Run13result_so_farENS_4StopE"));
  if (real == nullptr) ::abort();
  return real(this, stop);
}

}  // namespace kiln
