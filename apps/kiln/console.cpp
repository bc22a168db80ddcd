// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "kiln/errors.hpp"

namespace kiln::cli {
namespace {

bool has_no_reader(int descriptor) {
  pollfd file{descriptor, POLLOUT, 0};
  return ::poll(&file, 1, 0) > 0 && (file.revents & POLLERR) != 0;
}

}  // namespace

bool nobody_listens() { return has_no_reader(STDOUT_FILENO) && has_no_reader(STDERR_FILENO); }

void print_result(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_note(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

bool flush_results() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0;
  const int reason = errno;
  if (!failed && std::ferror(stdout) == 0) return true;
  if (reason == EPIPE || has_no_reader(STDOUT_FILENO)) return false;
  throw IoError("io.write", "writing to standard output failed" +
                                (reason != 0 ? std::string(": ") + std::strerror(reason) : ""));
}

}  // namespace kiln::cli
