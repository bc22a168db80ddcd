// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "kiln/errors.hpp"

namespace kiln::cli {

void print_result(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_note(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void flush_results() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0;
  const int reason = errno;
  if (!failed && std::ferror(stdout) == 0) return;
  throw IoError("io.write", "writing to standard output failed" +
                                (reason != 0 ? std::string(": ") + std::strerror(reason) : ""));
}

}  // namespace kiln::cli
