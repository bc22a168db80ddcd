// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace kiln {

/// The release of the NVIDIA kernel driver, "580.65.06", or "" if the system does not report it.
inline std::string driver_release() {
  std::string release;
  if (std::ifstream("/sys/module/nvidia/version") >> release) return release;
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build ..."
  std::string line;
  std::getline(std::ifstream("/proc/driver/nvidia/version"), line);
  std::istringstream words(line);
  while (words >> release) {
    if (release.find_first_not_of("0123456789.") == std::string::npos) return release;
  }
  return {};
}

/// 13000 -> "13.0", the numbering of CUDA toolkits and of driver support.
inline std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace kiln
