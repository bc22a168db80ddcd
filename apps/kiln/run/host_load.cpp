// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/host_load.hpp"

#include <cstdint>
#include <fstream>
#include <system_error>

namespace kiln::cli {

std::optional<HostLoad> host_load(const std::filesystem::path& tasks) {
  HostLoad load;
  bool found = false;
  std::error_code error;
  std::filesystem::directory_iterator at(tasks, error), end;
  for (; !error && at != end; at.increment(error)) {
    // A thread that ends meanwhile has no file any more.
    std::ifstream file(at->path() / "schedstat");
    std::uint64_t running_ns = 0, waiting_ns = 0;
    if (!(file >> running_ns >> waiting_ns)) continue;
    load.running_s += 1e-9 * static_cast<double>(running_ns);
    load.waiting_s += 1e-9 * static_cast<double>(waiting_ns);
    found = true;
  }
  // Kernels without these statistics show zeros.
  if (!found || load.running_s + load.waiting_s == 0) return std::nullopt;
  return load;
}

}  // namespace kiln::cli
