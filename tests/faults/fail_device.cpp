// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Loaded before the program (LD_PRELOAD), it lets a run end after KILN_FAIL_REPORTS calls of its
// observer as if a call into CUDA had returned the error KILN_FAIL_DEVICE: it stands between the
// program and Run. Where no further call can succeed, asking for a result ends the process by
// SIGABRT.
#include <dlfcn.h>
#include <stdlib.h>

#include <stop_token>
#include <utility>

#include "kiln/device/device_fault.hpp"
#include "kiln/run.hpp"

namespace {

bool has_failed = false;

int number(const char* name) {
  const char* const text = ::getenv(name);
  return text == nullptr ? 0 : ::atoi(text);
}

}  // namespace

namespace kiln {

Result Run::advance_to(const Budget& limit, const Observers& observers, std::stop_token stop) {
  using Advance = Result (*)(Run*, const Budget&, const Observers&, std::stop_token);
  const auto real = reinterpret_cast<Advance>(
      ::dlsym(RTLD_NEXT,
              "_ZN4kiln3Run10advance_toERKNS_6BudgetERKSt6vectorISt8functionIFNS_4NextERKNS_"
              "11ReportPointEEESaISB_EESt10stop_token"));
  if (real == nullptr) ::abort();
  Observers counting = observers;
  counting.emplace_back([left = number("KILN_FAIL_REPORTS")](const ReportPoint&) mutable -> Next {
    if (--left > 0) return Next::go_on;
    has_failed = true;
    throw_device_fault(number("KILN_FAIL_DEVICE"), "launch sweep");
  });
  return real(this, limit, counting, std::move(stop));
}

Result Run::result_so_far(Stop stop) {
  using SoFar = Result (*)(Run*, Stop);
  if (has_failed && ends_device(device_fault_of(number("KILN_FAIL_DEVICE")))) ::abort();
  const auto real =
      reinterpret_cast<SoFar>(::dlsym(RTLD_NEXT, "_ZN4kiln3Run13result_so_farENS_4StopE"));
  if (real == nullptr) ::abort();
  return real(this, stop);
}

}  // namespace kiln
