// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// trace_ranges on|off: shows ranges with and without KILN_NVTX=1, and asks the tool what it saw.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "nvtx_tracer.hpp"

namespace {

void trace() {
  kiln::Tracer* const tracer = kiln::cuda::nvtx_tracer();
  const kiln::TraceRange ticks(tracer, "kiln.ticks");
  for (int i = 0; i < 2; ++i) {
    const kiln::TraceRange tick(tracer, "kiln.tick");
    const kiln::TraceRange launch(tracer, "metropolis_sweep");
  }
}

std::string seen() {
  void* const tool = dlopen(std::getenv("NVTX_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  if (tool == nullptr) return "the tool was not loaded";
  const auto ranges = reinterpret_cast<const char* (*)()>(dlsym(tool, "kiln_nvtx_ranges"));
  return ranges();
}

}  // namespace

int main(int count, char** words) {
  const bool on = count == 2 && std::strcmp(words[1], "on") == 0;
  if (setenv("KILN_NVTX", on ? "1" : "0", 1) != 0) return 2;
  trace();
  const std::string expected =
      on ? "kiln.ticks(kiln.tick(metropolis_sweep())kiln.tick(metropolis_sweep()))"
         : "the tool was not loaded";
  if (seen() == expected) return 0;
  std::printf("seen: %s\nexpected: %s\n", seen().c_str(), expected.c_str());
  return 1;
}
