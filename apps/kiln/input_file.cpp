// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "input_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "errors.hpp"
#include "text.hpp"

namespace kiln::cli {

std::ifstream open_input(const std::string& path, const std::string& expected,
                         const std::string& fix) {
  // Linux opens folders like files, and only fails to read them.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError("input.open", clean(path) + ": this is a folder, not a file", expected, fix);
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const int reason = errno;
  if (in) return in;
  throw InputError("input.open",
                   fmt::format("{}: cannot be opened: {}", clean(path),
                               reason != 0 ? std::strerror(reason) : "unknown reason"),
                   expected, fix);
}

}  // namespace kiln::cli
