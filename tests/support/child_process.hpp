// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace kiln::test {

/// Whether a process is there still; one that waits to be reaped by nobody counts as gone.
inline bool lives(int process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(status >> number >> name >> state) && state != "Z";
}

/// Whether a process is gone within two seconds.
inline bool dies_soon(int process) {
  for (int i = 0; i < 200 && lives(process); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !lives(process);
}

}  // namespace kiln::test
